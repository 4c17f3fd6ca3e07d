// Goal: no two members, or a member and its group's object, miss each other, and the facts of a
// group are never those of another that had its number before.
// Method: two threads change and read the index on every schedule within bounds, and on many
// beyond, with stale reads. The index is dimensioned so that numbers are used again at once.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "engine/pod.h"
#include "engine/pod_group.h"
#include "hints/groups/group_index-inl.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using ModelIndex = BasicGroupIndex<model::Atomic>;

Pod MakeMember(const std::string& name, const std::string& group) {
  Pod pod;
  pod.namespace_name = "ns";
  pod.name = name;
  pod.uid = "uid-" + name;
  pod.group_name = group;
  return pod;
}

PodGroup MakeGroup(const std::string& name, int64_t min_count) {
  PodGroup group;
  group.key = {GroupKind::kPodGroup, "ns", name};
  group.min_count = min_count;
  return group;
}

// Both members of a gang come at once: if each missed the other, both would stay gated.
void MembersMeet(model::Trial& trial) {
  ModelIndex index(/*first_bits=*/1);
  index.See(MakeGroup("g", 2));
  bool is_complete[2] = {false, false};
  for (const int thread : {0, 1}) {
    trial.Thread([&, thread] {
      index.Join(MakeMember(thread == 0 ? "a" : "b", "g"));
      is_complete[thread] = index.Of("ns", "g").HasEnoughMembers();
    });
  }
  trial.Join();
  MODEL_CHECK(is_complete[0] || is_complete[1], "one of the two finds the other");
  MODEL_CHECK(index.Of("ns", "g").members == 2, "both are counted");
}

void MemberMeetsObject(model::Trial& trial) {
  ModelIndex index(/*first_bits=*/1);
  bool member_saw = false;
  bool object_saw = false;
  trial.Thread([&] {
    index.Join(MakeMember("a", "g"));
    member_saw = index.Of("ns", "g").HasEnoughMembers();
  });
  trial.Thread([&] {
    index.See(MakeGroup("g", 1));
    object_saw = index.Of("ns", "g").HasEnoughMembers();
  });
  trial.Join();
  MODEL_CHECK(member_saw || object_saw, "one of the two finds the other");
}

// One group's number, and one member's, go to another while the first is asked about.
void NumbersAreUsedAgain(model::Trial& trial) {
  ModelIndex index(/*first_bits=*/1);
  index.Join(MakeMember("old", "a"));
  trial.Thread([&] {
    index.Leave(MakeMember("old", "a"));
    index.See(MakeGroup("b", 1));
    index.Join(MakeMember("new", "b"));
    index.Join(MakeMember("newer", "b"));
  });
  trial.Thread([&] {
    const GroupFacts facts = index.Of("ns", "a");
    MODEL_CHECK(!facts.is_known && facts.members <= 1, "the facts of a group are its own");
  });
  trial.Join();
  MODEL_CHECK(index.Of("ns", "b").members == 2 && index.Of("ns", "b").is_known,
              "what came is there");
  MODEL_CHECK(index.size() == 1, "what went was given back");
}

constexpr int kSweeps = 20000;

TEST(GroupIndexModel, MembersMeetOnEverySchedule) {
  const model::Report report = model::Exhaust(
      {.name = "members meet", .preemptions_max = 2, .stale_reads_max = 1, .weak_failures_max = 0},
      MembersMeet);
  model::ExpectExhausted(report, 1000);
}

TEST(GroupIndexModel, MemberMeetsObjectOnEverySchedule) {
  const model::Report report = model::Exhaust({.name = "member meets object",
                                               .preemptions_max = 2,
                                               .stale_reads_max = 1,
                                               .weak_failures_max = 0},
                                              MemberMeetsObject);
  model::ExpectExhausted(report, 1000);
}

TEST(GroupIndexModel, NumbersAreUsedAgainOnSeededSchedules) {
  const model::Report report =
      model::Sweep({.name = "numbers used again"}, kSweeps, NumbersAreUsedAgain);
  EXPECT_TRUE(report.passed()) << report;
}

// Lock-freedom: whichever thread is frozen at whichever step, the other finishes.
TEST(GroupIndexModel, NoThreadWaitsForAFrozenOne) {
  const model::Report report = model::ExhaustStalls(
      {.name = "frozen", .preemptions_max = 0, .stale_reads_max = 0, .weak_failures_max = 0},
      MemberMeetsObject);
  EXPECT_TRUE(report.passed()) << report;
  EXPECT_GT(report.freezes, 50u);
}

}  // namespace
}  // namespace schedq
