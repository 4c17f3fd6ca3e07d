#include "bench/sim/placing/pods_by_node.h"

#include <algorithm>

namespace schedq {
namespace {

auto FindIn(std::vector<ClusterPodRef>& pods, const ClusterPod& pod) {
  return std::find_if(pods.begin(), pods.end(),
                      [&](const ClusterPodRef& each) { return each->number == pod.number; });
}

}  // namespace

void PodsByNode::Set(uint32_t slot, const ClusterPodRef& pod) {
  const std::lock_guard lock(mutex_);
  if (slot >= by_slot_.size()) by_slot_.resize(slot + 1);
  std::vector<ClusterPodRef>& pods = by_slot_[slot];
  const auto found = FindIn(pods, *pod);
  ++by_priority_[pod->priority];
  if (found == pods.end()) return pods.push_back(pod);
  --by_priority_[(*found)->priority];
  *found = pod;
}

void PodsByNode::Remove(uint32_t slot, const ClusterPod& pod) {
  const std::lock_guard lock(mutex_);
  if (slot >= by_slot_.size()) return;
  std::vector<ClusterPodRef>& pods = by_slot_[slot];
  const auto found = FindIn(pods, pod);
  if (found == pods.end()) return;
  const auto of_priority = by_priority_.find((*found)->priority);
  if (--of_priority->second == 0) by_priority_.erase(of_priority);
  *found = pods.back();
  pods.pop_back();
}

void PodsByNode::ForEach(
    const std::function<void(uint32_t slot, const ClusterPodRef& pod)>& visit) const {
  const std::lock_guard lock(mutex_);
  for (uint32_t slot = 0; slot < by_slot_.size(); ++slot) {
    for (const ClusterPodRef& pod : by_slot_[slot]) visit(slot, pod);
  }
}

std::vector<ClusterPodRef> PodsByNode::All() const {
  std::vector<ClusterPodRef> pods;
  ForEach([&pods](uint32_t, const ClusterPodRef& pod) { pods.push_back(pod); });
  return pods;
}

bool PodsByNode::HasBelow(int32_t priority) const {
  const std::lock_guard lock(mutex_);
  return !by_priority_.empty() && by_priority_.begin()->first < priority;
}

std::vector<ClusterPodRef> PodsByNode::Below(uint32_t slot, int32_t priority) const {
  std::vector<ClusterPodRef> below;
  const std::lock_guard lock(mutex_);
  if (slot >= by_slot_.size()) return below;
  for (const ClusterPodRef& pod : by_slot_[slot]) {
    if (pod->priority < priority) below.push_back(pod);
  }
  return below;
}

bool PodsByNode::IsAnyGoing(uint32_t slot, int32_t priority) const {
  const std::lock_guard lock(mutex_);
  if (slot >= by_slot_.size()) return false;
  return std::any_of(by_slot_[slot].begin(), by_slot_[slot].end(), [&](const ClusterPodRef& pod) {
    return pod->priority < priority && pod->deleting;
  });
}

}  // namespace schedq
