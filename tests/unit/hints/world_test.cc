// Goal: what plugins know of the cluster is what the changes said, whatever the order and the
// number of threads.
// Method: the claim index against a plain map under random changes; threads that change and read
// at once, checked at the end; no allocation and no leaked name.
#include "hints/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "hints/claims/claim_index.h"
#include "hints/plugin.h"
#include "hints/running_preemptions.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class HintsWorldTest : public testing::Test {
 protected:
  std::vector<std::string> PodsOf(const std::string& claim, const std::string& space = "ns") const {
    PodList listed;
    world_.claim_index().Lookup(space, claim, &listed);
    std::vector<std::string> pods;
    for (const PodId pod : listed) pods.emplace_back(names_.Text(pod));
    return pods;
  }

  Interner names_;
  World world_{&names_};
};

TEST_F(HintsWorldTest, ListsLivePodsUnderTheClaimsOfSpecAndStatus) {
  Pod a = MakePod("a", {"x", "y", "x"});
  a.generated_claims = {{"entry", "y"}, {"other", "z"}, {"unneeded", ""}};
  world_.PodChanged(nullptr, &a);
  for (const char* claim : {"x", "y", "z"}) {
    EXPECT_THAT(PodsOf(claim), UnorderedElementsAre("ns/a")) << claim;
  }
  EXPECT_THAT(PodsOf(""), IsEmpty());
  EXPECT_THAT(PodsOf("x", "other"), IsEmpty());
  EXPECT_EQ(world_.claim_index().size(), 3u);
}

TEST_F(HintsWorldTest, AnUpdateMovesThePodBetweenClaims) {
  const Pod before = MakePod("a", {"x", "y"});
  const Pod after = MakePod("a", {"y", "z"});
  world_.PodChanged(nullptr, &before);
  world_.PodChanged(&before, &after);
  EXPECT_THAT(PodsOf("x"), IsEmpty());
  EXPECT_THAT(PodsOf("y"), UnorderedElementsAre("ns/a"));
  EXPECT_THAT(PodsOf("z"), UnorderedElementsAre("ns/a"));
}

TEST_F(HintsWorldTest, APodThatIsNotLiveIsNotListedAndItsNameIsFree) {
  const Pod a = MakePod("a", {"x"});
  const Pod b = MakePod("b", {"x"});
  world_.PodChanged(nullptr, &a);
  world_.PodChanged(nullptr, &b);
  world_.PodChanged(&a, nullptr);
  EXPECT_THAT(PodsOf("x"), UnorderedElementsAre("ns/b"));
  EXPECT_EQ(names_.Find("ns", "a"), std::nullopt);
  world_.PodChanged(&b, nullptr);
  EXPECT_EQ(world_.claim_index().size(), 0u);
  EXPECT_EQ(names_.size(), 0u);
}

TEST_F(HintsWorldTest, TheIndexGivesItsNamesBackWhenItGoes) {
  {
    World world(&names_);
    const Pod a = MakePod("a", {"x", "y"});
    world.PodChanged(nullptr, &a);
    EXPECT_EQ(names_.size(), 1u);
  }
  EXPECT_EQ(names_.size(), 0u);
}

TEST_F(HintsWorldTest, AWrongBeforeIsRepaired) {
  const Pod listed = MakePod("a", {"x", "y"});
  const Pod never = MakePod("a", {"x", "u", "v"});
  const Pod after = MakePod("a", {"y", "z"});
  world_.ClaimSeen("ns", "v");
  world_.PodChanged(&never, nullptr);  // It never was live.
  world_.PodChanged(nullptr, &listed);
  world_.PodChanged(nullptr, &listed);  // It is live already.
  EXPECT_THAT(PodsOf("x"), UnorderedElementsAre("ns/a"));
  world_.PodChanged(&never, &after);
  EXPECT_THAT(PodsOf("x"), IsEmpty());
  EXPECT_THAT(PodsOf("y"), UnorderedElementsAre("ns/a"));
  EXPECT_THAT(PodsOf("z"), UnorderedElementsAre("ns/a"));
  const Pod other = MakePod("b", {"z"});
  world_.PodChanged(&after, &other);  // Another pod.
  EXPECT_THAT(PodsOf("y"), IsEmpty());
  EXPECT_THAT(PodsOf("z"), UnorderedElementsAre("ns/b"));
  world_.PodChanged(&other, nullptr);
  world_.ClaimGone("ns", "v");
  EXPECT_EQ(world_.claim_index().size(), 0u);
  EXPECT_EQ(names_.size(), 0u);
}

TEST_F(HintsWorldTest, AWrongBeforeIsRepairedAmidManyPods) {
  std::vector<Pod> pods;
  for (int i = 0; i < 50; ++i) pods.push_back(MakePod("p" + std::to_string(i), {"x"}));
  for (int round = 0; round < 3; ++round) {
    for (const Pod& pod : pods) world_.PodChanged(nullptr, &pod);
    EXPECT_EQ(PodsOf("x").size(), pods.size());
  }
  for (int round = 0; round < 3; ++round) {
    for (const Pod& pod : pods) world_.PodChanged(&pod, nullptr);
    EXPECT_THAT(PodsOf("x"), IsEmpty());
  }
  EXPECT_EQ(names_.size(), 0u);
}

TEST_F(HintsWorldTest, RandomChangesKeepTheIndexEqualToAPlainMap) {
  std::mt19937_64 random(3);
  std::map<std::string, Pod> live;
  for (int step = 0; step < 5000; ++step) {
    const std::string name = "p" + std::to_string(random() % 60);
    const auto found = live.find(name);
    const Pod* before = found == live.end() ? nullptr : &found->second;
    Pod after = MakePod(name);
    while (random() % 3 != 0) after.claims.push_back("c" + std::to_string(random() % 8));
    const bool stays = before == nullptr || random() % 3 != 0;
    world_.PodChanged(before, stays ? &after : nullptr);
    if (stays) {
      live.insert_or_assign(name, after);
    } else {
      live.erase(name);
    }
    const std::string claim = "c" + std::to_string(random() % 8);
    std::set<std::string> wanted;
    for (const auto& [pod_name, pod] : live) {
      if (std::count(pod.claims.begin(), pod.claims.end(), claim) > 0) {
        wanted.insert("ns/" + pod_name);
      }
    }
    ASSERT_THAT(PodsOf(claim), testing::UnorderedElementsAreArray(wanted)) << "step " << step;
  }
}

TEST_F(HintsWorldTest, ThreadsThatChangeTheirOwnPodsAgreeInTheEnd) {
  constexpr int kThreads = 3;
  const auto change_own = [&](int thread) {
    const Pod with = MakePod("p" + std::to_string(thread), {"shared"});
    const Pod without = MakePod("p" + std::to_string(thread));
    world_.PodChanged(nullptr, &without);
    for (int i = 0; i < 500; ++i) {
      world_.PodChanged(&without, &with);
      world_.ClaimSeen("ns", "c" + std::to_string(thread));
      PodList listed;
      world_.claim_index().Lookup("ns", "shared", &listed);
      // Another pod that leaves and comes again during the walk may be met twice.
      const PodId own = *names_.Find("ns", with.name);
      EXPECT_EQ(std::count(listed.begin(), listed.end(), own), 1);
      if (i < 499) {
        world_.PodChanged(&with, &without);
        world_.ClaimGone("ns", "c" + std::to_string(thread));
      }
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(change_own, thread);
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(PodsOf("shared"), UnorderedElementsAre("ns/p0", "ns/p1", "ns/p2"));
  EXPECT_TRUE(world_.claim_index().Exists("ns", "c1"));
}

TEST_F(HintsWorldTest, AClaimIsKnownFromItsFirstSightToItsDeletion) {
  const ClaimIndex& known = world_.claim_index();
  EXPECT_FALSE(known.Exists("ns", "c"));
  world_.ClaimSeen("ns", "c");
  world_.ClaimSeen("ns", "c");
  EXPECT_TRUE(known.Exists("ns", "c"));
  EXPECT_FALSE(known.Exists("other", "c"));
  world_.ClaimGone("ns", "c");
  EXPECT_FALSE(known.Exists("ns", "c"));
  world_.ClaimGone("ns", "c");
  world_.ClaimSeen("ns", "c");
  EXPECT_TRUE(known.Exists("ns", "c"));
}

// Each of these once ended the program.
TEST_F(HintsWorldTest, NamesThatAreTooLongLeaveNoTrace) {
  const std::string long_name(Interner::kTextBytesMax, 'x');  // With its namespace too long.
  const Pod before = MakePod("a", {"x", "y"});
  EXPECT_TRUE(world_.PodChanged(nullptr, &before));
  const Pod after = MakePod("a", {"x", "z", long_name, "w"});
  EXPECT_FALSE(world_.PodChanged(&before, &after));
  EXPECT_EQ(world_.claim_index().size(), 2u);
  EXPECT_THAT(PodsOf("y"), UnorderedElementsAre("ns/a"));
  const Pod other = MakePod(long_name, {"x"});
  EXPECT_FALSE(world_.PodChanged(nullptr, &other));
  EXPECT_THAT(PodsOf("x"), UnorderedElementsAre("ns/a"));
  EXPECT_EQ(names_.size(), 1u);

  world_.ClaimSeen("ns", long_name);
  EXPECT_FALSE(world_.claim_index().Exists("ns", long_name));
  world_.ClaimGone("ns", long_name);
  RunningPreemptions* preemptions = world_.mutable_preemptions();
  preemptions->Begin(long_name + "x");
  EXPECT_FALSE(preemptions->Contains(long_name + "x"));
}

TEST_F(HintsWorldTest, APreemptionRunsFromBeginToEnd) {
  RunningPreemptions* preemptions = world_.mutable_preemptions();
  EXPECT_FALSE(preemptions->Contains("u"));
  preemptions->Begin("u");
  EXPECT_TRUE(preemptions->Contains("u"));
  EXPECT_FALSE(preemptions->Contains("other"));
  preemptions->End("u");
  preemptions->End("u");
  EXPECT_FALSE(preemptions->Contains("u"));
}

}  // namespace
}  // namespace schedq::hints_test
