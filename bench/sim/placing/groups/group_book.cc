#include "bench/sim/placing/groups/group_book.h"

#include <utility>

namespace schedq {
namespace {

bool IsChild(const ClusterGroup& group, const GroupKey& composite) {
  return group.group->parent == composite.name && group.namespace_name == composite.namespace_name;
}

}  // namespace

void GroupBook::Apply(const ClusterChange& change) {
  const std::lock_guard lock(mutex_);
  if (IsOfGroup(change)) {
    const ClusterGroupRef after = GroupAfter(change);
    if (after != nullptr) {
      groups_[after->group->key] = after;
    } else {
      groups_.erase(GroupBefore(change)->group->key);
    }
    return;
  }
  const ClusterPodRef& pod = change.pod_after != nullptr ? change.pod_after : change.pod_before;
  if (pod->group_name.empty()) return;
  const GroupKey key = GroupKeyOf(*pod);
  if (change.pod_after != nullptr) {
    if (!pod->node_name.empty()) placed_[key][pod->number] = {pod->uid, pod->node_name, pod, 0};
    return;
  }
  const auto found = placed_.find(key);
  if (found == placed_.end()) return;
  found->second.erase(pod->number);
  if (found->second.empty()) placed_.erase(found);
}

void GroupBook::Place(const ClusterPod& pod, const Decision& decision) {
  const std::lock_guard lock(mutex_);
  Placed& placed = placed_[GroupKeyOf(pod)][pod.number];
  if (placed.bound == nullptr) placed = {pod.uid, decision.node, nullptr, decision.assumption};
}

void GroupBook::Withdraw(const ClusterPod& pod, const Decision& decision) {
  const std::lock_guard lock(mutex_);
  const auto members = placed_.find(GroupKeyOf(pod));
  if (members == placed_.end()) return;
  const auto found = members->second.find(pod.number);
  if (found == members->second.end() || found->second.bound != nullptr) return;
  if (found->second.assumption != decision.assumption) return;
  members->second.erase(found);
  if (members->second.empty()) placed_.erase(members);
}

ClusterGroupRef GroupBook::FindLocked(const GroupKey& key) const {
  const auto found = groups_.find(key);
  return found == groups_.end() ? nullptr : found->second;
}

ClusterGroupRef GroupBook::Find(const GroupKey& key) const {
  const std::lock_guard lock(mutex_);
  return FindLocked(key);
}

std::vector<ClusterGroupRef> GroupBook::ChildrenOf(const GroupKey& composite) const {
  std::vector<ClusterGroupRef> children;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, group] : groups_) {
    if (IsChild(*group, composite)) children.push_back(group);
  }
  return children;
}

size_t GroupBook::PlacedCount(const GroupKey& group) const {
  const std::lock_guard lock(mutex_);
  const auto members = placed_.find(group);
  return members == placed_.end() ? 0 : members->second.size();
}

std::vector<ClusterGroupRef> GroupBook::WayUp(const ClusterPod& pod) const {
  std::vector<ClusterGroupRef> way;
  if (pod.group_name.empty()) return way;
  GroupKey key = GroupKeyOf(pod);
  for (int depth = 0; depth < kGroupDepthMax; ++depth) {
    ClusterGroupRef group = FindLocked(key);
    if (group == nullptr) return way;
    way.push_back(std::move(group));
    const std::string& parent = way.back()->group->parent;
    if (!knows_composites_ || parent.empty()) return way;
    key = {GroupKind::kComposite, pod.namespace_name, parent};
  }
  return way;
}

int32_t GroupBook::PriorityOf(const ClusterPod& pod) const {
  if (pod.group_name.empty()) return pod.priority;
  const std::lock_guard lock(mutex_);
  const std::vector<ClusterGroupRef> way = WayUp(pod);
  return way.empty() ? pod.priority : way.back()->group->priority;
}

ClusterGroupRef GroupBook::DisruptedAsOne(const ClusterPod& pod) const {
  if (pod.group_name.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  ClusterGroupRef highest;
  for (const ClusterGroupRef& group : WayUp(pod)) {
    if (group->spec.is_disrupted_as_one) highest = group;
  }
  return highest;
}

void GroupBook::AddPlacedBelow(const GroupKey& group, int depth,
                               std::vector<Placed>* placed) const {
  if (group.kind == GroupKind::kPodGroup) {
    const auto members = placed_.find(group);
    if (members == placed_.end()) return;
    for (const auto& [number, member] : members->second) placed->push_back(member);
    return;
  }
  if (depth == kGroupDepthMax) return;
  for (const auto& [key, child] : groups_) {
    if (IsChild(*child, group)) AddPlacedBelow(key, depth + 1, placed);
  }
}

std::vector<GroupBook::Placed> GroupBook::PlacedBelow(const GroupKey& group) const {
  std::vector<Placed> placed;
  const std::lock_guard lock(mutex_);
  AddPlacedBelow(group, 1, &placed);
  return placed;
}

std::vector<ClusterPodRef> GroupBook::BoundBelow(const GroupKey& group) const {
  std::vector<ClusterPodRef> pods;
  for (const Placed& placed : PlacedBelow(group)) {
    if (placed.bound != nullptr) pods.push_back(placed.bound);
  }
  return pods;
}

}  // namespace schedq
