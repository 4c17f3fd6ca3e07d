// Deletes the victims of preemptions, while the pods that preempt are gated.
//
// Purpose: kube-scheduler's asynchronous preemption. All victims but one are deleted side by side;
// when these calls are answered the pod is gated no more, and the last victim is deleted, so that
// its event finds a pod that may enter the queue. Where a call fails, or the last victim is gone
// already, the pod is activated, because the events that it waits for may never come, or may have
// come while it was gated.
// The calls go past the dispatcher, as upstream's do: it knows pods of the queue only.
// Threads: Begin from any thread; answers on the cluster's.
// Memory: the preemptions under way.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "engine/base/result.h"
#include "engine/pod.h"
#include "hints/running_preemptions.h"

namespace schedq {

inline constexpr const char* kVictimIsGone = "the victim is gone already";

class VictimDeletions {
 public:
  struct Surroundings {
    RunningPreemptions* running = nullptr;  // Gates pods; outlives it.
    // Makes the call; `then` runs on the cluster's thread, with kVictimIsGone where there is no
    // such pod any more.
    std::function<void(const ClusterPodRef& victim, std::function<void(const Status&)> then)>
        remove;
    std::function<void(const PodRef& pod)> activate;
  };

  explicit VictimDeletions(Surroundings surroundings) : around_(std::move(surroundings)) {}
  VictimDeletions(const VictimDeletions&) = delete;
  VictimDeletions& operator=(const VictimDeletions&) = delete;

  // Before the attempt of the pod, or of the group's pods, fails. There is a victim at least.
  void Begin(const PodRef& pod, std::vector<ClusterPodRef> victims) {
    Begin(Preemptor{{pod->uid}, {pod}}, std::move(victims));
  }
  // Of members of a group. Where all victims are going already there is nothing to wait for.
  void BeginForGroup(const std::vector<PodRef>& members, std::vector<ClusterPodRef> victims);

 private:
  // Whoever waits for the victims: a pod, or the pods of a group.
  struct Preemptor {
    std::vector<std::string> keys;  // As RunningPreemptions knows it.
    std::vector<PodRef> pods;
  };
  struct Preemption {
    Preemptor preemptor;
    ClusterPodRef last_victim;
    size_t waits_for = 0;  // Answers, the cluster's thread's.
    bool has_failed = false;
  };

  void Begin(Preemptor preemptor, std::vector<ClusterPodRef> victims);
  void OnAnswer(const std::shared_ptr<Preemption>& preemption, const Status& status);
  void DeleteLast(const std::shared_ptr<Preemption>& preemption);
  void End(const Preemption& preemption);
  void Activate(const Preemption& preemption);

  const Surroundings around_;
};

}  // namespace schedq
