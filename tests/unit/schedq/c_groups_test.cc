// Goal: groups of pods through the C interface: objects, members, attempts, counts and places, and
// callers that know nothing of them. Method: each function on both engines, with right and wrong
// arguments, and structs as the version before groups had them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/names/interner.h"
#include "schedq/schedq.h"

namespace schedq {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StrEq;

class CGroups : public testing::TestWithParam<const char*> {
 protected:
  CGroups() { Make({{"GenericWorkload", 1}, {"CompositePodGroup", 1}}); }
  ~CGroups() override { schedq_queue_destroy(queue_); }

  void Make(const std::vector<schedq_gate>& gates) {
    schedq_queue_destroy(queue_);
    schedq_queue_options options = {};
    options.size = sizeof(options);
    options.engine = GetParam();
    options.gates = gates.data();
    options.gate_count = gates.size();
    EXPECT_EQ(schedq_queue_create(&options, &queue_), SCHEDQ_OK) << Why();
  }

  static schedq_pod Member(const char* name) {
    schedq_pod pod = {};
    pod.size = sizeof(pod);
    pod.namespace_name = "ns";
    pod.name = name;
    pod.uid = name;
    pod.group = "g";
    return pod;
  }
  static schedq_group Group(int64_t min_count, const char* name = "g") {
    schedq_group group = {};
    group.size = sizeof(group);
    group.namespace_name = "ns";
    group.name = name;
    group.min_count = min_count;
    return group;
  }
  void Add(const char* name) {
    const schedq_pod pod = Member(name);
    ASSERT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_OK) << Why();
  }
  void AddGroup(const schedq_group& group) {
    ASSERT_EQ(schedq_queue_group_changed(queue_, nullptr, &group), SCHEDQ_OK) << Why();
  }
  // A gang of a, b and c, popped.
  schedq_attempt* PopGang() {
    AddGroup(Group(3));
    for (const char* name : {"a", "b", "c"}) Add(name);
    return Pop();
  }
  schedq_attempt* Pop() {
    schedq_attempt* attempt = nullptr;
    EXPECT_EQ(schedq_queue_try_pop(queue_, &attempt), SCHEDQ_OK);
    return attempt;
  }
  static schedq_attempt* Take(schedq_attempt* group, size_t i) {
    schedq_attempt* member = nullptr;
    EXPECT_EQ(schedq_attempt_take_member(group, i, &member), SCHEDQ_OK) << Why();
    return member;
  }
  schedq_place PlaceOf(const char* name) {
    schedq_place place = SCHEDQ_PLACE_ABSENT;
    EXPECT_EQ(schedq_queue_where(queue_, "ns", name, &place), SCHEDQ_OK);
    return place;
  }
  schedq_counts Counts() {
    schedq_counts counts = {};
    counts.size = sizeof(counts);
    EXPECT_EQ(schedq_queue_counts(queue_, &counts), SCHEDQ_OK);
    return counts;
  }
  // "" when it is taken.
  std::string Refusal(const schedq_group& group) {
    const schedq_status status = schedq_queue_group_changed(queue_, nullptr, &group);
    return status == SCHEDQ_INVALID ? Why() : "";
  }
  static std::string Why() { return schedq_last_error(); }

  schedq_queue* queue_ = nullptr;
};

TEST_P(CGroups, LeadsAGangThroughItsLife) {
  Add("a");
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_INCOMPLETE);
  EXPECT_EQ(Counts().incomplete, 1u);
  AddGroup(Group(3));
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_GATED);
  Add("b");
  Add("c");
  schedq_attempt* const attempt = Pop();
  EXPECT_EQ(schedq_attempt_pod(attempt), nullptr);
  EXPECT_EQ(schedq_attempt_count(attempt), 1u);
  schedq_group group = {};
  group.size = sizeof(group);
  ASSERT_EQ(schedq_attempt_group(attempt, &group), SCHEDQ_OK);
  EXPECT_EQ(group.kind, SCHEDQ_GROUP_POD_GROUP);
  EXPECT_THAT(group.namespace_name, StrEq("ns"));
  EXPECT_THAT(group.name, StrEq("g"));

  ASSERT_EQ(schedq_attempt_member_count(attempt), 3u);
  std::vector<std::string> names;
  for (size_t i = 0; i < 3; ++i) {
    schedq_attempt* const member = Take(attempt, i);
    const schedq_pod_view* const view = schedq_attempt_pod(member);
    names.emplace_back(schedq_pod_name_of(view));
    EXPECT_THAT(view->functions->text(view, SCHEDQ_POD_GROUP), StrEq("g"));
    EXPECT_EQ(schedq_attempt_member_count(member), 0u);
    const char* const rejector = "NodeAffinity";
    EXPECT_EQ(
        i < 2 ? schedq_attempt_bind(member) : schedq_attempt_fail(member, &rejector, 1, nullptr, 0),
        SCHEDQ_OK)
        << Why();
    schedq_attempt_release(member);
  }
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(PlaceOf("c"), SCHEDQ_PLACE_PENDING);
  EXPECT_EQ(Counts().pending, 1u);
  EXPECT_EQ(schedq_attempt_end_group(attempt, SCHEDQ_GROUP_SUCCESS), SCHEDQ_OK);
  EXPECT_EQ(PlaceOf("c"), SCHEDQ_PLACE_ACTIVE);
  EXPECT_EQ(schedq_attempt_end_group(attempt, SCHEDQ_GROUP_SUCCESS), SCHEDQ_ENDED);
  EXPECT_EQ(Why(), "attempt of group ns/g: it has ended already");
  schedq_attempt_release(attempt);
}

TEST_P(CGroups, GroupsChangeAndGo) {
  const schedq_group first = Group(2);
  const schedq_group second = Group(1);
  AddGroup(first);
  Add("a");
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_GATED);
  EXPECT_EQ(schedq_queue_group_changed(queue_, &first, &second), SCHEDQ_OK);
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_ACTIVE);
  EXPECT_EQ(schedq_queue_group_changed(queue_, &second, nullptr), SCHEDQ_OK);
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_INCOMPLETE);
}

TEST_P(CGroups, ATreeIsPoppedByItsRoot) {
  schedq_group composite = Group(0, "tree");
  composite.kind = SCHEDQ_GROUP_COMPOSITE;
  composite.priority = 5;
  schedq_group leaf = Group(0);
  leaf.parent = "tree";
  AddGroup(leaf);
  Add("a");
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_INCOMPLETE);
  AddGroup(composite);
  schedq_attempt* const attempt = Pop();
  schedq_group root = {};
  root.size = sizeof(root);
  ASSERT_EQ(schedq_attempt_group(attempt, &root), SCHEDQ_OK);
  EXPECT_EQ(root.kind, SCHEDQ_GROUP_COMPOSITE);
  EXPECT_THAT(root.name, StrEq("tree"));
  EXPECT_EQ(root.priority, 0) << "not told, as the comment says";
  schedq_attempt_release(attempt);
}

TEST_P(CGroups, EachMemberIsTakenOnce) {
  schedq_attempt* const attempt = PopGang();
  schedq_attempt* const second = Take(attempt, 1);
  EXPECT_THAT(schedq_pod_name_of(schedq_attempt_pod(second)), StrEq("b"));
  schedq_attempt* again = second;
  EXPECT_EQ(schedq_attempt_take_member(attempt, 1, &again), SCHEDQ_NOTHING);
  EXPECT_EQ(again, nullptr);
  EXPECT_EQ(schedq_attempt_take_member(attempt, 3, &again), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "member 3: the group has 3 of them, counted from 0");
  EXPECT_EQ(schedq_attempt_take_member(attempt, 0, nullptr), SCHEDQ_INVALID);
  EXPECT_EQ(schedq_attempt_done(second), SCHEDQ_OK);
  // Those that were not taken fail before the cycle ends, and so come back with it.
  EXPECT_EQ(schedq_attempt_end_group(attempt, SCHEDQ_GROUP_UNSCHEDULABLE), SCHEDQ_OK);
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_ERROR_BACKOFF);
  EXPECT_EQ(PlaceOf("c"), SCHEDQ_PLACE_ERROR_BACKOFF);
  EXPECT_EQ(schedq_attempt_take_member(attempt, 0, &again), SCHEDQ_ENDED);
  EXPECT_EQ(schedq_attempt_member_count(attempt), 3u);
  schedq_attempt_release(attempt);
  // A member outlives the handle of its group.
  EXPECT_EQ(schedq_attempt_bind(second), SCHEDQ_OK);
  schedq_attempt_release(second);
  EXPECT_EQ(Counts().in_flight, 0u);
}

TEST_P(CGroups, ReleasedBeforeItsEndItFailsAsAnError) {
  schedq_attempt* const attempt = PopGang();
  schedq_attempt_release(Take(attempt, 0));
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_PENDING);
  EXPECT_EQ(Counts().in_flight, 2u);
  schedq_attempt_release(attempt);
  EXPECT_EQ(Counts().in_flight, 0u);
  EXPECT_EQ(Counts().error_backoff, 3u);
}

TEST_P(CGroups, WhatIsForTheOtherKindIsRefused) {
  schedq_attempt* const attempt = PopGang();
  EXPECT_EQ(schedq_attempt_fail(attempt, nullptr, 0, nullptr, 0), SCHEDQ_INVALID);
  EXPECT_THAT(Why(), HasSubstr("attempt of group ns/g: expected TakeMembers or EndGroup"));
  EXPECT_EQ(schedq_attempt_done(attempt), SCHEDQ_INVALID);
  EXPECT_EQ(schedq_attempt_bind(attempt), SCHEDQ_INVALID);
  EXPECT_EQ(schedq_attempt_end_group(attempt, static_cast<schedq_group_status>(3)), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "status is 3, expected one of schedq_group_status");
  EXPECT_EQ(Counts().in_flight, 3u);
  schedq_attempt* const member = Take(attempt, 0);
  schedq_attempt* none = nullptr;
  schedq_group group = {};
  group.size = sizeof(group);
  EXPECT_EQ(schedq_attempt_take_member(member, 0, &none), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "the attempt is that of a pod, expected one of a group");
  EXPECT_EQ(schedq_attempt_end_group(member, SCHEDQ_GROUP_SUCCESS), SCHEDQ_INVALID);
  EXPECT_EQ(schedq_attempt_group(member, &group), SCHEDQ_INVALID);
  schedq_attempt_release(member);
  schedq_attempt_release(attempt);
}

TEST_P(CGroups, WrongGroupsAreRefused) {
  EXPECT_EQ(schedq_queue_group_changed(queue_, nullptr, nullptr), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "one of before and after is null");
  const schedq_group good = Group(1);
  const schedq_group other = Group(1, "h");
  EXPECT_EQ(schedq_queue_group_changed(nullptr, nullptr, &good), SCHEDQ_INVALID);
  EXPECT_EQ(schedq_queue_group_changed(queue_, &good, &other), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "group h is another than g, expected versions of one group");
  EXPECT_EQ(Refusal(Group(1, "")), "group: name is empty");
  schedq_group group = Group(1);
  group.namespace_name = nullptr;
  EXPECT_EQ(Refusal(group), "group g: namespace_name is empty, expected one such as default");
  EXPECT_EQ(Refusal(Group(-1)), "group ns/g: min_count is -1, expected 0 or more");
  group = Group(1);
  group.kind = 2;
  EXPECT_EQ(Refusal(group), "group ns/g: kind is 2, expected one of schedq_group_kind");
  group.kind = SCHEDQ_GROUP_COMPOSITE;
  EXPECT_EQ(Refusal(group), "group ns/g: min_count is 1, expected 0 for a composite");
  const std::string long_name(Interner::kTextBytesMax - 2, 'x');
  EXPECT_THAT(Refusal(Group(1, long_name.c_str())), HasSubstr("more bytes than names may have"));
  group = Group(1);
  group.parent = long_name.c_str();
  EXPECT_THAT(Refusal(group), HasSubstr("more bytes than names may have"));
}

TEST_P(CGroups, WrongMembersAreRefused) {
  schedq_pod pod = Member("a");
  pod.uid = nullptr;
  EXPECT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "pod ns/a: uid is empty, expected one for the member of a group");
  const std::string long_name(Interner::kTextBytesMax + 1, 'x');
  pod.uid = long_name.c_str();
  EXPECT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "pod ns/a: uid: it has more bytes than names may have");
  pod = Member("a");
  pod.group = long_name.c_str();
  EXPECT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_INVALID);
  EXPECT_EQ(Why(), "pod: pod ns/a: its group's name has 16777230 bytes, expected at most 16777215");
}

// Of the version before groups.
TEST_P(CGroups, TakesStructsThatKnowNothingOfGroups) {
  schedq_pod pod = Member("a");
  pod.size = offsetof(schedq_pod, group);  // What follows is not there for this caller.
  ASSERT_EQ(schedq_queue_pod_add(queue_, &pod), SCHEDQ_OK) << Why();
  EXPECT_EQ(PlaceOf("a"), SCHEDQ_PLACE_ACTIVE);
  Add("b");
  schedq_counts counts = {};
  counts.size = offsetof(schedq_counts, incomplete);
  counts.incomplete = 99;
  ASSERT_EQ(schedq_queue_counts(queue_, &counts), SCHEDQ_OK);
  EXPECT_EQ(counts.active, 1u);
  EXPECT_EQ(counts.incomplete, 99u);
  EXPECT_EQ(counts.size, 56u) << "the size that this struct had";
  EXPECT_EQ(pod.size, 216u);
}

TEST_P(CGroups, WithTheGateOffAMemberIsAPod) {
  Make({});
  AddGroup(Group(3));
  Add("a");
  schedq_attempt* const attempt = Pop();
  EXPECT_THAT(schedq_pod_name_of(schedq_attempt_pod(attempt)), StrEq("a"));
  EXPECT_EQ(schedq_attempt_member_count(attempt), 0u);
  schedq_attempt_release(attempt);
}

INSTANTIATE_TEST_SUITE_P(Engines, CGroups, testing::Values("lockfree", "classic"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace schedq
