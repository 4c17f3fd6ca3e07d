#include "bench/sim/placing/groups/group_book.h"

#include <utility>

namespace schedq {
namespace {

GroupKey ParentOf(const ClusterGroup& group) {
  return {GroupKind::kComposite, group.namespace_name, group.group->parent};
}

}  // namespace

void GroupBook::Apply(const ClusterChange& change) {
  const std::lock_guard lock(mutex_);
  if (IsOfGroup(change)) {
    const ClusterGroupRef after = GroupAfter(change);
    const GroupKey key = (after != nullptr ? after : GroupBefore(change))->group->key;
    if (const auto known = groups_.extract(key); !known.empty()) RemoveChild(*known.mapped());
    if (after == nullptr) {
      waiting_.erase(key);
      return;
    }
    groups_[key] = after;
    AddChild(*after);
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

void GroupBook::AddChild(const ClusterGroup& group) {
  if (!group.group->parent.empty()) children_[ParentOf(group)].insert(group.group->key);
}

void GroupBook::RemoveChild(const ClusterGroup& group) {
  const auto siblings = children_.find(ParentOf(group));
  if (siblings == children_.end()) return;
  siblings->second.erase(group.group->key);
  if (siblings->second.empty()) children_.erase(siblings);
}

void GroupBook::NoteWaiting(const GroupKey& root, const ClusterPod& pod) {
  const std::lock_guard lock(mutex_);
  waiting_[root].insert(pod.uid);
}

std::vector<std::string> GroupBook::TakeWaiting(const GroupKey& root) {
  const std::lock_guard lock(mutex_);
  const auto taken = waiting_.extract(root);
  if (taken.empty()) return {};
  return {taken.mapped().begin(), taken.mapped().end()};
}

void GroupBook::Withdraw(const ClusterPod& pod, const Decision& decision) {
  const std::lock_guard lock(mutex_);
  if (const std::vector<ClusterGroupRef> way = WayUp(pod); !way.empty()) {
    const auto root = waiting_.find(way.back()->group->key);
    if (root != waiting_.end()) root->second.erase(pod.uid);
  }
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
  const auto found = children_.find(composite);
  if (found == children_.end()) return children;
  for (const GroupKey& key : found->second) children.push_back(groups_.at(key));
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
  const auto children = children_.find(group);
  if (children == children_.end()) return;
  for (const GroupKey& key : children->second) AddPlacedBelow(key, depth + 1, placed);
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
