#include "tests/support/driver/group_judge.h"

#include <cstddef>

namespace schedq {

std::optional<GroupKey> GroupJudge::RootOf(const Pod& member) const {
  GroupKey key = {GroupKind::kPodGroup, member.namespace_name, member.group_name};
  // A way never returns to where it was, so it is no longer than there are objects.
  for (size_t steps = 0; steps <= known_.size(); ++steps) {
    const PodGroup* group = Find(key);
    if (group == nullptr) return std::nullopt;
    if (!gates_.CompositePodGroup() || group->parent.empty()) return key;
    key = {GroupKind::kComposite, member.namespace_name, group->parent};
  }
  return std::nullopt;
}

const PodGroup* GroupJudge::Find(const GroupKey& group) const {
  const auto found = known_.find(group);
  return found == known_.end() ? nullptr : found->second.get();
}

void GroupJudge::Follow(const TraceOperation& operation) {
  switch (operation.op) {
    case TraceOp::kGroupAdd:
    case TraceOp::kGroupUpdate:
    case TraceOp::kCompositeAdd:
    case TraceOp::kCompositeUpdate:
      known_[operation.group->key] = operation.group;
      break;
    case TraceOp::kGroupDelete:
      known_.erase({GroupKind::kPodGroup, operation.namespace_name, operation.group_name});
      break;
    case TraceOp::kCompositeDelete:
      known_.erase({GroupKind::kComposite, operation.namespace_name, operation.group_name});
      break;
    default:
      break;
  }
}

}  // namespace schedq
