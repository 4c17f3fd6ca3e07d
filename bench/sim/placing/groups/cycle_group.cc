#include "bench/sim/placing/groups/cycle_group.h"

#include <string>
#include <utility>

#include "engine/pod.h"

namespace schedq {
namespace {

Result<CycleGroup> MakeTree(const GroupBook& book, const GroupKey& key, int depth,
                            std::span<const ClusterPodRef> members) {
  CycleGroup tree;
  tree.object = book.Find(key);
  if (tree.object == nullptr) {
    return Error("pod group " + QualifiedName(key.namespace_name, key.name) + " is not known");
  }
  tree.placed = book.PlacedBelow(key);
  if (!tree.is_composite()) {
    for (size_t i = 0; i < members.size(); ++i) {
      const ClusterPod& member = *members[i];
      if (member.group_name == key.name && member.namespace_name == key.namespace_name) {
        tree.members.push_back(i);
      }
    }
    return tree;
  }
  if (depth == kGroupDepthMax) return tree;
  for (const ClusterGroupRef& child : book.ChildrenOf(key)) {
    Result<CycleGroup> below = MakeTree(book, child->group->key, depth + 1, members);
    if (!below) return below;
    tree.children.push_back(std::move(*below));
  }
  return tree;
}

}  // namespace

Result<CycleGroup> MakeCycleGroup(const GroupBook& book, const GroupKey& root,
                                  std::span<const ClusterPodRef> members) {
  return MakeTree(book, root, 1, members);
}

Status CheckMembers(const CycleGroup& tree, std::span<const ClusterPodRef> members) {
  const int32_t priority = tree.object->group->priority;
  const bool never_preempts = !members.empty() && members.front()->never_preempts;
  const auto check = [&](const ClusterPod& pod) {
    if (pod.priority != priority) {
      return Status(Error("pod " + QualifiedName(pod) + " has priority " +
                          std::to_string(pod.priority) + ", expected its group's " +
                          std::to_string(priority)));
    }
    if (pod.never_preempts != never_preempts) {
      return Status(Error("pod " + QualifiedName(pod) +
                          " has another preemptionPolicy than others of its group"));
    }
    return Status::Ok();
  };
  for (const ClusterPodRef& member : members) {
    if (Status status = check(*member); !status) return status;
  }
  for (const GroupBook::Placed& placed : tree.placed) {
    if (placed.bound == nullptr) continue;
    if (Status status = check(*placed.bound); !status) return status;
  }
  return Status::Ok();
}

}  // namespace schedq
