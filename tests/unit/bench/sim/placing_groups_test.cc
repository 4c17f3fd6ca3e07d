// Goal: a cycle of a group decides as upstream's rules say: all members that a group needs or none,
// one domain of a topology, the best of several, trees of groups, and the fewest victims; and it
// leaves in the cache exactly what goes to a node.
// Method: a cache as the informers fill it; cycles of groups on it, and what single pods find then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/groups/group_book.h"
#include "bench/sim/placing/groups/group_cycle.h"
#include "bench/sim/placing/groups/victim_units.h"
#include "bench/sim/placing/placer.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/placing/waiting_pods.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// All of whose parts but the name have a default.
struct WantedGroup {
  std::string name;
  int64_t min_count = 0;
  int32_t priority = 0;
  std::string topology_key = "";
  std::string parent = "";
  bool is_composite = false;
  bool is_disrupted_as_one = false;
};

Gates GatesOf(bool by_topology, bool has_composites) {
  GateRequest request;
  request.Set(Gate::kGenericWorkload, true);
  request.Set(Gate::kTopologyAwareWorkloadScheduling, by_topology);
  request.Set(Gate::kCompositePodGroup, has_composites);
  return *Gates::Resolve(request);
}

class GroupCycles : public testing::Test {
 protected:
  explicit GroupCycles(bool by_topology = false, bool has_composites = false)
      : cache_(BuiltinPlacingPlugins, GatesOf(by_topology, has_composites)) {}

  void SetNode(uint64_t number, int64_t cpu, const std::string& rack = "") {
    auto node = NodeOf(number, cpu);
    if (!rack.empty()) node->labels = {{"rack", rack}};
    ClusterChange change;
    change.resource = Resource::kNode;
    change.objects.after = node;
    cache_.Apply(change);
  }
  static GroupKey KeyOf(const std::string& name, bool is_composite = false) {
    return {is_composite ? GroupKind::kComposite : GroupKind::kPodGroup, "ns", name};
  }
  void SetGroup(const WantedGroup& wanted) {
    auto group = std::make_shared<ClusterGroup>();
    group->resource = wanted.is_composite ? Resource::kCompositePodGroup : Resource::kPodGroup;
    group->namespace_name = "ns";
    group->name = wanted.name;
    group->spec.min_count = wanted.min_count;
    group->spec.priority = wanted.priority;
    group->spec.topology_key = wanted.topology_key;
    group->spec.is_disrupted_as_one = wanted.is_disrupted_as_one;
    group->group = std::make_shared<PodGroup>(
        PodGroup{KeyOf(wanted.name, wanted.is_composite), wanted.priority,
                 wanted.is_composite ? 0 : wanted.min_count, wanted.parent});
    ClusterChange change;
    change.resource = group->resource;
    change.objects.after = group;
    cache_.Apply(change);
  }
  static std::shared_ptr<ClusterPod> Make(uint64_t number, int64_t cpu, const std::string& group,
                                          int32_t priority = 0) {
    auto pod = PodOf(number, cpu);
    pod->namespace_name = "ns";
    pod->uid = "pod-" + std::to_string(number);
    pod->name = pod->uid;
    pod->group_name = group;
    pod->priority = priority;
    return pod;
  }
  // Numbers from `first` on.
  static std::vector<ClusterPodRef> Members(const std::string& group, size_t count, int64_t cpu,
                                            int32_t priority = 0, uint64_t first = 1000) {
    std::vector<ClusterPodRef> members;
    for (size_t i = 0; i < count; ++i) members.push_back(Make(first + i, cpu, group, priority));
    return members;
  }
  // The informers deliver the pod on its node.
  ClusterPodRef Run(uint64_t number, const std::string& node, int64_t cpu, int32_t priority,
                    const std::string& group = "") {
    auto pod = Make(number, cpu, group, priority);
    pod->node_name = node;
    ClusterChange change;
    change.pod_after = pod;
    cache_.Apply(change);
    return pod;
  }
  GroupOutcome Cycle(const std::string& root, const std::vector<ClusterPodRef>& members,
                     bool is_composite = false) {
    return cycle_.Run(KeyOf(root, is_composite), members);
  }
  static std::vector<MemberEnd> Ends(const GroupOutcome& outcome) {
    std::vector<MemberEnd> ends;
    for (const MemberOutcome& member : outcome.members) ends.push_back(member.end);
    return ends;
  }
  static std::set<std::string> NodesOf(const GroupOutcome& outcome) {
    std::set<std::string> nodes;
    for (const MemberOutcome& member : outcome.members) {
      if (member.end == MemberEnd::kBind) nodes.insert(member.decision.node);
    }
    return nodes;
  }
  static std::vector<uint64_t> VictimsOf(const GroupOutcome& outcome) {
    std::vector<uint64_t> numbers;
    for (const ClusterPodRef& pod : outcome.victims) numbers.push_back(pod->number);
    return numbers;
  }
  // How many single pods of that size still find a node.
  int Room(int64_t cpu) {
    int found = 0;
    for (uint64_t number = 5000;; ++number, ++found) {
      const auto pod = Make(number, cpu, "");
      Decision decision = placer_.Decide(*pod);
      if (decision.node.empty() || !cache_.Assume(pod, &decision)) return found;
    }
  }

  SchedulerCache cache_;
  Placer placer_{&cache_};
  GroupCycle cycle_{&cache_, &placer_, Random(7)};
};

TEST_F(GroupCycles, AGangHasItsNodesOrNone) {
  SetNode(1, 100);
  SetNode(2, 100);
  SetGroup({.name = "g", .min_count = 4});
  const GroupOutcome whole = Cycle("g", Members("g", 4, 50));
  EXPECT_EQ(whole.status, GroupStatus::kSuccess);
  EXPECT_THAT(Ends(whole),
              ElementsAre(MemberEnd::kBind, MemberEnd::kBind, MemberEnd::kBind, MemberEnd::kBind));
  EXPECT_EQ(Room(1), 0);
}

// The third has no room, and nobody asks for the fourth.
TEST_F(GroupCycles, AGangThatDoesNotFitGivesBackWhatItHad) {
  SetNode(1, 100);
  SetGroup({.name = "g", .min_count = 4});
  const GroupOutcome outcome = Cycle("g", Members("g", 4, 40));
  EXPECT_EQ(outcome.status, GroupStatus::kUnschedulable);
  EXPECT_THAT(Ends(outcome), ElementsAre(MemberEnd::kFits, MemberEnd::kFits, MemberEnd::kRejected,
                                         MemberEnd::kRejected));
  EXPECT_NE(outcome.members[2].decision.rejectors, 0u);
  EXPECT_EQ(outcome.members[3].decision.rejectors, 0u);
  EXPECT_EQ(outcome.searched.decisions, 3u);
  EXPECT_EQ(Room(50), 2);
}

TEST_F(GroupCycles, AGroupThatIsNoGangTakesWhatThereIs) {
  SetNode(1, 100);
  SetGroup({.name = "g"});
  const GroupOutcome some = Cycle("g", Members("g", 3, 40));
  EXPECT_EQ(some.status, GroupStatus::kSuccess);
  EXPECT_THAT(Ends(some), ElementsAre(MemberEnd::kBind, MemberEnd::kBind, MemberEnd::kRejected));
  const GroupOutcome none = Cycle("g", Members("g", 2, 40, 0, 2000));
  EXPECT_EQ(none.status, GroupStatus::kUnschedulable);
}

TEST_F(GroupCycles, MembersThatHaveNodesCount) {
  SetNode(1, 100);
  SetGroup({.name = "g", .min_count = 3});
  Run(1, "n1", 10, 0, "g");
  Run(2, "n1", 10, 0, "g");
  EXPECT_EQ(Cycle("g", Members("g", 1, 10)).status, GroupStatus::kSuccess);
}

TEST_F(GroupCycles, WhatIsUnknownOrUnequalIsAnError) {
  SetNode(1, 100);
  EXPECT_EQ(Cycle("g", Members("g", 1, 10)).status, GroupStatus::kError);
  SetGroup({.name = "g", .priority = 5});
  EXPECT_EQ(Cycle("g", Members("g", 1, 10)).status, GroupStatus::kError);
  EXPECT_EQ(Cycle("g", Members("g", 1, 10, 5)).status, GroupStatus::kSuccess);
  Run(1, "n1", 10, 3, "g");
  const GroupOutcome outcome = Cycle("g", Members("g", 1, 10, 5, 2000));
  EXPECT_EQ(outcome.status, GroupStatus::kError);
  EXPECT_THAT(Ends(outcome), ElementsAre(MemberEnd::kError));
}

TEST_F(GroupCycles, AGroupThatFailsItsCheckWasNotSearched) {
  SetNode(1, 100);
  SetGroup({.name = "g", .min_count = 2, .priority = 5});
  EXPECT_FALSE(Cycle("g", Members("g", 2, 10)).was_searched);
  EXPECT_TRUE(Cycle("g", Members("g", 2, 80, 5)).was_searched);
}

// A binding may fail so late that its pod has a new node by then.
TEST_F(GroupCycles, AnOldPlaceThatIsGivenBackLeavesTheNewOne) {
  SetNode(1, 100);
  SetGroup({.name = "g", .min_count = 2});
  VirtualClock clock{Instant()};
  WaitingPods waiting(&clock);
  const auto pod = Make(1, 60, "g");
  const auto assume = [&] {
    Decision decision = placer_.Decide(*pod);
    EXPECT_TRUE(cache_.Assume(pod, &decision));
    cache_.framework().Permit(pod, decision, &waiting);
    return decision;
  };
  const auto nodes = [&] {
    std::vector<std::string> found;
    for (const GroupBook::Placed& each : cache_.groups().PlacedBelow(KeyOf("g"))) {
      found.push_back("placed on " + each.node);
    }
    for (const ClusterPodRef& each : cache_.AssumedPods()) {
      found.push_back("assumed on " + each->node_name);
    }
    return found;
  };
  const Decision first = assume();
  EXPECT_THAT(nodes(), ElementsAre("placed on n1", "assumed on n1"));
  SetNode(2, 100);
  const Decision second = assume();
  EXPECT_THAT(nodes(), ElementsAre("placed on n2", "assumed on n2"));
  cache_.Forget(*pod, first, 0);
  EXPECT_THAT(nodes(), ElementsAre("placed on n2", "assumed on n2"));
  cache_.Forget(*pod, second, 0);
  EXPECT_THAT(nodes(), IsEmpty());
}

// Members that come to Permit one by one, and what their waits have ended with.
class GangPermits : public GroupCycles {
 protected:
  // False: it waits.
  bool Passes(uint64_t number, Decision* decision) {
    const ClusterPodRef pod = Make(number, 10, "g");
    *decision = placer_.Decide(*pod);
    EXPECT_TRUE(cache_.Assume(pod, decision));
    const PermitOutcome outcome = cache_.framework().Permit(pod, *decision, &waiting_);
    EXPECT_EQ(outcome.rejector, WaitingPods::kAllowed);
    if (outcome.waits.empty()) return true;
    waiting_.Begin(*pod, outcome.waits, [this](size_t rejector) { ends_.push_back(rejector); });
    return false;
  }
  bool Passes(uint64_t number) {
    Decision decision;
    return Passes(number, &decision);
  }

  VirtualClock clock_{Instant()};
  WaitingPods waiting_{&clock_};
  std::vector<size_t> ends_;
};

TEST_F(GangPermits, AMemberWaitsForItsGangForFiveMinutes) {
  SetNode(1, 100);
  SetGroup({.name = "g", .min_count = 2});
  EXPECT_FALSE(Passes(1));
  clock_.AdvanceTo(Instant(std::chrono::minutes(5)) - Duration(1));
  EXPECT_THAT(ends_, IsEmpty());
  clock_.AdvanceTo(Instant(std::chrono::minutes(5)));
  EXPECT_THAT(ends_, ElementsAre(*cache_.framework().Find("GangScheduling")));
}

TEST_F(GangPermits, TheLastOfAGangLetsTheOthersGoAndLaterOnesDoNotWait) {
  SetNode(1, 100);
  SetGroup({.name = "g", .min_count = 3});
  EXPECT_FALSE(Passes(1));
  EXPECT_FALSE(Passes(2));
  EXPECT_THAT(ends_, IsEmpty());
  EXPECT_TRUE(Passes(3));
  EXPECT_THAT(ends_, ElementsAre(WaitingPods::kAllowed, WaitingPods::kAllowed));
  EXPECT_TRUE(Passes(4));
  EXPECT_THAT(cache_.groups().TakeWaiting(KeyOf("g")), IsEmpty());
}

TEST_F(GangPermits, AMemberThatGaveItsNodeBackIsWaitedForNoMore) {
  SetNode(1, 100);
  SetGroup({.name = "g", .min_count = 2});
  Decision decision;
  EXPECT_FALSE(Passes(1, &decision));
  cache_.Forget(*Make(1, 10, "g"), decision, 0);
  EXPECT_THAT(cache_.groups().TakeWaiting(KeyOf("g")), IsEmpty());
  EXPECT_FALSE(Passes(2)) << "it is the first again";
}

// Where others decide too: an event a node, and not one for each member that was tried.
TEST_F(GroupCycles, WhatAGangHeldIsToldOnceANodeAndAtTheEnd) {
  SetNode(1, 100);
  SetNode(2, 50);
  SetGroup({.name = "g", .min_count = 7});
  std::vector<std::string> told;
  GroupCycle cycle(&cache_, &placer_, Random(7), [&](const ClusterPod&, const std::string& node) {
    EXPECT_THAT(cache_.AssumedPods(), IsEmpty());
    told.push_back(node);
  });
  EXPECT_EQ(cycle.Run(KeyOf("g"), Members("g", 7, 25)).status, GroupStatus::kUnschedulable);
  EXPECT_THAT(told, UnorderedElementsAre("n1", "n2"));
}

TEST_F(GroupCycles, WithoutTheGateATopologyConstraintIsNotSeen) {
  SetNode(1, 100, "a");
  SetNode(2, 100, "b");
  SetGroup({.name = "g", .min_count = 2, .topology_key = "rack"});
  const GroupOutcome outcome = Cycle("g", Members("g", 2, 80));
  EXPECT_EQ(outcome.status, GroupStatus::kSuccess);
  EXPECT_THAT(NodesOf(outcome), ElementsAre("n1", "n2"));
}

TEST_F(GroupCycles, AConditionIsToldOnceAndSuccessStays) {
  SetNode(1, 100);
  SetGroup({.name = "g", .min_count = 2});
  ASSERT_EQ(Cycle("g", Members("g", 2, 80)).conditions.size(), 1u);
  const PodCondition condition = Cycle("g", Members("g", 2, 80)).conditions[0].second;
  EXPECT_EQ(condition.status, "False");
  const auto set = [&](const PodCondition& known) {
    auto group = std::make_shared<ClusterGroup>(*cache_.groups().Find(KeyOf("g")));
    group->condition = known;
    ClusterChange change;
    change.resource = Resource::kPodGroup;
    change.objects.after = group;
    cache_.Apply(change);
  };
  set(condition);
  EXPECT_THAT(Cycle("g", Members("g", 2, 80)).conditions, IsEmpty());
  set({"PodGroupInitiallyScheduled", "True", "Scheduled", ""});
  EXPECT_THAT(Cycle("g", Members("g", 2, 90)).conditions, IsEmpty());
}

TEST_F(GroupCycles, TheLeastImportantGoForAGang) {
  SetNode(1, 100);
  SetNode(2, 100);
  Run(1, "n1", 60, 1);
  Run(2, "n1", 40, 3);
  Run(3, "n2", 60, 2);
  SetGroup({.name = "g", .min_count = 2, .priority = 5});
  const GroupOutcome outcome = Cycle("g", Members("g", 2, 60, 5));
  EXPECT_EQ(outcome.status, GroupStatus::kUnschedulable);
  EXPECT_TRUE(outcome.waits_for_preemption);
  EXPECT_THAT(VictimsOf(outcome), UnorderedElementsAre(1, 3));
  EXPECT_THAT((std::set{outcome.members[0].nominated, outcome.members[1].nominated}),
              ElementsAre("n1", "n2"));
  EXPECT_EQ(Room(40), 1) << "nobody has gone yet";
}

TEST_F(GroupCycles, NobodyGoesInVainNorForALesserGang) {
  SetNode(1, 100);
  Run(1, "n1", 100, 1);
  SetGroup({.name = "g", .min_count = 2, .priority = 5});
  const GroupOutcome in_vain = Cycle("g", Members("g", 2, 60, 5));
  EXPECT_TRUE(in_vain.asked_to_preempt);
  EXPECT_FALSE(in_vain.waits_for_preemption);
  SetGroup({.name = "low", .min_count = 1, .priority = 1});
  EXPECT_FALSE(Cycle("low", Members("low", 1, 60, 1)).waits_for_preemption);
}

// What is assumed is no victim, and its room no more free than it was.
TEST_F(GroupCycles, APodOnItsWayKeepsItsRoomInWhatWouldBe) {
  SetNode(1, 100);
  Run(1, "n1", 50, 1);
  const auto assumed = Make(2, 50, "");
  Decision decision = placer_.Decide(*assumed);
  ASSERT_TRUE(cache_.Assume(assumed, &decision));
  SetGroup({.name = "g", .min_count = 1, .priority = 5});
  EXPECT_FALSE(Cycle("g", Members("g", 1, 80, 5)).waits_for_preemption);
  const GroupOutcome outcome = Cycle("g", Members("g", 1, 50, 5));
  EXPECT_THAT(VictimsOf(outcome), ElementsAre(1));
}

TEST_F(GroupCycles, AGroupThatIsDisruptedAsOneIsOneVictim) {
  SetNode(1, 100);
  SetNode(2, 90);
  SetGroup({.name = "all", .priority = 1, .is_disrupted_as_one = true});
  SetGroup({.name = "each", .priority = 1});
  Run(1, "n1", 100, 1, "all");
  Run(2, "n2", 50, 1, "all");
  Run(3, "n2", 40, 1, "each");
  SetGroup({.name = "g", .min_count = 1, .priority = 5});
  const GroupOutcome outcome = Cycle("g", Members("g", 1, 100, 5));
  EXPECT_THAT(VictimsOf(outcome), UnorderedElementsAre(1, 2));
  const Decision single = placer_.Decide(*Make(9, 100, "", 5));
  ASSERT_NE(single.post_filter, nullptr);
  EXPECT_EQ(single.post_filter->node, "n1");
  EXPECT_EQ(single.post_filter->victims.size(), 2u);
}

TEST_F(GroupCycles, UnitsAreInTheOrderOfTheirImportance) {
  SetGroup({.name = "all", .priority = 1, .is_disrupted_as_one = true});
  const std::vector<ClusterPodRef> pods = {Run(1, "n1", 1, 1), Run(2, "n1", 1, 2),
                                           Run(3, "n1", 1, 1, "all"), Run(4, "n2", 1, 1, "all"),
                                           Run(5, "n1", 1, 7)};
  std::vector<VictimUnit> units = UnitsBelow(pods, 5, &cache_.groups());
  std::sort(units.begin(), units.end(), IsMoreImportant);
  std::vector<uint64_t> numbers;
  for (const ClusterPodRef& pod : PodsOf(units)) numbers.push_back(pod->number);
  EXPECT_THAT(numbers, ElementsAre(2, 3, 4, 1));
}

class TopologyCycles : public GroupCycles {
 protected:
  TopologyCycles() : GroupCycles(/*by_topology=*/true) {}

  // Two nodes to a rack.
  void SetRacks(const std::vector<int64_t>& cpu_of_rack) {
    uint64_t number = 0;
    for (size_t rack = 0; rack < cpu_of_rack.size(); ++rack) {
      for (int i = 0; i < 2; ++i) {
        SetNode(++number, cpu_of_rack[rack], "r" + std::to_string(rack));
      }
    }
  }
};

TEST_F(TopologyCycles, AGroupGoesToTheOneRackThatHasRoom) {
  SetRacks({50, 100, 50});
  SetGroup({.name = "g", .min_count = 4, .topology_key = "rack"});
  const GroupOutcome outcome = Cycle("g", Members("g", 4, 50));
  EXPECT_EQ(outcome.status, GroupStatus::kSuccess);
  EXPECT_THAT(NodesOf(outcome), ElementsAre("n3", "n4"));
  EXPECT_EQ(Room(50), 4) << "in the two others";
}

TEST_F(TopologyCycles, NoRackAloneHasRoom) {
  SetRacks({50, 50});
  SetGroup({.name = "g", .min_count = 4, .topology_key = "rack"});
  EXPECT_EQ(Cycle("g", Members("g", 4, 50)).status, GroupStatus::kUnschedulable);
  EXPECT_EQ(Room(50), 4);
  SetGroup({.name = "h", .min_count = 1, .topology_key = "no-such-label"});
  EXPECT_EQ(Cycle("h", Members("h", 1, 1)).status, GroupStatus::kUnschedulable);
}

// All racks take all of its pods; the one that is fullest with them is best.
TEST_F(TopologyCycles, TheFullestRackIsTheBest) {
  SetRacks({200, 100, 200});
  SetGroup({.name = "g", .min_count = 1, .topology_key = "rack"});
  EXPECT_THAT(NodesOf(Cycle("g", Members("g", 2, 60))), ElementsAre("n3", "n4"));
}

TEST_F(TopologyCycles, MoreOfTheGroupsPodsAreBetter) {
  SetRacks({50, 100});
  SetGroup({.name = "g", .topology_key = "rack"});
  EXPECT_THAT(NodesOf(Cycle("g", Members("g", 4, 50))), ElementsAre("n3", "n4"));
}

TEST_F(TopologyCycles, LaterMembersGoWhereTheOthersAre) {
  SetRacks({100, 50});
  SetGroup({.name = "g", .min_count = 2, .topology_key = "rack"});
  Run(1, "n3", 10, 0, "g");
  EXPECT_THAT(NodesOf(Cycle("g", Members("g", 1, 10))), ElementsAre(testing::AnyOf("n3", "n4")));
  Run(2, "n1", 10, 0, "g");
  EXPECT_EQ(Cycle("g", Members("g", 1, 10, 0, 2000)).status, GroupStatus::kError);
}

class TreeCycles : public GroupCycles {
 protected:
  TreeCycles() : GroupCycles(/*by_topology=*/true, /*has_composites=*/true) {}

  std::vector<ClusterPodRef> TwoOfEach(int64_t cpu) {
    std::vector<ClusterPodRef> members = Members("a", 2, cpu);
    for (const ClusterPodRef& pod : Members("b", 2, cpu, 0, 2000)) members.push_back(pod);
    return members;
  }
};

TEST_F(TreeCycles, ATreeGoesAsAWhole) {
  SetNode(1, 100);
  SetGroup({.name = "t", .min_count = 2, .is_composite = true});
  SetGroup({.name = "a", .min_count = 2, .parent = "t"});
  SetGroup({.name = "b", .min_count = 2, .parent = "t"});
  const GroupOutcome fails = Cycle("t", TwoOfEach(30), true);
  EXPECT_EQ(fails.status, GroupStatus::kUnschedulable);
  EXPECT_THAT(Ends(fails), ElementsAre(MemberEnd::kRejected, MemberEnd::kRejected, MemberEnd::kFits,
                                       MemberEnd::kRejected));
  EXPECT_EQ(Cycle("t", TwoOfEach(25), true).status, GroupStatus::kSuccess);
  EXPECT_EQ(Room(1), 0);
}

// The group that does not fit fails by itself, and what it had goes back.
TEST_F(TreeCycles, ATreeNeedsAsManyGroupsAsItSays) {
  SetNode(1, 100);
  SetGroup({.name = "t", .min_count = 1, .is_composite = true});
  SetGroup({.name = "a", .min_count = 2, .parent = "t"});
  SetGroup({.name = "b", .min_count = 2, .parent = "t"});
  const GroupOutcome outcome = Cycle("t", TwoOfEach(30), true);
  EXPECT_EQ(outcome.status, GroupStatus::kSuccess);
  EXPECT_THAT(Ends(outcome), ElementsAre(MemberEnd::kBind, MemberEnd::kBind, MemberEnd::kFits,
                                         MemberEnd::kRejected));
  EXPECT_EQ(Room(40), 1);
}

TEST_F(TreeCycles, AllGroupsOfATreeGoToOneRack) {
  SetNode(1, 60, "r1");
  SetNode(2, 100, "r2");
  SetGroup({.name = "t", .min_count = 2, .topology_key = "rack", .is_composite = true});
  SetGroup({.name = "a", .min_count = 2, .parent = "t"});
  SetGroup({.name = "b", .min_count = 2, .parent = "t"});
  EXPECT_THAT(NodesOf(Cycle("t", TwoOfEach(25), true)), ElementsAre("n2"));
}

TEST_F(TreeCycles, WhyATreeFailsItsCheckIsToldOfEachGroup) {
  SetNode(1, 100);
  SetGroup({.name = "t", .min_count = 1, .is_composite = true});
  SetGroup({.name = "a", .parent = "t"});
  SetGroup({.name = "b", .parent = "t"});
  const GroupOutcome outcome = Cycle("t", Members("a", 1, 10, 5), true);
  EXPECT_EQ(outcome.status, GroupStatus::kError);
  ASSERT_EQ(outcome.conditions.size(), 2u);
  for (const auto& [key, condition] : outcome.conditions) {
    EXPECT_EQ(condition.reason, "SchedulerError") << key.name;
  }
}

// On the first rack nobody asks for the second group; on the second rack it is the one that fails.
TEST_F(TreeCycles, WhatIsToldIsOfTheFirstPlacementAlone) {
  SetNode(1, 50, "r1");
  SetNode(2, 100, "r2");
  SetGroup({.name = "t", .min_count = 2, .topology_key = "rack", .is_composite = true});
  SetGroup({.name = "a", .min_count = 2, .parent = "t"});
  SetGroup({.name = "b", .min_count = 2, .parent = "t"});
  const GroupOutcome outcome = Cycle("t", TwoOfEach(30), true);
  EXPECT_EQ(outcome.status, GroupStatus::kUnschedulable);
  ASSERT_EQ(outcome.conditions.size(), 2u);
  EXPECT_EQ(outcome.conditions[0].second.message,
            "0/1 placements are available: minCount 2: 1 scheduled, 0 remaining");
  EXPECT_EQ(outcome.conditions[1].second.message,
            "0/2 placements are available: minCount 2: 0 scheduled, 1 remaining");
}

// The first rack takes four pods of the group "a", but none goes there without the group "b".
TEST_F(TreeCycles, OnlyPodsThatGoMakeAPlacementBetter) {
  SetNode(1, 100, "r1");
  SetNode(2, 60, "r2");
  SetNode(3, 60, "r2");
  SetGroup({.name = "t", .min_count = 1, .topology_key = "rack", .is_composite = true});
  SetGroup({.name = "c", .min_count = 2, .parent = "t", .is_composite = true});
  SetGroup({.name = "a", .parent = "c"});
  SetGroup({.name = "b", .parent = "c"});
  SetGroup({.name = "d", .parent = "t"});
  std::vector<ClusterPodRef> members = Members("a", 4, 10);
  members.push_back(Make(2000, 80, "b"));
  for (const ClusterPodRef& pod : Members("d", 2, 60, 0, 3000)) members.push_back(pod);
  EXPECT_THAT(NodesOf(Cycle("t", members, true)), ElementsAre("n2", "n3"));
}

}  // namespace
}  // namespace schedq
