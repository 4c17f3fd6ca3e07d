#include "bench/sim/placing/groups/group_preemption.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_set>
#include <utility>

#include "bench/sim/placing/groups/victim_units.h"
#include "bench/sim/placing/placer.h"
#include "engine/event.h"

namespace schedq {
namespace {

// Streams of random numbers.
enum Stream : uint64_t { kPlacer, kSearch };

class WhatIf {
 public:
  WhatIf(const CycleGroup& root, const std::vector<GroupMember>& members,
         const SchedulerCache& cache, const Random& random)
      : root_(root),
        random_(random.Fork(kSearch)),
        copy_(cache.CopyWithoutPods()),
        placer_(copy_.get(), random.Fork(kPlacer)) {
    for (const GroupMember& member : members) members_.push_back({member.pod, {}, {}});
  }

  void Put(const ClusterPodRef& pod) { copy_->Apply(ChangeOf(nullptr, pod)); }
  void PutUnit(const VictimUnit& unit) {
    for (const ClusterPodRef& pod : unit.pods) Put(pod);
  }
  void TakeUnit(const VictimUnit& unit) {
    for (const ClusterPodRef& pod : unit.pods) copy_->Apply(ChangeOf(pod, nullptr));
  }

  // Whether the group fits now. Then nodes() has where its members would go.
  bool Fits() {
    GroupSearch search(PartsOfSearch(), &members_);
    const bool fits = search.Run(root_).status == GroupStatus::kSuccess;
    nodes_.assign(members_.size(), "");
    order_ = search.assumed();
    for (const size_t index : order_) nodes_[index] = members_[index].decision.node;
    Count(search);
    search.Revert();
    return fits;
  }

  // Whether all members still fit where they would go.
  bool StillFits() {
    std::vector<size_t> assumed;
    std::unordered_set<uint64_t> numbers;
    const uint64_t cycle = copy_->BeginGroupCycle();
    bool fits = true;
    for (const size_t index : order_) {
      GroupMember& member = members_[index];
      member.decision =
          placer_.DecideOn(*member.pod, nodes_[index], {.assumed = &numbers, .group_cycle = cycle});
      ++looked_at_;
      fits = !member.decision.node.empty() && copy_->Assume(member.pod, &member.decision);
      if (!fits) break;
      assumed.push_back(index);
      numbers.insert(member.pod->number);
    }
    while (!assumed.empty()) {
      const GroupMember& member = members_[assumed.back()];
      copy_->Forget(*member.pod, member.decision, 0);
      assumed.pop_back();
    }
    return fits;
  }

  const std::vector<std::string>& nodes() const { return nodes_; }
  size_t nodes_looked_at() const { return looked_at_; }
  size_t decisions() const { return decisions_; }

 private:
  static ClusterChange ChangeOf(const ClusterPodRef& before, const ClusterPodRef& after) {
    ClusterChange change;
    change.resource = Resource::kPod;
    change.action = after != nullptr ? Action::kAdd : Action::kDelete;
    change.pod_before = before;
    change.pod_after = after;
    return change;
  }
  GroupSearch::Parts PartsOfSearch() { return {copy_.get(), &placer_, &random_, {}}; }
  void Count(const GroupSearch& search) {
    looked_at_ += search.nodes_looked_at();
    decisions_ += search.decisions();
  }

  const CycleGroup& root_;
  Random random_;
  const std::unique_ptr<SchedulerCache> copy_;
  Placer placer_;
  std::vector<GroupMember> members_;
  std::vector<size_t> order_;  // In which the members were placed.
  std::vector<std::string> nodes_;
  size_t looked_at_ = 0;
  size_t decisions_ = 0;
};

// Whether victims of before are still going on a node to which a member is nominated.
bool AreVictimsGoing(const std::vector<GroupMember>& members, int32_t priority,
                     const SchedulerCache& cache) {
  return std::any_of(members.begin(), members.end(), [&](const GroupMember& member) {
    const std::string& node = member.pod->nominated_node_name;
    if (node.empty()) return false;
    const std::optional<uint32_t> slot = cache.nodes().SlotOf(node);
    return slot && cache.pods_by_node().IsAnyGoing(*slot, priority);
  });
}

}  // namespace

std::optional<GroupPreemption> PreemptFor(const CycleGroup& root,
                                          const std::vector<GroupMember>& members,
                                          const SchedulerCache& cache, const Random& random) {
  const int32_t priority = root.object->group->priority;
  const bool may_preempt =
      std::none_of(members.begin(), members.end(),
                   [](const GroupMember& member) { return member.pod->never_preempts; });
  if (!may_preempt || !cache.pods_by_node().HasBelow(priority)) return std::nullopt;
  GroupPreemption found;
  if (AreVictimsGoing(members, priority, cache)) {
    found.is_ongoing = true;
    for (const GroupMember& member : members) {
      found.nodes.push_back(member.pod->nominated_node_name);
    }
    return found;
  }
  // Before those that are delivered: a pod whose delivery comes between the two is in both.
  const std::vector<ClusterPodRef> assumed = cache.AssumedPods();
  const std::vector<ClusterPodRef> pods = cache.PodsOnNodes();
  std::vector<VictimUnit> units = UnitsBelow(pods, priority, &cache.groups());
  if (units.empty()) return std::nullopt;
  std::set<uint64_t> gone;
  for (const VictimUnit& unit : units) {
    for (const ClusterPodRef& pod : unit.pods) gone.insert(pod->number);
  }
  WhatIf what_if(root, members, cache, random);
  std::unordered_set<uint64_t> delivered;
  for (const ClusterPodRef& pod : pods) {
    delivered.insert(pod->number);
    if (gone.count(pod->number) == 0) what_if.Put(pod);
  }
  for (const ClusterPodRef& pod : assumed) {
    if (delivered.count(pod->number) == 0) what_if.Put(pod);
  }
  if (!what_if.Fits()) return std::nullopt;
  std::sort(units.begin(), units.end(), IsMoreImportant);
  PutViolatingFirst(&units, cache.budgets().All());
  std::vector<VictimUnit> victims;
  for (VictimUnit& unit : units) {
    what_if.PutUnit(unit);
    if (what_if.StillFits()) continue;
    what_if.TakeUnit(unit);
    found.violations += unit.violations;
    victims.push_back(std::move(unit));
  }
  std::sort(victims.begin(), victims.end(), IsMoreImportant);
  found.victims = PodsOf(victims);
  found.nodes = what_if.nodes();
  found.nodes_looked_at = what_if.nodes_looked_at();
  found.decisions = what_if.decisions();
  return found;
}

}  // namespace schedq
