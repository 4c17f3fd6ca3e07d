#include "bench/lab/paths/group_paths.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/pod_group.h"
#include "engine/queue_answers.h"
#include "schedq/assembled_queue.h"
#include "schedq/attempt.h"

namespace schedq {
namespace {

constexpr int64_t kStormGang = 10;
constexpr const char* kPlugin = "GangScheduling";

// Member i is one of group i / group_size.
std::vector<PodRef> MakeMembers(int64_t count, int64_t group_size) {
  std::vector<PodRef> members;
  members.reserve(static_cast<size_t>(count));
  for (const PodRef& pod : MakePods(count, ClaimUse::kNone)) {
    auto member = std::make_shared<Pod>(*pod);
    const auto number = static_cast<int64_t>(members.size()) / group_size;
    member->group_name = "group-" + std::to_string(number);
    members.push_back(std::move(member));
  }
  return members;
}

PodGroupRef MakeGroup(int64_t number, int64_t min_count) {
  auto group = std::make_shared<PodGroup>();
  group->key = {GroupKind::kPodGroup, "benchmark", "group-" + std::to_string(number)};
  group->min_count = min_count;
  return group;
}

bool StaysGated(GroupOperation operation) {
  return operation == GroupOperation::kJoinGated || operation == GroupOperation::kDeleteGated;
}

int64_t GroupSizeOf(GroupOperation operation, int64_t members) {
  return operation == GroupOperation::kStorm ? std::min(members, kStormGang) : members;
}

}  // namespace

std::string_view GroupOperationName(GroupOperation operation) {
  constexpr std::string_view kNames[] = {"join/active",   "join/gated",   "gang", "storm",
                                         "delete/active", "delete/gated", "cycle"};
  return kNames[static_cast<size_t>(operation)];
}

GroupPath::GroupPath(EngineKind engine, GroupOperation operation, int64_t members)
    : operation_(operation),
      member_count_(members),
      stage_(StageOptions{.engine = engine, .has_groups = true}) {
  std::vector<PodRef> all = MakeMembers(members, GroupSize());
  AddGroups();
  switch (operation_) {
    case GroupOperation::kJoinActive:
    case GroupOperation::kJoinGated:
    case GroupOperation::kGang:
      coming_ = std::move(all);
      break;
    case GroupOperation::kStorm:
      for (size_t i = 0; i < all.size(); ++i) {
        const bool is_last = (i + 1) % kStormGang == 0 || i + 1 == all.size();
        (is_last ? coming_ : prepared_).push_back(std::move(all[i]));
      }
      break;
    case GroupOperation::kDeleteActive:
    case GroupOperation::kDeleteGated:
      prepared_ = all;
      coming_ = std::move(all);
      break;
    case GroupOperation::kCycle:
      prepared_ = std::move(all);
      break;
  }
  const bool is_active =
      operation_ == GroupOperation::kDeleteActive || operation_ == GroupOperation::kCycle;
  is_active ? AddAtOnce(prepared_) : AddQuietly(prepared_);
  // Any event, so that each member has been rejected.
  if (operation_ == GroupOperation::kDeleteGated)
    stage_.assembled->Event(MakeEvent(Resource::kWildcard, Action::kAll), {});
  Random(1).Shuffle(coming_);
  asked_before_ = QuestionsAsked();
}

int64_t GroupPath::GroupSize() const { return GroupSizeOf(operation_, member_count_); }

// A gang that is to stay gated needs one member more than there are.
void GroupPath::AddGroups() {
  for (int64_t first = 0; first < member_count_; first += GroupSize()) {
    const int64_t size = std::min(GroupSize(), member_count_ - first);
    const int64_t min_count = operation_ == GroupOperation::kJoinActive ? 0
                              : StaysGated(operation_)                  ? size + 1
                                                                        : size;
    stage_.assembled->GroupChanged(nullptr, MakeGroup(first / GroupSize(), min_count));
  }
}

// The last member opens the group, which is no gang from then on: members that joined an active
// group one by one would ask all again each time.
void GroupPath::AddAtOnce(const std::vector<PodRef>& pods) {
  AssembledQueue& queue = *stage_.assembled;
  AddQuietly({pods.begin(), pods.end() - 1});
  MustSucceed(queue.PodChanged(nullptr, pods.back()));
  queue.GroupUpdated(MakeGroup(0, 0));
}

void GroupPath::AddQuietly(const std::vector<PodRef>& pods) {
  for (const PodRef& pod : pods) MustSucceed(stage_.assembled->PodAdded(pod));
}

void GroupPath::Run() {
  AssembledQueue& queue = *stage_.assembled;
  switch (operation_) {
    case GroupOperation::kJoinGated:
      return AddQuietly(coming_);
    case GroupOperation::kDeleteActive:
    case GroupOperation::kDeleteGated:
      for (const PodRef& pod : coming_) MustSucceed(queue.PodChanged(pod, nullptr));
      return;
    case GroupOperation::kCycle:
      return RunCycle();
    default:
      for (const PodRef& pod : coming_) MustSucceed(queue.PodChanged(nullptr, pod));
  }
  if (operation_ != GroupOperation::kGang) return;
  const std::optional<Attempt> popped = queue.TryPop();
  if (popped && popped->is_group()) popped_members_ = popped->group().members.size();
}

void GroupPath::RunCycle() {
  std::optional<Attempt> cycle = stage_.assembled->TryPop();
  for (Attempt& member : cycle->TakeMembers()) {
    MustSucceed(member.Fail(stage_.PluginNamed("NodeResourcesFit")));
    ++popped_members_;
  }
  MustSucceed(cycle->EndGroup(GroupStatus::kSuccess));
}

uint64_t GroupPath::QuestionsAsked() const {
  uint64_t asked = stage_.HintsAsked(kPlugin, MakeEvent(Resource::kUnscheduledPod, Action::kAdd));
  for (const char* answer : {"Success", "UnschedulableAndUnresolvable"}) {
    const auto histogram = stage_.assembled->metrics().HistogramAt(
        "scheduler_plugin_execution_duration_seconds", {kPlugin, "PreEnqueue", answer});
    if (histogram) asked += histogram->count;
  }
  return asked;
}

uint64_t GroupPath::FoundWhereExpected() {
  const QueueCounts counts = stage_.queue().Counts();
  switch (operation_) {
    case GroupOperation::kJoinGated:
      return counts.gated;
    case GroupOperation::kGang:
      return popped_members_;
    case GroupOperation::kDeleteActive:
    case GroupOperation::kDeleteGated:
      return counts == QueueCounts() ? coming_.size() : 0;
    case GroupOperation::kCycle:
      return std::min(counts.active, popped_members_);
    default:
      return counts.active;
  }
}

int64_t GroupPath::QuestionsExpected() const {
  const int64_t n = member_count_;
  switch (operation_) {
    case GroupOperation::kJoinActive:
      return n * (n + 1) / 2;
    case GroupOperation::kJoinGated:
      return 1;  // The first is the group.
    case GroupOperation::kDeleteActive:
      return n * (n - 1) / 2;
    case GroupOperation::kDeleteGated:
      return 0;
    case GroupOperation::kCycle:
      return n;
    default:
      return -1;
  }
}

PathOutcome GroupPath::Outcome() {
  PathOutcome outcome;
  outcome.pods_judged = QuestionsAsked() - asked_before_;
  outcome.operations = operation_ == GroupOperation::kCycle ? prepared_.size() : coming_.size();
  if (FoundWhereExpected() != static_cast<uint64_t>(member_count_)) {
    outcome.fault = "a member is not where the operation puts it";
  }
  const int64_t expected = QuestionsExpected();
  if (expected >= 0 && outcome.pods_judged != static_cast<uint64_t>(expected)) {
    outcome.fault = "other members were asked about than should be";
  }
  return outcome;
}

}  // namespace schedq
