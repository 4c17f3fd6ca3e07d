// The checks of StateJudge on groups: members that are queued stand together, and a pop of a group
// takes all of them, in order.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/format/trace/traced_pods.h"
#include "engine/base/result.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod_group.h"
#include "engine/queue_answers.h"
#include "tests/support/driver/state_judge.h"

namespace schedq {
namespace {

std::string NameOf(const GroupKey& group) { return group.namespace_name + "/" + group.name; }

// What the members of one group have in common while they are queued.
using Standing = std::tuple<Place, PluginId, Instant>;  // The expiration of those in backoff.

}  // namespace

bool StateJudge::Forbids(const TraceOperation& operation) const {
  if (!groups_.cycle()) return false;
  if (operation.op == TraceOp::kPop) return true;
  return operation.op == TraceOp::kFail && IsOfSinglePod(operation.pod_name);
}

bool StateJudge::IsOfSinglePod(const std::string& name) const {
  const auto found = replayer_.pods().entries().find(name);
  if (found == replayer_.pods().entries().end()) return false;
  const TracedPods::Entry& entry = found->second;
  if (entry.live != nullptr && !groups_.IsMember(*entry.live)) return true;
  return std::any_of(entry.in_flight.begin(), entry.in_flight.end(),
                     [&](const auto& incarnation) { return !groups_.IsMember(*incarnation.pod); });
}

void StateJudge::CheckMembers() {
  std::map<GroupKey, Standing> standing;
  std::map<Place, GroupCounts> expected;
  for (const auto& [name, live] : live_) {
    if (!groups_.IsMember(*live.pod) || flights_.contains(KeyOf(*live.pod))) continue;
    const PodWhereabouts& where = seen_.at(name);
    const std::optional<GroupKey> root = groups_.RootOf(*live.pod);
    const auto demand = [&, pod = name, place = where.place](bool holds, const std::string& what) {
      if (!holds) AddFault(pod + " is in " + std::string(PlaceName(place)) + ": " + what);
    };
    if (!root || root == groups_.cycle()) {
      const Place place = root ? Place::kPending : Place::kIncomplete;
      demand(where.place == place, "expected " + std::string(PlaceName(place)));
      continue;
    }
    const bool may_stand = where.place == Place::kActive || where.place == Place::kErrorBackoff ||
                           where.place == Place::kGated;
    demand(may_stand, "no place of a group");
    const Standing here = {where.place, where.fields.gating_plugin,
                           InBackoff(where.place)
                               ? where.fields.backoff_expiration.value_or(Instant::min())
                               : Instant::min()};
    const auto [first, is_new] = standing.try_emplace(*root, here);
    demand(first->second == here, "apart from its group " + NameOf(*root));
    if (is_new) ++expected[where.place].groups;
    ++expected[where.place].members;
  }
  const QueueCounts counts = replayer_.queue().Counts();
  for (const auto& [place, counted] :
       {std::pair(Place::kActive, counts.grouped_active),
        std::pair(Place::kErrorBackoff, counts.grouped_error_backoff),
        std::pair(Place::kGated, counts.grouped_gated)}) {
    if (counted == expected[place]) continue;
    AddFault(std::string(PlaceName(place)) + ": counted " + std::to_string(counted.groups) +
             " groups of " + std::to_string(counted.members) + " members, found " +
             std::to_string(expected[place].groups) + " of " +
             std::to_string(expected[place].members));
  }
}

void StateJudge::FollowPopOfGroup(const TraceOutcome& outcome) {
  const Result<GroupKey> root = replayer_.groups().Named(*outcome.popped_group);
  if (!root) return AddFault("popped a group that nobody named: " + *outcome.popped_group);
  if (groups_.cycle()) AddFault("popped " + NameOf(*root) + " inside a cycle");
  CheckPoppedMembers(*root, outcome.members);
  for (size_t i = 0; i < outcome.members.size(); ++i) {
    TakeOff(outcome.members[i], outcome.member_attempts[i]);
  }
  groups_.BeginCycle(*root);
}

// `seen_` still holds the state before the pop.
void StateJudge::CheckPoppedMembers(const GroupKey& root, const std::vector<std::string>& members) {
  std::vector<std::string> expected;
  for (const auto& [name, live] : live_) {
    const bool was_queued = seen_.at(name).place == Place::kActive;
    if (was_queued && groups_.IsMember(*live.pod) && groups_.RootOf(*live.pod) == root) {
      expected.push_back(name);
    }
  }
  const auto order = [&](const std::string& name) {
    const LivePod& live = live_.at(name);
    return std::tuple(live.pod->group_name, -int64_t{live.pod->priority},
                      -int64_t{live.account.attempts}, live.account.timestamp, name);
  };
  std::sort(expected.begin(), expected.end(),
            [&](const std::string& a, const std::string& b) { return order(a) < order(b); });
  for (std::string& name : expected) {
    name = replayer_.pods().DisplayName(replayer_.pods().entries().at(name));
  }
  if (expected == members) return;
  std::string text = "popped of " + NameOf(root) + ":";
  for (const std::string& name : members) text += " " + name;
  text += ", expected:";
  for (const std::string& name : expected) text += " " + name;
  AddFault(text);
}

// A pop takes from active whatever stands there, and never an entity of lower priority than
// another. Which of two groups is older only the engine knows.
void StateJudge::CheckPopAmongGroups() {
  std::optional<int32_t> highest;
  std::optional<int32_t> popped;
  bool is_from_active = true;
  for (const auto& [name, where] : before_) {
    const bool is_popped = std::find(popped_.begin(), popped_.end(), name) != popped_.end();
    if (is_popped && where.place != Place::kActive) is_from_active = false;
    if (where.place != Place::kActive) continue;
    const LivePod& live = live_.at(name);
    if (!is_popped && flights_.contains(KeyOf(*live.pod))) continue;
    const std::optional<GroupKey> root =
        groups_.IsMember(*live.pod) ? groups_.RootOf(*live.pod) : std::nullopt;
    const int32_t priority = root ? groups_.Find(*root)->priority : live.account.sorted_priority;
    highest = std::max(highest.value_or(priority), priority);
    if (is_popped) popped = priority;
  }
  if (!highest) return;
  if (popped_.empty() || !is_from_active) {
    AddFault("popped " + (popped_.empty() ? "nothing" : popped_.front()) +
             ", although active was not empty");
  } else if (popped < highest) {
    AddFault("popped " + popped_.front() + ", although one of higher priority was in active");
  }
}

}  // namespace schedq
