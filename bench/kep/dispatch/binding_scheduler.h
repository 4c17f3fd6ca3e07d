// A small scheduler whose bindings take long: where the scenarios of KEP-5278 play.
//
// Purpose: queue, call queue and nomination reporter are the product's own; nodes have room for a
// number of pods and nothing else. A scheduler can be stopped, as by a crash: what it knew is gone,
// and what it had sent arrives.
// When not to use it: for throughput and for what Filter and Score do (bench/sim/scheduler).
//
// Placing: the nominated node first, then the others from a random one on. A node fits while it has
// room beside the pods that are bound or assumed there and beside the other pods that are nominated
// there with an equal or higher priority.
// Binding: assumed, done, nominated (with the claim, where that goes first); then the pod's volume
// is worked on; then the claim, unless it went out already, then the binding, once the claim is
// stored.
// Threads: one; time is virtual.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dispatcher/report/nomination_reporter.h"
#include "dispatcher/server/embedded_api_server.h"
#include "dispatcher/server/pod_patch.h"
#include "engine/base/random.h"
#include "schedq/api_calls.h"
#include "schedq/assembled_queue.h"

namespace schedq {

// Work on a pod's volume on a node: done outside the scheduler, and of no use on another node.
class VolumeWork {
 public:
  // When the volume is there. What was begun on another node is lost.
  Instant Need(const std::string& pod, const std::string& node, Duration takes, Instant now);
  // Pod-seconds of work that was lost.
  double lost_seconds() const { return lost_seconds_; }
  // Pods whose work began on one node and then again on another.
  uint64_t moved() const { return moved_; }

 private:
  struct Work {
    std::string node;
    Instant begun;
  };
  std::map<std::string, Work> work_;  // By the pod's name.
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
  bool has_claims = false;      // Every pod has one, which is allocated on the pod's node.
  bool claims_go_first = true;  // With the nomination; else after the volume, plugin by plugin.
  uint32_t pods_per_node = 1;
  // How long the volume of a pod takes; zero: PreBind has nothing to do for it.
  std::function<Duration(const Pod& pod)> volume_takes;
};

// The claim of a pod, as the server knows it.
std::string ClaimNameOf(const Pod& pod);

class BindingScheduler final : public CallListener {
 public:
  // Knows of nodes and pods what it is told.
  explicit BindingScheduler(const BindingSchedulerOptions& options);
  ~BindingScheduler() override;
  BindingScheduler(const BindingScheduler&) = delete;
  BindingScheduler& operator=(const BindingScheduler&) = delete;

  void AddNode(const std::string& node);
  void RemoveNode(const std::string& node);
  void OnChange(const PodRef& before, const PodRef& after);
  // From now on it does nothing. It must live until what it has sent has ended.
  void Stop();

  // A pod is bound there or on its way.
  bool HasPlacedOn(const std::string& node) const;
  // When each pod was last given a node, by its name.
  const std::map<std::string, Instant>& decided() const { return decided_; }
  NominationCounts nominations() const { return queue_->api_calls()->nominations().counts(); }

  void OnEnd(const ApiCall& call, CallEnd end, const Status& status) override;

 private:
  struct Binding {
    Attempt attempt;
    PodRef pod;  // Its newest version.
    std::string node;
    uint64_t number = 0;  // Its own; the tag of its calls.
    bool claim_is_sent = false;
    bool claim_is_stored = false;
    bool volume_is_there = false;
  };

  void WakeUp();
  void ScheduleOne();
  bool Fits(const std::string& node, const Pod& pod);
  std::string Choose(const Pod& pod);
  void StartBinding(Attempt attempt, const std::string& node);
  // `name` may have gone, or be bound anew, since binding `number` began.
  Binding* FindBinding(const std::string& name, uint64_t number);
  // Goes on with what is next, if anything is.
  void FinishBinding(const std::string& name);
  void FailBinding(const std::string& name);
  void SendEvent(Resource resource, Action action);
  ApiCall CallFor(const Binding& binding, CallType type);
  // Unless the scheduler was stopped meanwhile.
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
