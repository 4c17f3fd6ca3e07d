// Deletes the victims of preemptions, while the pods that preempt are gated.
//
// Purpose: kube-scheduler's asynchronous preemption. A victim takes two calls: its condition, and
// the deletion. All victims but one are deleted, sixteen at a time. When these are answered
// the last victim's begin, and just before its deletion the pod is gated no more, so that the
// event finds a pod that may enter the queue. Where a call fails, or the last victim is gone
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

  // Before the attempt of the pod, or of the group's pods, fails. There is a victim at least.
  void Begin(const PodRef& pod, std::vector<ClusterPodRef> victims) {
    Begin(Preemptor{{pod->uid}, {pod}}, std::move(victims));
  }
  // Of members of a group. Where all victims are going already there is nothing to wait for.
  void BeginForGroup(const std::vector<PodRef>& members, std::vector<ClusterPodRef> victims);

 private:
  static constexpr size_t kAtOnce = 16;

  // What waits for the victims: a pod, or the pods of a group.
  struct Preemptor {
    std::vector<std::string> keys;  // As RunningPreemptions knows it.
    std::vector<PodRef> pods;
  };
  struct Preemption {
    Preemptor preemptor;
    ClusterPodRef last_victim;
    std::vector<ClusterPodRef> others;
    // The cluster's thread's.
    size_t begun = 0;  // Of the others.
    size_t in_flight = 0;
    bool has_failed = false;

    bool has_begun_all() const { return has_failed || begun == others.size(); }
  };

  void Begin(Preemptor preemptor, std::vector<ClusterPodRef> victims);
  void DeleteOthers(const std::shared_ptr<Preemption>& preemption);
  void OnAnswer(const std::shared_ptr<Preemption>& preemption, const Status& status);
  void DeleteLast(const std::shared_ptr<Preemption>& preemption);
  void End(const Preemption& preemption);
  void Activate(const Preemption& preemption);

  const Surroundings around_;
};

}  // namespace schedq
