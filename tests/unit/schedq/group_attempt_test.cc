// Goal: an attempt of a group ends once, gives each of its members once, and loses none of them.
// Method: every way out of every state, on both engines, with gangs of three.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod_group.h"
#include "engine/queueing_fields.h"
#include "schedq/attempt.h"
#include "schedq/engine_kind.h"
#include "tests/unit/schedq/group_fixture.h"
#include "tests/unit/schedq/queue_fixture.h"

namespace schedq {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class GroupAttemptTest : public GroupFixture {
 protected:
  void SetUp() override { Make(OptionsOfGroups()); }

  Attempt PopGang() {
    AddGang(3);
    return *queue_->TryPop();
  }
  std::vector<Place> Places() const { return {PlaceOf("a"), PlaceOf("b"), PlaceOf("c")}; }
  static std::vector<std::string> NamesOf(const std::vector<Attempt>& members) {
    std::vector<std::string> names;
    for (const Attempt& member : members) names.push_back(member.pod().name);
    return names;
  }
  // How the group's own count of errors and failures stands after its cycle.
  QueueingFields FieldsAfterNextPop() {
    clock_.AdvanceBy(std::chrono::minutes(1));
    queue_->FlushBackoff();
    return queue_->TryPop()->popped().fields;
  }
};

TEST_P(GroupAttemptTest, SaysWhatItIsAbout) {
  AddGang(3);
  const Attempt attempt = *queue_->TryPop();
  EXPECT_TRUE(attempt.is_group());
  EXPECT_EQ(attempt.group().root, NewGroup(3)->key);
  EXPECT_EQ(attempt.group().members.size(), 3u);
  EXPECT_EQ(attempt.attempts(), 1u);
  EXPECT_FALSE(attempt.is_ended());
  EXPECT_EQ(queue_->Counts().in_flight, 3u);
}

TEST_P(GroupAttemptTest, APodsIsNone) {
  MustSucceed(queue_->PodAdded(NewPod("a")));
  Attempt attempt = *queue_->TryPop();
  EXPECT_FALSE(attempt.is_group());
  EXPECT_THAT(attempt.TakeMembers(), IsEmpty());
  const Status ended = attempt.EndGroup(GroupStatus::kSuccess);
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().message(), "attempt of pod ns/a: it is no group, which EndGroup is for");
  EXPECT_TRUE(attempt.Bind().ok());
  EXPECT_EQ(attempt.EndGroup(GroupStatus::kSuccess).error().message(),
            "attempt of pod ns/a: it has ended already");
}

TEST_P(GroupAttemptTest, GivesItsMembersOnce) {
  Attempt attempt = PopGang();
  std::vector<Attempt> members = attempt.TakeMembers();
  EXPECT_THAT(NamesOf(members), ElementsAre("a", "b", "c"));
  for (const Attempt& member : members) {
    EXPECT_FALSE(member.is_group());
    EXPECT_FALSE(member.is_ended());
    EXPECT_EQ(member.attempts(), 1u);
    EXPECT_EQ(&member.queue(), queue_.get());
  }
  EXPECT_THAT(attempt.TakeMembers(), IsEmpty());
}

// Two go to their nodes, one of them later than the cycle's end; the third alone comes back.
TEST_P(GroupAttemptTest, MembersEndByThemselves) {
  Attempt attempt = PopGang();
  std::vector<Attempt> members = attempt.TakeMembers();
  EXPECT_TRUE(members[0].Bind().ok());
  EXPECT_TRUE(members[1].Done().ok());
  EXPECT_TRUE(members[2].Fail(Named("Listener")).ok());
  EXPECT_THAT(Places(), ElementsAre(Place::kAbsent, Place::kAbsent, Place::kPending));
  EXPECT_TRUE(attempt.EndGroup(GroupStatus::kSuccess).ok());
  EXPECT_TRUE(attempt.is_ended());
  EXPECT_EQ(PlaceOf("c"), Place::kActive);
  EXPECT_EQ(queue_->Where("ns/c").fields.unschedulable_plugins, Named("Listener"));
  EXPECT_TRUE(members[1].Bind().ok());
  Attempt again = *queue_->TryPop();
  EXPECT_EQ(again.attempts(), 2u);
  EXPECT_THAT(NamesOf(again.TakeMembers()), ElementsAre("c"));
}

// A member that comes during the cycle waits for its end, which waits for no member in flight.
TEST_P(GroupAttemptTest, TheCycleDoesNotWaitForABinding) {
  Attempt attempt = PopGang();
  std::vector<Attempt> members = attempt.TakeMembers();
  for (Attempt& member : members) EXPECT_TRUE(member.Done().ok());
  MustSucceed(queue_->PodChanged(nullptr, NewMember("d")));
  EXPECT_EQ(PlaceOf("d"), Place::kPending);
  EXPECT_TRUE(attempt.EndGroup(GroupStatus::kSuccess).ok());
  EXPECT_EQ(PlaceOf("d"), Place::kActive);
  // A binding that fails brings its pod to its group.
  EXPECT_TRUE(members[1].Fail(PluginSet()).ok());
  Attempt again = *queue_->TryPop();
  EXPECT_THAT(NamesOf(again.TakeMembers()), UnorderedElementsAre("b", "d"));
}

TEST_P(GroupAttemptTest, MembersThatWereNotTakenFailWithTheCycle) {
  for (const GroupStatus status :
       {GroupStatus::kSuccess, GroupStatus::kUnschedulable, GroupStatus::kError}) {
    SetUp();
    Attempt attempt = PopGang();
    EXPECT_TRUE(attempt.EndGroup(status).ok());
    const Place place = status == GroupStatus::kSuccess ? Place::kActive : Place::kErrorBackoff;
    EXPECT_THAT(Places(), ElementsAre(place, place, place));
    EXPECT_TRUE(queue_->Where("ns/a").fields.unschedulable_plugins.empty());
    EXPECT_EQ(queue_->Counts().in_flight, 0u);
    const QueueingFields fields = FieldsAfterNextPop();
    EXPECT_EQ(fields.unschedulable_count, status == GroupStatus::kUnschedulable ? 1u : 0u);
    EXPECT_EQ(fields.consecutive_errors, status == GroupStatus::kError ? 1u : 0u);
  }
}

TEST_P(GroupAttemptTest, DroppedItFailsAsAnError) {
  { const Attempt attempt = PopGang(); }
  EXPECT_THAT(Places(),
              ElementsAre(Place::kErrorBackoff, Place::kErrorBackoff, Place::kErrorBackoff));
  EXPECT_EQ(queue_->Counts().in_flight, 0u);
  EXPECT_EQ(FieldsAfterNextPop().consecutive_errors, 1u);
}

TEST_P(GroupAttemptTest, DroppedAfterItsMembersWereTakenItEndsItsCycleAsAnError) {
  std::vector<Attempt> members;
  {
    Attempt attempt = PopGang();
    members = attempt.TakeMembers();
    EXPECT_TRUE(members[0].Fail(Named("Listener")).ok());
  }
  EXPECT_THAT(Places(), ElementsAre(Place::kErrorBackoff, Place::kInFlight, Place::kInFlight));
  EXPECT_TRUE(members[1].Bind().ok());
  members.clear();
  EXPECT_THAT(Places(), ElementsAre(Place::kErrorBackoff, Place::kAbsent, Place::kErrorBackoff));
  EXPECT_EQ(FieldsAfterNextPop().consecutive_errors, 1u);
}

TEST_P(GroupAttemptTest, MembersThatAreDroppedComeBackWithTheirGroup) {
  Attempt attempt = PopGang();
  attempt.TakeMembers().clear();
  EXPECT_THAT(Places(), ElementsAre(Place::kPending, Place::kPending, Place::kPending));
  EXPECT_TRUE(attempt.EndGroup(GroupStatus::kUnschedulable).ok());
  EXPECT_EQ(queue_->Counts().error_backoff, 3u);
}

TEST_P(GroupAttemptTest, WhatIsForPodsIsRefused) {
  Attempt attempt = PopGang();
  const std::string expected =
      "attempt of group ns/g: expected TakeMembers or EndGroup, the others are for pods";
  for (const bool were_taken : {false, true}) {
    std::vector<Attempt> members;
    if (were_taken) members = attempt.TakeMembers();
    for (const Status& status : {attempt.Fail(PluginSet()), attempt.Fail(Named("Listener")),
                                 attempt.Done(), attempt.Abandon(), attempt.BeginBinding({}),
                                 attempt.Bind(), attempt.SendBinding("node")}) {
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().message(), expected);
    }
    EXPECT_FALSE(attempt.is_ended());
    EXPECT_EQ(queue_->Counts().in_flight, 3u);
  }
}

TEST_P(GroupAttemptTest, EndsOnce) {
  Attempt attempt = PopGang();
  EXPECT_TRUE(attempt.EndGroup(GroupStatus::kUnschedulable).ok());
  const std::string expected = "attempt of group ns/g: it has ended already";
  for (const Status& status :
       {attempt.EndGroup(GroupStatus::kError), attempt.Fail(PluginSet()), attempt.Bind()}) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message(), expected);
  }
  EXPECT_THAT(attempt.TakeMembers(), IsEmpty());
  EXPECT_EQ(FieldsAfterNextPop().unschedulable_count, 1u);
}

TEST_P(GroupAttemptTest, MovedFromIsNoAttempt) {
  Attempt first = PopGang();
  Attempt second = std::move(first);
  // NOLINTBEGIN(bugprone-use-after-move): that is the test.
  EXPECT_EQ(first.EndGroup(GroupStatus::kSuccess).error().message(), "attempt: it was moved from");
  EXPECT_THAT(first.TakeMembers(), IsEmpty());
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(second.TakeMembers().size(), 3u);
}

TEST_P(GroupAttemptTest, AssignedToEndsAsIfDropped) {
  MustSucceed(queue_->PodChanged(nullptr, NewPod("single")));
  Attempt attempt = *queue_->TryPop();
  AddGang(3);
  attempt = *queue_->TryPop();
  EXPECT_EQ(PlaceOf("single"), Place::kErrorBackoff);
  ASSERT_TRUE(attempt.is_group());
  MustSucceed(queue_->PodChanged(nullptr, NewPod("other")));
  attempt = *queue_->TryPop();
  EXPECT_FALSE(attempt.is_group());
  EXPECT_EQ(queue_->Counts().error_backoff, 4u);
  EXPECT_TRUE(attempt.Bind().ok());
}

TEST_P(GroupAttemptTest, MembersThatAreDeletedMeanwhileDoNotComeBack) {
  Attempt attempt = PopGang();
  queue_->PodDeleted(NewMember("b"));
  EXPECT_TRUE(attempt.EndGroup(GroupStatus::kSuccess).ok());
  EXPECT_EQ(PlaceOf("b"), Place::kAbsent);
  EXPECT_EQ(queue_->Counts().in_flight, 0u);
  // Two of three: the gang waits again.
  EXPECT_EQ(queue_->Counts().gated, 2u);
}

TEST_P(GroupAttemptTest, OfAClosedQueueItEndsQuietly) {
  Attempt attempt = PopGang();
  queue_->Close();
  EXPECT_TRUE(attempt.EndGroup(GroupStatus::kError).ok());
  EXPECT_EQ(queue_->Counts().in_flight, 0u);
}

INSTANTIATE_TEST_SUITE_P(Engines, GroupAttemptTest, testing::ValuesIn(AllEngines()), EngineOf);

}  // namespace
}  // namespace schedq
