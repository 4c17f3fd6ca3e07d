#include "bench/sim/placing/groups/group_search.h"

#include <algorithm>
#include <bit>
#include <set>

#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_columns.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"

namespace schedq {
namespace {

std::string ProgressText(const CycleGroup& group, const GroupProgress& progress) {
  return "minCount " + std::to_string(group.needed()) + ": " + std::to_string(progress.scheduled) +
         " scheduled, " + std::to_string(progress.remaining) + " remaining";
}

// The groups whose placed members go: those that succeeded, as all above them.
void AddGoing(const CycleGroup& group, const std::map<GroupKey, GroupResult>& results,
              std::set<GroupKey>* going) {
  const auto found = results.find(group.key());
  if (found == results.end() || found->second.status != GroupStatus::kSuccess) return;
  going->insert(group.key());
  for (const CycleGroup& child : group.children) AddGoing(child, results, going);
}

}  // namespace

GroupResult GroupSearch::Run(const CycleGroup& root) {
  const bool by_topology = parts_.cache->places_by_topology();
  const GroupPlacement all = by_topology ? AllNodes() : GroupPlacement();
  GroupResult result = Search(root, by_topology ? &all : nullptr);
  if (result.status == GroupStatus::kSuccess && !result.has_placed) {
    result.status = GroupStatus::kUnschedulable;
    results_[root.key()] = result;
  }
  return result;
}

GroupPlacement GroupSearch::AllNodes() {
  GroupPlacement all;
  const NodeColumns& nodes = parts_.placer->Nodes();
  for (size_t block = 0; block < nodes.blocks(); ++block) {
    all.nodes.push_back(nodes.known(block));
    all.count += static_cast<size_t>(std::popcount(nodes.known(block)));
  }
  return all;
}

GroupResult GroupSearch::Search(const CycleGroup& group, const GroupPlacement* parent) {
  GroupResult result = parent != nullptr ? TryPlacements(group, *parent) : Try(group, nullptr);
  results_[group.key()] = result;
  return result;
}

GroupResult GroupSearch::TryPlacements(const CycleGroup& group, const GroupPlacement& parent) {
  const auto& generators = parts_.cache->framework().At(ExtensionPoint::kPlacementGenerate);
  if (generators.empty()) return Try(group, &parent);
  const Result<std::vector<GroupPlacement>> placements =
      generators.front().plugin->GeneratePlacements(group, parent, parts_.placer->Nodes());
  if (!placements) return {GroupStatus::kError, placements.error().message(), false};
  if (placements->empty()) {
    return {GroupStatus::kUnschedulable, "no feasible placements found", false};
  }
  if (placements->size() > 1) return TryAll(group, *placements);
  GroupResult result = Try(group, &placements->front());
  if (result.status == GroupStatus::kUnschedulable) {
    result.message = "0/1 placements are available: " + result.message;
  }
  return result;
}

GroupResult GroupSearch::TryAll(const CycleGroup& group,
                                const std::vector<GroupPlacement>& placements) {
  const size_t mark = assumed_.size();
  std::vector<Tried> fitting;
  Tried first;
  for (const GroupPlacement& placement : placements) {
    Reset(group);
    GroupResult result = Try(group, &placement);
    RevertTo(mark);
    if (result.status == GroupStatus::kError) return result;
    const bool fits = result.status == GroupStatus::kSuccess;
    if (!fits && &placement != &placements.front()) continue;
    Tried tried = Save(group, &placement, std::move(result));
    if (fits) {
      fitting.push_back(std::move(tried));
    } else {
      first = std::move(tried);
    }
  }
  if (fitting.empty()) {
    Restore(group, first);
    first.result.message = "0/" + std::to_string(placements.size()) +
                           " placements are available: " + first.result.message;
    return first.result;
  }
  const Tried& best = fitting[BestOf(group, fitting)];
  Restore(group, best);
  if (AssumeAgain(group)) return best.result;
  RevertTo(mark);
  return {GroupStatus::kError, "another thread was ahead", false};
}

size_t GroupSearch::BestOf(const CycleGroup& group, const std::vector<Tried>& fitting) {
  if (fitting.size() == 1) return 0;
  const NodeColumns& nodes = parts_.placer->Nodes();
  std::vector<int64_t> totals(fitting.size());
  std::vector<int64_t> scores(fitting.size());
  std::vector<ProposedPlacement> proposed;
  for (const Tried& tried : fitting) {
    std::set<GroupKey> going;
    AddGoing(group, tried.results, &going);
    proposed.push_back({tried.placement, {}});
    for (const auto& [index, member] : tried.members) {
      const bool goes =
          member.state == TrialEnd::kPlaced && going.count(GroupKeyOf(*member.pod)) != 0;
      if (goes) proposed.back().pods.push_back(member.pod.get());
    }
  }
  for (const Framework::Numbered& each :
       parts_.cache->framework().At(ExtensionPoint::kPlacementScore)) {
    for (size_t i = 0; i < fitting.size(); ++i) {
      scores[i] = each.plugin->ScorePlacement(group, proposed[i], nodes);
    }
    each.plugin->NormalizePlacements(scores);
    for (size_t i = 0; i < scores.size(); ++i) totals[i] += scores[i] * each.plugin->weight();
  }
  const int64_t best = *std::max_element(totals.begin(), totals.end());
  uint64_t chosen =
      parts_.random->Below(static_cast<uint64_t>(std::count(totals.begin(), totals.end(), best)));
  size_t at = 0;
  while (totals[at] != best || chosen-- != 0) ++at;
  return at;
}

GroupResult GroupSearch::Try(const CycleGroup& group, const GroupPlacement* placement) {
  const size_t mark = assumed_.size();
  GroupResult result =
      group.is_composite() ? TryChildren(group, placement) : TryMembers(group, placement);
  if (result.status != GroupStatus::kSuccess) {
    RevertTo(mark);
    result.has_placed = false;
  }
  // Scores ask for it before the caller has it.
  results_[group.key()] = result;
  return result;
}

Feasibility GroupSearch::AskFeasible(const CycleGroup& group, const GroupProgress& progress) const {
  Feasibility all = Feasibility::kMet;
  for (const Framework::Numbered& each :
       parts_.cache->framework().At(ExtensionPoint::kPlacementFeasible)) {
    const Feasibility one = each.plugin->PlacementFeasible(group, progress);
    if (one == Feasibility::kNever) return one;
    if (one == Feasibility::kNotYet) all = one;
  }
  return all;
}

GroupResult GroupSearch::TryMembers(const CycleGroup& group, const GroupPlacement* placement) {
  GroupResult result;
  GroupProgress progress{static_cast<int64_t>(group.members.size()),
                         static_cast<int64_t>(group.placed.size())};
  Feasibility feasible = AskFeasible(group, progress);
  for (size_t i = 0; i < group.members.size() && feasible != Feasibility::kNever; ++i) {
    const size_t index = group.members[i];
    TryMember(index, placement);
    const TrialEnd state = members_[index].state;
    if (state == TrialEnd::kError) {
      return {GroupStatus::kError, "a member of the group could not be tried", false};
    }
    const bool is_placed = state == TrialEnd::kPlaced;
    --progress.remaining;
    if (is_placed) ++progress.scheduled;
    result.has_placed = result.has_placed || is_placed;
    feasible = AskFeasible(group, progress);
  }
  if (feasible == Feasibility::kMet) {
    result.status = GroupStatus::kSuccess;
  } else {
    result.message = ProgressText(group, progress);
  }
  return result;
}

GroupResult GroupSearch::TryChildren(const CycleGroup& group, const GroupPlacement* placement) {
  GroupResult result;
  GroupProgress progress{static_cast<int64_t>(group.children.size()), 0};
  Feasibility feasible = AskFeasible(group, progress);
  for (size_t i = 0; i < group.children.size() && feasible != Feasibility::kNever; ++i) {
    const GroupResult child = Search(group.children[i], placement);
    if (child.status == GroupStatus::kError) return {child.status, child.message, false};
    --progress.remaining;
    if (child.status == GroupStatus::kSuccess) ++progress.scheduled;
    result.has_placed = result.has_placed || child.has_placed;
    feasible = AskFeasible(group, progress);
  }
  if (feasible == Feasibility::kMet) {
    result.status = GroupStatus::kSuccess;
  } else {
    result.message = ProgressText(group, progress);
  }
  return result;
}

void GroupSearch::TryMember(size_t index, const GroupPlacement* placement) {
  GroupMember& member = members_[index];
  const MonotonicTime started = SteadyNow();
  TryToPlace(index, placement);
  member.spent = SteadyNow() - started;
}

void GroupSearch::TryToPlace(size_t index, const GroupPlacement* placement) {
  GroupMember& member = members_[index];
  for (int i = 0; i < kConflictsMax; ++i) {
    member.decision = parts_.placer->Decide(*member.pod, ScopeOn(placement));
    ++decisions_;
    nodes_looked_at_ += member.decision.nodes_looked_at;
    if (member.decision.node.empty() && !member.decision.was_overtaken) {
      member.state = TrialEnd::kRejected;
      return;
    }
    if (!member.decision.was_overtaken && Assume(index)) {
      member.state = TrialEnd::kPlaced;
      return;
    }
    ++conflicts_;
  }
  member.state = TrialEnd::kError;
}

bool GroupSearch::Assume(size_t index) {
  GroupMember& member = members_[index];
  if (!parts_.cache->Assume(member.pod, &member.decision)) return false;
  assumed_.push_back(index);
  assumed_numbers_.insert(member.pod->number);
  return true;
}

void GroupSearch::RevertTo(size_t count) {
  while (assumed_.size() > count) {
    const GroupMember& member = members_[assumed_.back()];
    assumed_.pop_back();
    assumed_numbers_.erase(member.pod->number);
    parts_.cache->Forget(*member.pod, member.decision, 0);
    NoteReleased(member);
  }
}

// Pods of one group are mostly alike, and one of them says all that the others would.
void GroupSearch::NoteReleased(const GroupMember& member) {
  const auto is_alike = [&](size_t place) {
    const ClusterPod& other = *released_[place].pod;
    return other.group_name == member.pod->group_name && other.labels == member.pod->labels &&
           other.requests == member.pod->requests && other.rules == member.pod->rules &&
           other.volumes == member.pod->volumes;
  };
  std::vector<size_t>& places = released_of_[member.decision.node];
  if (std::any_of(places.begin(), places.end(), is_alike)) return;
  places.push_back(released_.size());
  released_.push_back({member.pod, member.decision.node});
}

void GroupSearch::Reset(const CycleGroup& group) {
  for (const size_t index : group.members) {
    members_[index].state = TrialEnd::kUntried;
    members_[index].decision = Decision();
    members_[index].spent = Duration(0);
  }
  results_.erase(group.key());
  for (const CycleGroup& child : group.children) Reset(child);
}

void GroupSearch::SaveBelow(const CycleGroup& group, Tried* tried) const {
  for (const size_t index : group.members) tried->members.emplace_back(index, members_[index]);
  const auto found = results_.find(group.key());
  if (found != results_.end()) tried->results.insert(*found);
  for (const CycleGroup& child : group.children) SaveBelow(child, tried);
}

GroupSearch::Tried GroupSearch::Save(const CycleGroup& group, const GroupPlacement* placement,
                                     GroupResult result) const {
  Tried tried{placement, std::move(result), {}, {}};
  SaveBelow(group, &tried);
  return tried;
}

// Without what later placements have left.
void GroupSearch::Restore(const CycleGroup& group, const Tried& tried) {
  Reset(group);
  for (const auto& [index, member] : tried.members) members_[index] = member;
  for (const auto& [key, result] : tried.results) results_[key] = result;
}

// Of the groups that succeeded, as all above them.
bool GroupSearch::AssumeAgain(const CycleGroup& group) {
  const auto found = results_.find(group.key());
  if (found == results_.end() || found->second.status != GroupStatus::kSuccess) return true;
  for (const size_t index : group.members) {
    if (members_[index].state == TrialEnd::kPlaced && !Assume(index)) return false;
  }
  return std::all_of(group.children.begin(), group.children.end(),
                     [this](const CycleGroup& child) { return AssumeAgain(child); });
}

}  // namespace schedq
