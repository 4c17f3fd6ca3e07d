// The scheduler's calls to the API server about pods: conditions, nominations, bindings.
//
// Purpose: one interface for the two ways to make calls: through the dispatcher (queued_calls.h,
// gate SchedulerAsyncAPICalls on), or each call at once (direct_calls.h, gate off).
// Threads: one, the one that advances the clock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/scheduler/cost_model.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
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
};

// The start of a binding. Where there are claims, PreBind has work to do.
struct BindingBegin {
  PodKey key;
  PodRef pod;
  std::string node;
  std::vector<std::string> claims;     // "namespace/name"
  std::function<bool()> store_claims;  // Stores the claims at once; false: one cannot be used.
};

// The state of a binding's claims after its start.
enum class ClaimsAfterBegin : uint8_t { kToStore, kStored, kFailed };

class PodCalls {
 public:
  using Then = std::function<void(const Status&)>;
  using Begun = std::function<void(ClaimsAfterBegin claims)>;

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

  // Sets a condition; the scheduler does not wait for the call. `pod` is the newest version.
  virtual void PatchCondition(const PodKey& key, const PodRef& pod, PodCondition condition) = 0;
  // Nominates the pod's node, where the gate is on and PreBind has work to do. The dispatcher's
  // patch includes the claims.
  virtual void BeginBinding(BindingBegin begin, Begun then) = 0;
  // Shows the pod's node while a Permit plugin lets it wait, where the gate is on.
  virtual void ShowNode(const PodKey& key, const PodRef& pod, const std::string& node) = 0;
  // What PostFilter said of a pod that no node takes: shows its node, or takes back what was shown.
  virtual void EndFailedCycle(const PodKey& key, const PodRef& pod,
                              const FailedNomination& nomination) = 0;
  // Clears the nomination that BeginBinding made.
  virtual void ClearNomination(const PodKey& key, const PodRef& pod) = 0;
  virtual void Bind(const PodKey& key, const PodRef& pod, const std::string& node, Then then) = 0;
};

// Makes the calls that the gates ask for.
std::unique_ptr<PodCalls> MakePodCalls(const PodCallsOptions& options);

}  // namespace schedq
