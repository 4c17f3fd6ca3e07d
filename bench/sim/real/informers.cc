
#include "bench/sim/real/informers.h"

#include <map>
#include <optional>
#include <string>

#include "bench/sim/real/tell_of_room.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/object.h"

namespace schedq {

Informers::Informers(const Surroundings& surroundings)
    : queue_(*surroundings.queue),
      cache_(*surroundings.cache),
      attempts_(*surroundings.attempts),
      waiting_pods_(*surroundings.waiting_pods),
      cluster_clock_(*surroundings.cluster_clock),
      lanes_{Lane(surroundings.pace), Lane(surroundings.pace), Lane(surroundings.pace)} {
  try {
    for (Lane& lane : lanes_) {
      lane.thread.Start([this, &lane](PartClock* parts) { Run(&lane, parts); });
    }
  } catch (...) {
    // The threads that there are wait for changes.
    Stop();
    throw;
  }
}

void Informers::Stop() {
  is_stopping_.store(true);
  for (Lane& lane : lanes_) lane.changes.Close();
  for (Lane& lane : lanes_) lane.thread.Join();
}

void Informers::Deliver(const ClusterChange& change) {
  // What selects a pod's namespace must know it when the pod comes.
  Kind kind = kOthers;
  if (change.resource == Resource::kPod || change.is_namespace) kind = kPods;
  if (change.resource == Resource::kNode) kind = kNodes;
  lanes_[kind].delivered.fetch_add(1);
  lanes_[kind].changes.Push({change, cluster_clock_.Now()});
}

bool Informers::IsIdle() const {
  for (const Lane& lane : lanes_) {
    if (!lane.IsIdle()) return false;
  }
  return true;
}

std::map<std::string, ThreadUsage> Informers::Usage() const {
  return {{"informer of pods", lanes_[kPods].thread.usage()},
          {"informer of nodes", lanes_[kNodes].thread.usage()},
          {"informer of others", lanes_[kOthers].thread.usage()}};
}

LatencyHistogram Informers::TakeRequeueLatencies() {
  LatencyHistogram all;
  for (Lane& lane : lanes_) all.Merge(lane.requeues.Take());
  return all;
}

void Informers::Run(Lane* lane, PartClock* parts) {
  Delivered delivered;
  while (lane->changes.Pop(&delivered)) {
    if (!is_stopping_.load()) {
      const RequeueMeter::Handling handling(&lane->requeues, delivered.at);
      Handle(delivered.change, parts);
    }
    lane->handled.fetch_add(1);
  }
}

void Informers::Handle(const ClusterChange& change, PartClock* parts) {
  if (IsForCacheOnly(change)) {
    const InPart in_part(parts, Part::kCache);
    return cache_.Apply(change);
  }
  if (change.resource == Resource::kPod) return HandlePod(change, parts);
  const ObjectRef& before = change.objects.before;
  const ObjectRef& after = change.objects.after;
  const InPart in_part(parts, Part::kCache);
  cache_.Apply(change);
  parts->SwitchTo(Part::kEvents);
  if (IsOfGroup(change)) {
    const ClusterGroupRef group_before = GroupBefore(change);
    const ClusterGroupRef group_after = GroupAfter(change);
    return queue_.GroupChanged(group_before != nullptr ? group_before->group : nullptr,
                               group_after != nullptr ? group_after->group : nullptr);
  }
  if (change.resource == Resource::kNode) return queue_.NodeChanged(before, after);
  if (change.resource == Resource::kResourceClaim) return queue_.ClaimChanged(before, after);
  queue_.Event(MakeEvent(change.resource, change.action), change.objects);
}

void Informers::Add(const ClusterPodRef& pod) {
  const MonotonicTime began = SteadyNow();
  MustSucceed(queue_.PodChanged(nullptr, pod));
  adds_.Record(SteadyNow() - began);
}

void Informers::HandlePod(const ClusterChange& change, PartClock* parts) {
  const ClusterPodRef& before = change.pod_before;
  const ClusterPodRef& after = change.pod_after;
  const bool was_assigned = before != nullptr && !before->node_name.empty();
  const bool is_assigned = after != nullptr && !after->node_name.empty();
  const bool is_ours = cache_.ProfileOf(after != nullptr ? *after : *before).has_value();
  if (!is_ours && !was_assigned && !is_assigned) return;
  const InPart in_part(parts, Part::kQueue);
  if (after != nullptr && !is_assigned && !after->nominated_node_name.empty() &&
      !cache_.IsAssumed(after->slot())) {
    cache_.nominations().Expect();
  }
  if (before == nullptr && !is_assigned) return Add(after);
  if (was_assigned || is_assigned) {
    parts->SwitchTo(Part::kCache);
    cache_.Apply(change);
    parts->SwitchTo(Part::kEvents);
  }
  // Another scheduler's pod, whose binding is the first that the queue hears of it.
  const bool comes = !is_ours && !was_assigned;
  MustSucceed(queue_.PodChanged(comes ? nullptr : before, after));
  // Its attempt has led to a node, and now its slot may go to another pod.
  if (was_assigned && after == nullptr) attempts_.End(before->slot());
  if (was_assigned || is_assigned) return;
  const bool goes = after == nullptr || (after->deleting && !before->deleting);
  if (goes) LetGoOfAssumed(*before, parts);
}

void Informers::LetGoOfAssumed(const ClusterPod& pod, PartClock* parts) {
  parts->SwitchTo(Part::kCache);
  const std::optional<std::string> node = cache_.LetGoOfAssumed(pod);
  parts->SwitchTo(Part::kEvents);
  if (!node) return;
  waiting_pods_.Reject(pod.uid, WaitingPods::kRemoved);
  TellOfRoom(&queue_, pod, *node);
}

}  // namespace schedq
