// A gang goes to its nodes only if as many of its members as it needs do.
//
// PlacementFeasible: in a cycle of the group, whether enough members are placed, may still be, or
// cannot be any more. A group that is no gang needs one. A composite counts its children likewise.
// Permit: a member of a gang waits until enough members are on their way or there; the one that
// completes the gang allows those that wait. In a tree all groups must have what they need, as far
// as their parents need them. A member whose group is gone by then is rejected, where upstream has
// an error; in both cases it waits for its group's object.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/groups/cycle_group.h"
#include "bench/sim/placing/groups/group_book.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/waiting_pods.h"
#include "engine/base/time/time.h"
#include "engine/pod_group.h"

namespace schedq {
namespace {

constexpr Duration kPermitTimeout = std::chrono::minutes(5);

int64_t NeededBy(const ClusterGroup& group) { return std::max<int64_t>(group.spec.min_count, 1); }

class GangScheduling final : public PlacingPlugin {
 public:
  explicit GangScheduling(GroupBook* groups) : groups_(*groups) {}

  std::string_view name() const override { return "GangScheduling"; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kPlacementFeasible, ExtensionPoint::kReserve,
                           ExtensionPoint::kPermit);
  }

  Feasibility PlacementFeasible(const CycleGroup& group,
                                const GroupProgress& progress) const override {
    if (progress.scheduled >= group.needed()) return Feasibility::kMet;
    const bool can = progress.remaining + progress.scheduled >= group.needed();
    return can ? Feasibility::kNotYet : Feasibility::kNever;
  }

  // Upstream activates the other members here. In a cycle all that could be are in flight, where
  // nothing comes of it.
  PermitAnswer Permit(const ClusterPod& pod, const Decision& decision, size_t self,
                      WaitingPods* waiting) const override {
    if (pod.group_name.empty()) return {};
    groups_.Place(pod, decision);
    const ClusterGroupRef root = RootOf(pod);
    if (root == nullptr) return {PermitAnswer::Kind::kReject, {}};
    const bool is_gang = root->spec.min_count > 0 || !root->group->parent.empty() ||
                         root->group->key.kind == GroupKind::kComposite;
    if (!is_gang) return {};
    groups_.NoteWaiting(root->group->key, pod);
    if (!IsReady(*root, 1)) return {PermitAnswer::Kind::kWait, kPermitTimeout};
    for (const std::string& uid : groups_.TakeWaiting(root->group->key)) waiting->Allow(uid, self);
    return {};
  }

  void Unreserve(const ClusterPod& pod, const Decision& decision, size_t) const override {
    if (!pod.group_name.empty()) groups_.Withdraw(pod, decision);
  }

 private:
  // Null: a group on the way is not known.
  ClusterGroupRef RootOf(const ClusterPod& pod) const {
    ClusterGroupRef group = groups_.Find(GroupKeyOf(pod));
    for (int depth = 1; depth < kGroupDepthMax && group != nullptr; ++depth) {
      if (!groups_.knows_composites() || group->group->parent.empty()) return group;
      group = groups_.Find({GroupKind::kComposite, pod.namespace_name, group->group->parent});
    }
    return group;
  }

  bool IsReady(const ClusterGroup& group, int depth) const {
    const GroupKey& key = group.group->key;
    if (key.kind == GroupKind::kPodGroup) {
      return static_cast<int64_t>(groups_.PlacedCount(key)) >= NeededBy(group);
    }
    if (depth == kGroupDepthMax) return false;
    const std::vector<ClusterGroupRef> children = groups_.ChildrenOf(key);
    const auto ready =
        std::count_if(children.begin(), children.end(),
                      [&](const ClusterGroupRef& child) { return IsReady(*child, depth + 1); });
    return ready >= NeededBy(group);
  }

  GroupBook& groups_;
};

}  // namespace

PlacingPluginRef MakeGangScheduling(const PlacingTools& tools) {
  return std::make_unique<GangScheduling>(tools.groups);
}

}  // namespace schedq
