// Deletes the victims of preemptions: while the pods that preempt are gated, or within their cycle.
//
// Purpose: kube-scheduler's preemption. A victim takes two calls: its condition, and the deletion,
// sixteen victims at a time. One that is being deleted already takes none.
// Asynchronously (gate SchedulerAsyncPreemption): all victims but one are deleted. When these are
// answered the last victim's calls begin, and just before its deletion the pod is gated no more, so
// that the event finds a pod that may enter the queue. Where a call fails, or the last victim is
// gone already, the pod is activated, because the events that it waits for may never come, or may
// have come while it was gated.
// Within the cycle (gate off): the scheduler waits for all of them. The pod is in flight meanwhile,
// and finds the events when it fails.
// The calls go past the dispatcher, as upstream's do: it knows pods of the queue only.
// Threads: Begin and DeleteAll from any thread; answers on the cluster's.
// Memory: the preemptions under way.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "engine/base/result.h"
#include "engine/pod.h"
#include "hints/running_preemptions.h"

namespace schedq {

inline constexpr const char* kVictimIsGone = "the victim is gone already";

// What is called of one victim. On the cluster's thread.
struct VictimCalls {
  ClusterPodRef victim;
  std::function<void()> at_deletion;  // Just before the second call. May be empty.
  // Told how the calls ended: kVictimIsGone where there is no such pod any more.
  std::function<void(const Status&)> then;

  // The first. False: it failed, and there is no second.
  bool Mark(Cluster* cluster) const;
  void Delete(Cluster* cluster) const;
};
using VictimCallsRef = std::shared_ptr<const VictimCalls>;

class VictimDeletions {
 public:
  struct Surroundings {
    RunningPreemptions* running = nullptr;  // Gates pods; outlives it.
    // Makes the two calls, one after the other, on the cluster's thread.
    std::function<void(VictimCallsRef calls)> remove;
    std::function<void(const PodRef& pod)> activate;
  };

  explicit VictimDeletions(Surroundings surroundings) : around_(std::move(surroundings)) {}
  VictimDeletions(const VictimDeletions&) = delete;
  VictimDeletions& operator=(const VictimDeletions&) = delete;

  // Before the attempt of the pod, or of the group's pods, fails. Where all victims are going
  // already nothing is begun.
  void Begin(const PodRef& pod, std::vector<ClusterPodRef> victims) {
    Begin(Preemptor{{pod->uid}, {pod}}, std::move(victims));
  }
  void BeginForGroup(const std::vector<PodRef>& members, std::vector<ClusterPodRef> victims);
  // Without a gate. `then` is told whether all are going, once the calls that were made are
  // answered: at once where there are none. After a failure no further ones are made.
  void DeleteAll(std::vector<ClusterPodRef> victims, std::function<void(bool are_going)> then);

 private:
  static constexpr size_t kAtOnce = 16;

  // What waits for the victims: a pod, or the pods of a group.
  struct Preemptor {
    std::vector<std::string> keys;  // As RunningPreemptions knows it.
    std::vector<PodRef> pods;
  };
  struct Preemption {
    Preemptor preemptor;
    ClusterPodRef last_victim;  // Null where all are deleted at once.
    std::vector<ClusterPodRef> others;
    std::function<void(bool are_going)> then;  // Where all are deleted at once.
    // The cluster's thread's, once the first call is made.
    size_t begun = 0;  // Of the others.
    size_t in_flight = 0;
    bool has_failed = false;

    bool has_begun_all() const { return has_failed || begun == others.size(); }
  };

  void Begin(Preemptor preemptor, std::vector<ClusterPodRef> victims);
  void DeleteFirst(const std::shared_ptr<Preemption>& preemption);
  void DeleteNext(const std::shared_ptr<Preemption>& preemption);
  void Remove(const std::shared_ptr<Preemption>& preemption, size_t index);
  void OnAnswer(const std::shared_ptr<Preemption>& preemption, const Status& status);
  void DeleteLast(const std::shared_ptr<Preemption>& preemption);
  void End(const Preemption& preemption);
  void Activate(const Preemption& preemption);

  const Surroundings around_;
};

}  // namespace schedq
