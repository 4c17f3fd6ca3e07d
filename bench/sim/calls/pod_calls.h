// The scheduler's calls to the API server about pods: conditions, nominations, bindings.
//
// Purpose: one interface for the two ways to make calls: through the dispatcher (queued_calls.h,
// gate SchedulerAsyncAPICalls on), or each call at once (direct_calls.h, gate off). All calls of
// the scheduler take a token of its client, also those that it makes by itself.
// Threads: one, the one that advances the clock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bench/sim/calls/call_settings.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/scheduler/cost_model.h"
#include "dispatcher/report/status_model.h"
#include "dispatcher/server/pod_patch.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/gates.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "schedq/api_calls.h"
#include "schedq/assembly_options.h"
#include "schedq/attempt.h"

namespace schedq {

struct PodCallsOptions {
  Cluster* cluster = nullptr;
  const CostModel* costs = nullptr;
  Gates gates;
  StatusModel status_model = StatusModel::kImplicitDelayed;
  Random* random = nullptr;            // The source of latencies.
  MetricsRegistry* metrics = nullptr;  // All pointers outlive the PodCalls.
  CallSettings settings = {};
};

// Of the condition PodScheduled=False, beside kUnschedulableReason; and of events.
inline constexpr std::string_view kSchedulerErrorReason = "SchedulerError";
inline constexpr const char* kFailedSchedulingEvent = "FailedScheduling";
inline constexpr const char* kScheduledEvent = "Scheduled";
inline constexpr const char* kPreemptedEvent = "Preempted";

// Calls past the dispatcher.
inline constexpr const char* kPreBindCall = "pre_bind";
inline constexpr const char* kIdleClaimCall = "idle_claim";
inline constexpr const char* kVictimPatchCall = "victim_patch";
inline constexpr const char* kVictimDeletionCall = "victim_deletion";
inline constexpr const char* kGroupPatchCall = "group_patch";
// Where there is no dispatcher.
inline constexpr const char* kPatchCall = "pod_status_patch";
inline constexpr const char* kBindingCall = "pod_binding";

// Why an attempt failed.
struct FailureText {
  std::string_view reason = kUnschedulableReason;  // Text that lives as long as the program.
  std::string message;
};

class PodCalls {
 public:
  using Then = std::function<void(const Status&)>;

  explicit PodCalls(MetricsRegistry* metrics);

  virtual ~PodCalls() = default;

  // The options of the dispatcher that the assembled queue must have; nullopt: no dispatcher.
  virtual std::optional<ApiCallOptions> ApiCallsWanted() { return std::nullopt; }
  // Passes the dispatcher with those options, before the first call.
  virtual void Attach(ApiCalls*) {}
  // Drops all callbacks at the end of a run, so that none is called later.
  virtual void DropCallbacks() {}
  // Throws what was thrown where the end of a call was told: there nobody could catch it.
  virtual void Rethrow() const {}
  // The informers delivered a newer version of the pod.
  virtual void OnNewVersion(const PodKey& key, const PodRef& pod) = 0;

  // A call that the scheduler makes past the dispatcher: how long it waits for its token.
  Duration TakeToken(const char* call) {
    direct_->At({call}).Add();
    return NextToken();
  }
  // An event about a pod goes out. Nobody waits for it.
  void SendEvent(const char* reason) {
    events_->At({reason}).Add();
    TakeEventToken();
  }

  // Shows why an attempt failed. `pod` is the newest version. `ended`, which may be empty, is
  // called later, when the call has ended in any way.
  virtual void PatchCondition(const PodKey& key, const PodRef& pod, FailureText failure,
                              std::function<void()> ended) = 0;
  // Whether a failed pod must not enter the queue before its patch has ended.
  virtual bool gates_reentry() const { return false; }
  // Calls `then` when the thread whose attempt failed may go on: with the dispatcher at once, else
  // when what the attempt has shown, and no call has taken yet, is answered.
  virtual void WaitForPatches(const std::function<void()>& then) { then(); }
  // Nominates the pod's node, where the gate is on and PreBind has work to do. `then` stores the
  // claims, by calls of their own: with the dispatcher beside the nomination, else after it.
  virtual void BeginBinding(const PodKey& key, const PodRef& pod, const std::string& node,
                            bool has_work, std::function<void()> then) = 0;
  // Shows the pod's node while a Permit plugin lets it wait, where the gate is on.
  virtual void ShowNode(const PodKey& key, const PodRef& pod, const std::string& node) = 0;
  // What PostFilter said of a pod that no node takes: shows its node, or takes back what was shown.
  virtual void EndFailedCycle(const PodKey& key, const PodRef& pod,
                              const FailedNomination& nomination) = 0;
  // Clears the nomination that BeginBinding made.
  virtual void ClearNomination(const PodKey& key, const PodRef& pod) = 0;
  virtual void Bind(const PodKey& key, const PodRef& pod, const std::string& node, Then then) = 0;

 protected:
  CounterFamily* events() const { return events_; }

 private:
  virtual Duration NextToken() = 0;
  virtual void TakeEventToken() = 0;

  CounterFamily* const events_;  // By reason.
  CounterFamily* const direct_;  // Calls past the dispatcher, by what they are.
};

// Makes the calls that the gates ask for.
std::unique_ptr<PodCalls> MakePodCalls(const PodCallsOptions& options);

}  // namespace schedq
