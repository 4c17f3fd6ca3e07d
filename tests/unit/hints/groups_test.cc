// Goal: what the world says of groups is what the changes said: which objects are known, with which
// minimum, and how many pods were added and not deleted.
// Method: single changes; the index against a plain map under random changes, also told twice;
// threads that come and go at once, checked at the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "hints/groups/group_index.h"
#include "hints/world.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

class HintsGroupsTest : public testing::Test {
 protected:
  GroupFacts Of(const std::string& group, const std::string& space = "ns") const {
    return world_.groups().Of(space, group);
  }

  Interner names_;
  World world_{&names_};
};

TEST_F(HintsGroupsTest, AGroupIsKnownFromItsFirstSightToItsDeletion) {
  EXPECT_FALSE(Of("g").is_known);
  world_.GroupSeen(MakeGroup("g", 3));
  EXPECT_TRUE(Of("g").is_known);
  EXPECT_EQ(Of("g").min_count, 3);
  EXPECT_FALSE(Of("g", "other").is_known);
  world_.GroupSeen(MakeGroup("g", 0));
  EXPECT_TRUE(Of("g").is_known);
  EXPECT_EQ(Of("g").min_count, 0);
  world_.GroupGone(MakeGroup("g").key);
  world_.GroupGone(MakeGroup("g").key);
  EXPECT_FALSE(Of("g").is_known);
  EXPECT_EQ(world_.groups().size(), 0u);
  world_.GroupSeen(MakeGroup("g", 2));
  EXPECT_EQ(Of("g").min_count, 2);
}

TEST_F(HintsGroupsTest, ACompositeOfTheNameIsAnotherThing) {
  PodGroup composite = MakeGroup("g");
  composite.key.kind = GroupKind::kComposite;
  world_.GroupSeen(composite);
  EXPECT_FALSE(Of("g").is_known);
  world_.GroupSeen(MakeGroup("g", 2));
  world_.GroupGone(composite.key);
  EXPECT_TRUE(Of("g").is_known);
}

TEST_F(HintsGroupsTest, MembersCountFromAddToDeleteWhetherTheGroupIsKnownOrNot) {
  const Pod a = MakeMember("a", "g");
  const Pod b = MakeMember("b", "g");
  const Pod single = MakePod("single");
  EXPECT_TRUE(world_.MemberAdded(a));
  EXPECT_TRUE(world_.MemberAdded(a));  // It is told of twice.
  EXPECT_TRUE(world_.MemberAdded(b));
  EXPECT_TRUE(world_.MemberAdded(single));
  EXPECT_EQ(Of("g").members, 2u);
  EXPECT_EQ(Of("g", "other").members, 0u);
  EXPECT_EQ(Of("").members, 0u);
  world_.GroupSeen(MakeGroup("g", 2));
  EXPECT_TRUE(Of("g").HasEnoughMembers());
  world_.MemberDeleted(a);
  world_.MemberDeleted(a);
  world_.MemberDeleted(single);
  EXPECT_EQ(Of("g").members, 1u);
  EXPECT_FALSE(Of("g").HasEnoughMembers());
  world_.MemberDeleted(b);
  world_.GroupGone(MakeGroup("g").key);
  EXPECT_EQ(world_.groups().size(), 0u) << "all names were given back";
}

// A pod that is created anew is another member than the one that was bound.
TEST_F(HintsGroupsTest, MembersAreToldApartByTheirUids) {
  const Pod first = MakeMember("a", "g");
  Pod second = first;
  second.uid = "another";
  world_.MemberAdded(first);
  world_.MemberAdded(second);
  EXPECT_EQ(Of("g").members, 2u);
  world_.MemberDeleted(first);
  EXPECT_EQ(Of("g").members, 1u);
}

TEST_F(HintsGroupsTest, NamesThatAreTooLongLeaveNoTrace) {
  const std::string long_name(Interner::kTextBytesMax, 'x');  // With its namespace too long.
  EXPECT_FALSE(world_.MemberAdded(MakeMember("a", long_name)));
  Pod long_uid = MakeMember("a", "g");
  long_uid.uid = long_name + "x";
  EXPECT_FALSE(world_.MemberAdded(long_uid));
  EXPECT_EQ(Of("g").members, 0u);
  world_.GroupSeen(MakeGroup(long_name, 1));
  EXPECT_FALSE(Of(long_name).is_known);
  world_.GroupGone(MakeGroup(long_name).key);
  EXPECT_EQ(world_.groups().size(), 0u);
}

TEST_F(HintsGroupsTest, RandomChangesKeepTheIndexEqualToAPlainMap) {
  std::mt19937_64 random(5);
  std::map<std::string, int64_t> known;
  std::map<std::string, std::string> group_of;  // By pod.
  for (int step = 0; step < 5000; ++step) {
    const std::string group = "g" + std::to_string(random() % 6);
    const std::string name = "p" + std::to_string(random() % 40);
    const auto member = group_of.find(name);
    switch (random() % 4) {
      case 0:
        known[group] = static_cast<int64_t>(random() % 5);
        world_.GroupSeen(MakeGroup(group, known[group]));
        break;
      case 1:
        known.erase(group);
        world_.GroupGone(MakeGroup(group).key);
        break;
      case 2:
        if (member == group_of.end()) group_of[name] = group;
        world_.MemberAdded(MakeMember(name, group_of[name]));
        break;
      default:
        world_.MemberDeleted(MakeMember(name, member == group_of.end() ? group : member->second));
        group_of.erase(name);
    }
    const GroupFacts facts = Of(group);
    const auto wanted = std::count_if(group_of.begin(), group_of.end(),
                                      [&](const auto& entry) { return entry.second == group; });
    ASSERT_EQ(facts.members, wanted) << "step " << step;
    ASSERT_EQ(facts.is_known, known.contains(group)) << "step " << step;
    ASSERT_EQ(facts.min_count, known.contains(group) ? known[group] : 0) << "step " << step;
  }
}

TEST_F(HintsGroupsTest, ThreadsThatChangeTheirOwnPodsAgreeInTheEnd) {
  constexpr int kThreads = 3;
  world_.GroupSeen(MakeGroup("shared", kThreads));
  const auto change_own = [&](int thread) {
    const Pod own = MakeMember("p" + std::to_string(thread), "shared");
    const PodGroup group = MakeGroup("g" + std::to_string(thread), 1);
    for (int i = 0; i < 2000; ++i) {
      world_.MemberAdded(own);
      world_.GroupSeen(group);
      const GroupFacts facts = world_.groups().Of("ns", "shared");
      EXPECT_GE(facts.members, 1u);
      EXPECT_LE(facts.members, static_cast<uint32_t>(kThreads));
      EXPECT_EQ(facts.min_count, kThreads);
      if (i < 1999) {
        world_.MemberDeleted(own);
        world_.GroupGone(group.key);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(change_own, thread);
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(Of("shared").HasEnoughMembers());
  EXPECT_TRUE(Of("g1").is_known);
}

}  // namespace
}  // namespace schedq::hints_test
