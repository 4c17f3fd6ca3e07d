#include "bench/sim/placing/groups/group_cycle.h"

#include <optional>
#include <string_view>

#include "bench/sim/placing/groups/cycle_group.h"
#include "bench/sim/placing/groups/group_preemption.h"
#include "engine/base/result.h"

namespace schedq {
namespace {

constexpr std::string_view kCondition = "PodGroupInitiallyScheduled";

PodCondition ConditionOf(GroupStatus status, std::string message) {
  const std::string type(kCondition);
  switch (status) {
    case GroupStatus::kSuccess:
      return {type, "True", "Scheduled", std::move(message)};
    case GroupStatus::kUnschedulable:
      return {type, "False", "Unschedulable", std::move(message)};
    case GroupStatus::kError:
      break;
  }
  return {type, "False", "SchedulerError", std::move(message)};
}

MemberOutcome EndOf(GroupStatus status, GroupMember* member) {
  MemberOutcome outcome;
  outcome.decision = std::move(member->decision);
  outcome.was_tried = member->state != TrialEnd::kUntried;
  if (outcome.was_tried) outcome.spent = member->spent;
  switch (member->state) {
    case TrialEnd::kPlaced:
      outcome.end = status == GroupStatus::kSuccess ? MemberEnd::kBind : MemberEnd::kFits;
      break;
    case TrialEnd::kRejected:
      outcome.end = MemberEnd::kRejected;
      outcome.keeps_nomination = true;
      break;
    case TrialEnd::kUntried:
      outcome.end = MemberEnd::kRejected;
      outcome.keeps_nomination = true;
      outcome.decision = Decision();
      break;
    case TrialEnd::kError:
      outcome.end = MemberEnd::kError;
      break;
  }
  if (status == GroupStatus::kError) {
    outcome.end = MemberEnd::kError;
    outcome.keeps_nomination = false;
  }
  return outcome;
}

// Of the groups of the tree that are no composites.
void AddConditions(const CycleGroup& tree, const PodCondition& condition, GroupOutcome* outcome) {
  if (!tree.is_composite()) outcome->conditions.emplace_back(tree.key(), condition);
  for (const CycleGroup& child : tree.children) AddConditions(child, condition, outcome);
}

}  // namespace

void FailPreemption(GroupOutcome* outcome) {
  outcome->has_preemption_failed = true;
  outcome->waits_for_preemption = false;
  for (MemberOutcome& member : outcome->members) {
    member.end = MemberEnd::kError;
    member.nominated.clear();
    member.keeps_nomination = false;
  }
  for (auto& [key, condition] : outcome->conditions) {
    condition = ConditionOf(GroupStatus::kError, "victims could not be deleted");
  }
}

GroupOutcome GroupCycle::EndInError(size_t members, const CycleGroup* tree,
                                    const std::string& why) const {
  GroupOutcome outcome;
  outcome.members.resize(members);
  if (tree != nullptr) AddConditions(*tree, ConditionOf(GroupStatus::kError, why), &outcome);
  KeepNews(&outcome);
  return outcome;
}

GroupOutcome GroupCycle::Run(const GroupKey& root, const std::vector<ClusterPodRef>& members,
                             Instant now) {
  const Result<CycleGroup> tree = MakeCycleGroup(cache_.groups(), root, members);
  if (!tree) return EndInError(members.size(), nullptr, tree.error().message());
  if (const Status status = CheckMembers(*tree, members); !status) {
    return EndInError(members.size(), &*tree, status.error().message());
  }
  std::vector<GroupMember> tried;
  tried.reserve(members.size());
  for (const ClusterPodRef& pod : members) tried.push_back({pod, TrialEnd::kUntried, {}});
  GroupSearch search({&cache_, &placer_, &random_, now}, &tried);
  const GroupResult result = search.Run(*tree);
  if (result.status != GroupStatus::kSuccess) search.Revert();
  if (on_released_) {
    for (const GroupSearch::Released& each : search.released()) on_released_(*each.pod, each.node);
  }
  GroupOutcome outcome;
  outcome.status = result.status;
  outcome.was_searched = true;
  outcome.members.resize(members.size());
  outcome.searched = {search.decisions(), search.nodes_looked_at()};
  outcome.conflicts = search.conflicts();
  const std::vector<GroupMember> before =
      result.status == GroupStatus::kUnschedulable ? tried : std::vector<GroupMember>();
  Conclude(*tree, search, {GroupStatus::kSuccess, "", false}, &tried, &outcome);
  if (result.status == GroupStatus::kUnschedulable) Preempt(*tree, before, &outcome);
  KeepNews(&outcome);
  return outcome;
}

void GroupCycle::Conclude(const CycleGroup& tree, const GroupSearch& search,
                          const GroupResult& above, std::vector<GroupMember>* members,
                          GroupOutcome* outcome) const {
  const auto found = search.results().find(tree.key());
  GroupResult result = above;
  bool was_tried = false;
  if (found != search.results().end()) {
    const bool ends_with_parent =
        above.status != GroupStatus::kSuccess && found->second.status == GroupStatus::kSuccess;
    was_tried = !ends_with_parent;
    if (was_tried) result = found->second;
  }
  for (const CycleGroup& child : tree.children) {
    Conclude(child, search, result, members, outcome);
  }
  if (tree.is_composite()) return;
  for (const size_t index : tree.members) {
    GroupMember& member = (*members)[index];
    if (!was_tried) member.state = TrialEnd::kUntried;
    outcome->members[index] = EndOf(result.status, &member);
  }
  outcome->conditions.emplace_back(tree.key(), ConditionOf(result.status, result.message));
}

// A group that was scheduled once stays so, whatever becomes of pods that come later.
void GroupCycle::KeepNews(GroupOutcome* outcome) const {
  std::erase_if(outcome->conditions, [&](const std::pair<GroupKey, PodCondition>& each) {
    const ClusterGroupRef known = cache_.groups().Find(each.first);
    if (known == nullptr) return true;
    return known->condition == each.second ||
           (known->condition.status == "True" && each.second.status != "True");
  });
}

void GroupCycle::Preempt(const CycleGroup& tree, const std::vector<GroupMember>& members,
                         GroupOutcome* outcome) {
  if (cache_.framework().At(ExtensionPoint::kPostFilter).empty()) return;
  outcome->asked_to_preempt = true;
  std::optional<GroupPreemption> found =
      PreemptFor(tree, members, cache_, random_.Fork(++preemptions_));
  if (!found) return;
  outcome->waits_for_preemption = true;
  outcome->preempted = {found->decisions, found->nodes_looked_at};
  for (size_t i = 0; i < members.size(); ++i) {
    if (!found->nodes[i].empty()) {
      outcome->members[i].nominated = found->nodes[i];
      outcome->members[i].keeps_nomination = false;
    } else if (outcome->members[i].end == MemberEnd::kFits) {
      outcome->members[i].keeps_nomination = true;
    }
  }
  std::string said = found->is_ongoing ? "victims are still going"
                                       : "preempting " + std::to_string(found->victims.size());
  for (auto& [key, condition] : outcome->conditions) condition.message += "; " + said;
  outcome->victims = std::move(found->victims);
  outcome->violations = found->violations;
}

}  // namespace schedq
