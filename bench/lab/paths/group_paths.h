// Pods that come, go, fail and wake each other as members of groups.
//
//   members -> assembled queue -> one group, active or gated  (join, delete)
//                              -> a gang that its last opens  (gang)
//                              -> gangs of ten, each waits for its last member (storm)
//                              -> one cycle in which all fail (cycle)
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/lab/paths/engine_stage.h"
#include "bench/lab/paths/measured_path.h"
#include "engine/pod.h"
#include "schedq/engine_kind.h"

namespace schedq {

enum class GroupOperation : uint8_t {
  kJoinActive,    // A member joins a group that is no gang, so all members are asked again.
  kJoinGated,     // A member joins a gang that stays gated, so nobody is asked.
  kGang,          // A member joins a gang, and what waits hears of it; the last opens it. One pop.
  kStorm,         // The last member of a gang of ten comes, among N / 10 gangs that wait.
  kDeleteActive,  // A member of an active group is deleted, and those that stay are asked again.
  kDeleteGated,   // A member of a gated gang is deleted, whose members have all been rejected.
  kCycle,         // A member fails in the one cycle of its group, which comes back with all.
};
inline constexpr GroupOperation kGroupOperations[] = {
    GroupOperation::kJoinActive, GroupOperation::kJoinGated,    GroupOperation::kGang,
    GroupOperation::kStorm,      GroupOperation::kDeleteActive, GroupOperation::kDeleteGated,
    GroupOperation::kCycle};
// "join/active", ...
std::string_view GroupOperationName(GroupOperation operation);

// Answer: every member is where the operation puts it, and where an operation must ask all members
// or nobody, so many questions were asked. `pods_judged` counts what GangScheduling was asked, its
// PreEnqueue function and its hints.
class GroupPath final : public MeasuredPath {
 public:
  // An operation is a member; that of a storm is a gang.
  GroupPath(EngineKind engine, GroupOperation operation, int64_t members);

  void Run() override;
  PathOutcome Outcome() override;

 private:
  int64_t GroupSize() const;
  void AddGroups();
  // Without the events that follow, so that a gated group stays unasked.
  void AddQuietly(const std::vector<PodRef>& pods);
  // So that their one group is active.
  void AddAtOnce(const std::vector<PodRef>& pods);
  void RunCycle();
  uint64_t QuestionsAsked() const;
  uint64_t FoundWhereExpected();
  // Of the run. -1: any number.
  int64_t QuestionsExpected() const;

  const GroupOperation operation_;
  const int64_t member_count_;
  EngineStage stage_;
  std::vector<PodRef> prepared_;  // Members that are there before the run.
  std::vector<PodRef> coming_;    // That come or go in the run.
  uint64_t asked_before_ = 0;
  uint64_t popped_members_ = 0;
};

}  // namespace schedq
