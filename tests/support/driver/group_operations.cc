// What OperationGenerator draws of groups: their objects, their events, the ends of their cycles.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/trace/trace.h"
#include "engine/base/random.h"
#include "engine/event.h"
#include "engine/place.h"
#include "engine/pod_group.h"
#include "tests/support/driver/group_judge.h"
#include "tests/support/driver/operation_generator.h"

namespace schedq {
namespace {

std::string FullName(const GroupKey& group) { return group.namespace_name + "/" + group.name; }

bool IsOfComposite(TraceOp op) {
  return op == TraceOp::kCompositeAdd || op == TraceOp::kCompositeUpdate ||
         op == TraceOp::kCompositeDelete;
}

bool IsAdd(TraceOp op) { return op == TraceOp::kGroupAdd || op == TraceOp::kCompositeAdd; }

}  // namespace

// Two namespaces have groups of the same names. The tree is drawn once: nothing but the minimum of
// an object changes.
OperationGenerator::OperationGenerator(const TraceHeader& header, Random random)
    : header_(header), random_(random) {
  if (!header_.gates.GenericWorkload()) return;
  for (const char* space : {"one", "two"}) {
    const auto add = [&](GroupKind kind, const char* name, std::string parent) {
      group_names_.push_back({{kind, space, name}, std::move(parent)});
    };
    add(GroupKind::kPodGroup, "g1", "");
    add(GroupKind::kPodGroup, "g2", Pick({"", "top", "middle"}));
    add(GroupKind::kPodGroup, "g3", Pick({"", "middle", "middle"}));
    add(GroupKind::kComposite, "middle", Pick({"", "top"}));
    add(GroupKind::kComposite, "top", "");
  }
}

std::vector<const OperationGenerator::GroupName*> OperationGenerator::GroupsFor(
    TraceOp op, const GroupJudge& groups) const {
  std::vector<const GroupName*> fitting;
  for (const GroupName& group : group_names_) {
    const bool is_known = groups.Find(group.key) != nullptr;
    const bool is_composite = group.key.kind == GroupKind::kComposite;
    if (is_composite == IsOfComposite(op) && is_known != IsAdd(op)) fitting.push_back(&group);
  }
  return fitting;
}

TraceOp OperationGenerator::PossibleNow(TraceOp op, const GroupJudge& groups) {
  const bool in_cycle = groups.cycle().has_value();
  if (op == TraceOp::kPop && in_cycle) return TraceOp::kGroupDone;
  const bool is_possible = op == TraceOp::kGroupDone ? in_cycle : !GroupsFor(op, groups).empty();
  if (!NeedsGroups(op) || is_possible) return op;
  if (in_cycle) return TraceOp::kGroupDone;
  const bool may_pop = std::any_of(candidates_.begin(), candidates_.end(),
                                   [](const auto& each) { return each.place == Place::kActive; });
  return may_pop ? TraceOp::kPop : TraceOp::kEvent;
}

void OperationGenerator::FillGroup(TraceOperation* operation, const GroupJudge& groups) {
  if (operation->op == TraceOp::kGroupDone) {
    operation->group_name = FullName(*groups.cycle());
    operation->status = static_cast<GroupStatus>(random_.Below(3));
    return;
  }
  const std::vector<const GroupName*> fitting = GroupsFor(operation->op, groups);
  const GroupName& chosen = *fitting[random_.Below(fitting.size())];
  if (operation->op == TraceOp::kGroupDelete || operation->op == TraceOp::kCompositeDelete) {
    operation->namespace_name = chosen.key.namespace_name;
    operation->group_name = chosen.key.name;
    return;
  }
  auto group = std::make_shared<PodGroup>();
  group->key = chosen.key;
  group->parent = chosen.parent;
  const PodGroup* before = groups.Find(chosen.key);
  group->priority =
      before != nullptr ? before->priority : static_cast<int32_t>(random_.Between(-1, 2));
  if (chosen.key.kind == GroupKind::kPodGroup && random_.Chance(0.6)) {
    group->min_count = static_cast<int64_t>(random_.Below(4));
  }
  operation->group = std::move(group);
}

void OperationGenerator::DrawEventOfGroups(TraceOperation* operation) {
  static constexpr std::pair<Resource, Action> kEvents[] = {
      {Resource::kPodGroup, Action::kAdd},
      {Resource::kPodGroup, Action::kUpdate},
      {Resource::kPodGroup, Action::kDelete},
      {Resource::kUnscheduledPod, Action::kAdd},
      {Resource::kAssignedPod, Action::kAdd},
      {Resource::kCompositePodGroup, Action::kAdd},
      {Resource::kCompositePodGroup, Action::kUpdate},
  };
  const auto& [resource, action] = kEvents[random_.Below(std::size(kEvents))];
  operation->event = MakeEvent(resource, action);
  operation->object.namespace_name = Pick({"one", "two"});
  operation->object.name = Pick({"g1", "g2", "g3"});
  operation->object.group = Pick({"g1", "g2", "g3", ""});
  operation->object.min_count = random_.Between(0, 3);
  operation->object.old_min_count = random_.Between(0, 3);
}

}  // namespace schedq
