#include "bench/sim/cluster/audit_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "bench/sim/cluster/cluster_objects.h"
#include "engine/pod.h"
#include "engine/pod_group.h"

namespace schedq {
namespace {

class GroupAudit {
 public:
  GroupAudit(const Cluster& cluster, const AuditQuestions& questions)
      : cluster_(cluster), questions_(questions) {
    for (const auto& [key, group] : cluster.groups()) {
      if (const ClusterGroupRef parent = ParentOf(*group)) {
        children_[parent->group->key].push_back(group);
      }
      if (cluster.HasLostMember(key)) {
        ForEachUpFrom(group, [this](const ClusterGroup& each) { Of(each).was_disturbed = true; });
      }
    }
    for (const auto& [number, pod] : cluster.pods()) {
      if (pod->group_name.empty()) continue;
      ForEachUpFrom(cluster.FindGroup(GroupKeyOf(*pod)),
                    [this, &member = *pod](const ClusterGroup& each) { Count(member, each); });
    }
  }

  void Judge(std::vector<std::string>* faults) const {
    for (const auto& [key, below] : below_) {
      const ClusterGroup& group = *cluster_.FindGroup(key);
      const std::string name = QualifiedName(key.namespace_name, key.name);
      const bool is_excused =
          below.placed == 0 || below.was_disturbed || cluster_.faults().HasRefused();
      if (!is_excused && !IsReady(group, 1)) {
        faults->push_back(key.kind == GroupKind::kComposite
                              ? fmt::format("tree {} is partly bound: {} of at least {} groups",
                                            name, ReadyChildren(group, 1), Needed(group))
                              : fmt::format("gang {} is partly bound: {} of at least {} members",
                                            name, below.bound, Needed(group)));
      }
      if (below.domains.size() > 1 || below.domains.count("") != 0) {
        faults->push_back(
            fmt::format("group {} is not in one domain of {}", name, group.spec.topology_key));
      }
    }
  }

 private:
  // Of the members of a group, or of all groups below a composite.
  struct Below {
    int64_t bound = 0;
    int64_t placed = 0;  // Those that the scheduler has bound.
    int64_t going = 0;
    bool was_disturbed = false;          // A member was deleted, or is being deleted.
    std::set<std::string_view> domains;  // Where those that the scheduler has bound are.
  };

  static int64_t Needed(const ClusterGroup& group) {
    return std::max<int64_t>(group.spec.min_count, 1);
  }
  Below& Of(const ClusterGroup& group) { return below_[group.group->key]; }

  ClusterGroupRef ParentOf(const ClusterGroup& group) const {
    const std::string& parent = group.group->parent;
    if (!questions_.knows_composites || parent.empty()) return nullptr;
    return cluster_.FindGroup({GroupKind::kComposite, group.namespace_name, parent});
  }

  template <typename Visit>
  void ForEachUpFrom(ClusterGroupRef group, Visit visit) const {
    for (int depth = 0; depth < kGroupDepthMax && group != nullptr; ++depth) {
      visit(*group);
      group = ParentOf(*group);
    }
  }

  void Count(const ClusterPod& pod, const ClusterGroup& group) {
    Below& below = Of(group);
    if (pod.node_name.empty()) {
      below.was_disturbed = below.was_disturbed || pod.deleting;
      below.going += questions_.is_going(pod) ? 1 : 0;
      return;
    }
    ++below.bound;
    if (!pod.spec().pod.node_name.empty()) return;
    ++below.placed;
    const ClusterNodeRef node = cluster_.FindNode(pod.node_name);
    const std::string& key = group.spec.topology_key;
    if (!questions_.places_by_topology || key.empty()) return;
    if (node == nullptr || node->relabelled) return;
    below.domains.insert(LabelValue(node->labels, key));
  }

  bool IsReady(const ClusterGroup& group, int depth) const {
    if (group.group->key.kind == GroupKind::kComposite) {
      return ReadyChildren(group, depth) >= Needed(group);
    }
    const auto found = below_.find(group.group->key);
    return found != below_.end() && found->second.bound + found->second.going >= Needed(group);
  }
  int64_t ReadyChildren(const ClusterGroup& composite, int depth) const {
    const auto found = children_.find(composite.group->key);
    if (found == children_.end() || depth == kGroupDepthMax) return 0;
    return std::count_if(found->second.begin(), found->second.end(),
                         [&](const auto& child) { return IsReady(*child, depth + 1); });
  }

  const Cluster& cluster_;
  const AuditQuestions& questions_;
  std::map<GroupKey, std::vector<ClusterGroupRef>> children_;  // By their composite.
  std::map<GroupKey, Below> below_;
};

}  // namespace

void AuditGroups(const Cluster& cluster, const AuditQuestions& questions,
                 std::vector<std::string>* faults) {
  if (!cluster.groups().empty()) GroupAudit(cluster, questions).Judge(faults);
}

}  // namespace schedq
