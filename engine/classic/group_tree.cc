#include "engine/classic/group_tree.h"

#include <cstddef>
#include <utility>

namespace schedq {
namespace {

GroupKey ParentOf(const PodGroup& group) {
  return {GroupKind::kComposite, group.key.namespace_name, group.parent};
}

}  // namespace

bool GroupTree::Put(PodGroupRef group) {
  if (!has_composites_ && group->key.kind == GroupKind::kComposite) return false;
  Erase(group->key);
  if (has_composites_ && !group->parent.empty()) children_[ParentOf(*group)].insert(group->key);
  known_[group->key] = std::move(group);
  return true;
}

PodGroupRef GroupTree::Erase(const GroupKey& key) {
  const auto found = known_.find(key);
  if (found == known_.end()) return nullptr;
  const auto siblings = children_.find(ParentOf(*found->second));
  if (siblings != children_.end()) {
    siblings->second.erase(key);
    if (siblings->second.empty()) children_.erase(siblings);
  }
  PodGroupRef erased = std::move(found->second);
  known_.erase(found);
  return erased;
}

const PodGroup* GroupTree::Find(const GroupKey& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : found->second.get();
}

std::optional<GroupKey> GroupTree::RootOf(const GroupKey& key) const {
  const PodGroup* group = Find(key);
  // A way that is longer than there are objects goes round in a circle.
  for (size_t steps = 0; group != nullptr && steps <= known_.size(); ++steps) {
    if (!has_composites_ || group->parent.empty()) return group->key;
    group = Find(ParentOf(*group));
  }
  return std::nullopt;
}

std::vector<GroupKey> GroupTree::GroupsBelow(const GroupKey& key) const {
  std::vector<GroupKey> groups;
  std::vector<GroupKey> level = {key};
  for (size_t steps = 0; !level.empty() && steps <= known_.size(); ++steps) {
    std::vector<GroupKey> next;
    for (const GroupKey& each : level) {
      if (each.kind == GroupKind::kPodGroup) {
        groups.push_back(each);
        continue;
      }
      const auto found = children_.find(each);
      if (found == children_.end()) continue;
      next.insert(next.end(), found->second.begin(), found->second.end());
    }
    level = std::move(next);
  }
  return groups;
}

}  // namespace schedq
