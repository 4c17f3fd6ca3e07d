// A small scheduler with slow bindings, for the scenarios of KEP-5278.
//
// Purpose: queue, call queue and nomination reporter are the product's own. A node has room for a
// number of pods, and no other resource. A scheduler can be stopped, as by a crash: its knowledge
// is lost, but the calls that it sent arrive.
// When not to use it: for throughput, or for filtering and scoring (bench/sim/scheduler).
//
// Placing: the scheduler tries the nominated node first, then the others, starting from a random
// one. A node fits while it has room beside two groups of pods: those that are bound or assumed
// there, and other pods of equal or higher priority that are nominated there.
// Binding: the pod is assumed, done and nominated; its claim is sent with the nomination where
// claims go first. Then its volume is made. Then its claim is sent, unless it was sent before. Once
// the claim is stored, the binding is sent.
// Threads: one; time is virtual.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/report/nomination_reporter.h"
#include "dispatcher/server/embedded_api_server.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/pod.h"
#include "schedq/api_calls.h"  // IWYU pragma: keep
#include "schedq/assembled_queue.h"
#include "schedq/attempt.h"
#include "schedq/engine_kind.h"

namespace schedq {

// The work on pods' volumes. It is done outside the scheduler, on the pod's node, and is lost when
// the pod gets another node.
class VolumeWork {
 public:
  // Returns the instant at which the pod's volume is ready. Work on another node is lost.
  Instant ReadyAt(const std::string& pod, const std::string& node, Duration takes, Instant now);
  // Pod-seconds of work that was lost.
  double lost_seconds() const { return lost_seconds_; }
  // Pods whose work began on one node and then again on another.
  uint64_t moved() const { return moved_; }

 private:
  struct Work {
    std::string node;
    Instant begun;
  };
  std::map<std::string, Work> work_;  // The work for each pod, by the pod's name.
  double lost_seconds_ = 0;
  uint64_t moved_ = 0;
};

struct BindingSchedulerOptions {
  EngineKind engine = EngineKind::kLockfree;
  Clock* clock = nullptr;
  EmbeddedApiServer* server = nullptr;
  VolumeWork* volumes = nullptr;
  Random random{1};
  bool nominates = true;
  bool has_claims = false;      // Every pod has a claim, which is allocated on the pod's node.
  bool claims_go_first = true;  // Claims are sent with the nomination; false: after the volume.
  uint32_t pods_per_node = 1;
  // The time that a pod's volume takes; zero: PreBind has nothing to do for the pod.
  std::function<Duration(const Pod& pod)> volume_takes;
};

// The name of the pod's claim on the server.
std::string ClaimNameOf(const Pod& pod);

class BindingScheduler final : public CallListener {
 public:
  // The scheduler knows only the nodes and pods of the calls below.
  explicit BindingScheduler(const BindingSchedulerOptions& options);
  ~BindingScheduler() override;
  BindingScheduler(const BindingScheduler&) = delete;
  BindingScheduler& operator=(const BindingScheduler&) = delete;

  void AddNode(const std::string& node);
  void RemoveNode(const std::string& node);
  void OnChange(const PodRef& before, const PodRef& after);
  // Stops the scheduler, which does nothing afterwards. It must live until its calls have ended.
  void Stop();

  // Whether a pod is bound or assumed on the node.
  bool HasPlacedOn(const std::string& node) const;
  // The instant at which each pod last got a node, by the pod's name.
  const std::map<std::string, Instant>& decided() const { return decided_; }
  NominationCounts nominations() const { return queue_->api_calls()->nominations().counts(); }

  void OnEnd(const ApiCall& call, CallEnd end, const Status& status) override;

 private:
  struct Binding {
    Attempt attempt;
    PodRef pod;  // The pod's newest version.
    std::string node;
    uint64_t number = 0;  // The binding's own number, which is the tag of its calls.
    bool claim_is_sent = false;
    bool claim_is_stored = false;
    bool volume_is_there = false;
  };

  void WakeUp();
  void ScheduleOne();
  bool Fits(const std::string& node, const Pod& pod);
  std::string Choose(const Pod& pod);
  void StartBinding(Attempt attempt, const std::string& node);
  // Returns null where binding `number` has ended, even if the pod has another binding by now.
  Binding* FindBinding(const std::string& name, uint64_t number);
  // Takes the next step of the binding that is possible now, if there is one.
  void FinishBinding(const std::string& name);
  void FailBinding(const std::string& name);
  void SendEvent(Resource resource, Action action);
  ApiCall CallFor(const Binding& binding, CallType type);
  // Runs `action` after the delay, unless the scheduler was stopped meanwhile.
  void After(Duration delay, std::function<void()> action);

  const BindingSchedulerOptions options_;
  Clock& clock_;
  Random random_;
  std::unique_ptr<AssembledQueue> queue_;
  std::vector<std::string> nodes_;                       // In order of creation.
  std::map<std::string, std::set<std::string>> placed_;  // Pods bound or assumed, by node.
  std::map<std::string, Binding> bindings_;              // By the pod's name.
  uint64_t last_binding_ = 0;
  std::map<std::string, Instant> decided_;
  bool is_scheduling_ = false;
  bool is_stopped_ = false;
};

}  // namespace schedq
