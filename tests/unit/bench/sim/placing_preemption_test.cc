// Goal: DefaultPreemption finds the victims that upstream's rules name, and only where their going
// helps; a nomination keeps its room, and its pod goes there first.
// Method: a cache as the informers fill it, nodes with pods of several priorities.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/placer.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "engine/event.h"
#include "engine/label_selector.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

class PreemptionTest : public testing::Test {
 protected:
  void SetNode(uint64_t number, int64_t cpu) { SetNode(NodeOf(number, cpu)); }
  void SetNode(const ClusterNodeRef& node) {
    ClusterChange change;
    change.resource = Resource::kNode;
    change.objects.after = node;
    cache_.Apply(change);
  }
  static std::shared_ptr<ClusterPod> Make(uint64_t number, int64_t cpu, int32_t priority) {
    auto pod = PodOf(number, cpu);
    pod->uid = "pod-" + std::to_string(number);
    pod->priority = priority;
    return pod;
  }
  // The informers deliver the pod on its node.
  std::shared_ptr<ClusterPod> Run(uint64_t number, const std::string& node, int64_t cpu,
                                  int32_t priority, bool deleting = false) {
    auto pod = Make(number, cpu, priority);
    pod->deleting = deleting;
    RunOn(node, pod);
    return pod;
  }
  void RunOn(const std::string& node, const std::shared_ptr<ClusterPod>& pod) {
    pod->node_name = node;
    ClusterChange change;
    change.pod_after = pod;
    cache_.Apply(change);
  }
  // With a port of the node.
  static std::shared_ptr<ClusterPod> MakeWithPort(uint64_t number, int32_t priority) {
    auto pod = Make(number, 10, priority);
    auto rules = std::make_shared<PodRules>();
    rules->host_ports = {{"0.0.0.0", "TCP", 80}};
    pod->rules = rules;
    return pod;
  }
  void Delete(const ClusterPodRef& pod) {
    ClusterChange change;
    change.pod_before = pod;
    cache_.Apply(change);
  }
  // Null: PostFilter has nothing to say.
  std::shared_ptr<const PostFilterResult> Preempt(const ClusterPodRef& pod) {
    Decision decision = placer_.Decide(*pod);
    EXPECT_EQ(decision.node, "");
    return std::move(decision.post_filter);
  }
  static std::vector<uint64_t> NumbersOf(const PostFilterResult& result) {
    std::vector<uint64_t> numbers;
    for (const ClusterPodRef& pod : result.victims) numbers.push_back(pod->number);
    return numbers;
  }
  void Nominate(const std::string& node, const ClusterPodRef& pod) {
    cache_.nominations().SetSource([node, pod](std::string_view asked) {
      return asked == node ? std::vector<PodRef>{pod} : std::vector<PodRef>{};
    });
    cache_.nominations().Expect();
  }

  SchedulerCache cache_;
  Placer placer_{&cache_};
};

TEST_F(PreemptionTest, TheLeastImportantGoUntilThePodFits) {
  SetNode(1, 100);
  Run(1, "n1", 40, 3);
  Run(2, "n1", 30, 1);
  Run(3, "n1", 30, 2);
  const auto result = Preempt(Make(9, 30, 5));
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->node, "n1");
  EXPECT_THAT(NumbersOf(*result), ElementsAre(2));
}

// Else preemptors would meet where the search for nodes has just put pods.
TEST_F(PreemptionTest, TheSearchForVictimsBeginsAnywhere) {
  constexpr uint64_t kNodes = 640;
  for (uint64_t number = 1; number <= kNodes; ++number) {
    SetNode(number, 100);
    Run(number, "n" + std::to_string(number), 100, 1);
  }
  std::set<std::string> nodes;
  for (int i = 0; i < 40; ++i) nodes.insert(Preempt(Make(9'000, 40, 5))->node);
  EXPECT_GT(nodes.size(), 4u) << "of ten blocks of nodes";
}

TEST_F(PreemptionTest, OfOnePriorityTheYoungestGo) {
  SetNode(1, 100);
  for (const uint64_t number : {3, 1, 2}) Run(number, "n1", 30, 1);
  const auto result = Preempt(Make(9, 40, 5));
  ASSERT_NE(result, nullptr);
  EXPECT_THAT(NumbersOf(*result), ElementsAre(3));
}

TEST_F(PreemptionTest, NobodyOfTheSamePriorityGoes) {
  SetNode(1, 100);
  Run(1, "n1", 100, 5);
  EXPECT_EQ(Preempt(Make(9, 40, 5)), nullptr);
  EXPECT_EQ(Preempt(Make(8, 40, 4)), nullptr);
}

TEST_F(PreemptionTest, ANodeThatIsTooSmallHelpsNobody) {
  SetNode(1, 100);
  Run(1, "n1", 100, 1);
  EXPECT_EQ(Preempt(Make(9, 101, 5)), nullptr);
}

TEST_F(PreemptionTest, ANodeThatRejectsForAnotherReasonIsNoCandidate) {
  auto node = NodeOf(1, 100);
  node->unschedulable = true;
  SetNode(node);
  Run(1, "n1", 100, 1);
  EXPECT_EQ(Preempt(Make(9, 40, 5)), nullptr);
}

TEST_F(PreemptionTest, APodThatMayNotPreemptDoesNot) {
  SetNode(1, 100);
  Run(1, "n1", 100, 1);
  auto pod = Make(9, 40, 5);
  pod->never_preempts = true;
  EXPECT_EQ(Preempt(pod), nullptr);
}

TEST_F(PreemptionTest, APodWhoseClaimIsMissingPreemptsNobody) {
  SetNode(1, 100);
  Run(1, "n1", 100, 1);
  auto pod = Make(9, 40, 5);
  pod->claims.push_back("c");
  EXPECT_EQ(Preempt(pod), nullptr);
}

// First the lowest highest priority, then the lowest sum, then the fewest, then the youngest.
TEST_F(PreemptionTest, TheNodeIsChosenByItsVictims) {
  SetNode(1, 100);
  SetNode(2, 100);
  Run(1, "n1", 100, 3);
  const auto second = Run(2, "n2", 100, 2);
  EXPECT_EQ(Preempt(Make(9, 100, 5))->node, "n2");
  Delete(second);
  Run(3, "n2", 50, 3);
  Run(4, "n2", 50, 1);
  EXPECT_EQ(Preempt(Make(9, 100, 5))->node, "n1") << "of two victims the sum is higher";
  SetNode(3, 100);
  Run(5, "n3", 100, 3);
  EXPECT_EQ(Preempt(Make(9, 100, 5))->node, "n3") << "its victim is younger than that of n1";
}

// The node has room for all.
TEST_F(PreemptionTest, ThePodWithThePortGoes) {
  SetNode(1, 100);
  Run(1, "n1", 10, 1);
  RunOn("n1", MakeWithPort(2, 2));
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto result = Preempt(MakeWithPort(9, 5));
    ASSERT_NE(result, nullptr) << "attempt " << attempt;
    EXPECT_THAT(NumbersOf(*result), ElementsAre(2));
  }
}

TEST_F(PreemptionTest, ThePodThatKeepsOthersAwayGoes) {
  auto node = NodeOf(1, 100);
  node->labels = {{"zone", "a"}};
  SetNode(node);
  Run(1, "n1", 10, 1);
  auto lonely = Make(2, 10, 2);
  auto rules = std::make_shared<PodRules>();
  PodTerm term;
  term.selector = LabelSelector{{"app", LabelRequirement::Operator::kIn, {"x"}}};
  term.topology_key = "zone";
  rules->anti_affinity.push_back(term);
  lonely->rules = rules;
  RunOn("n1", lonely);
  auto pod = Make(9, 10, 5);
  pod->labels = {{"app", "x"}};
  const auto result = Preempt(pod);
  ASSERT_NE(result, nullptr);
  EXPECT_THAT(NumbersOf(*result), ElementsAre(2));
}

TEST_F(PreemptionTest, ANominationKeepsItsPort) {
  SetNode(1, 100);
  SetNode(2, 50);
  Nominate("n1", MakeWithPort(5, 3));
  EXPECT_EQ(placer_.Decide(*MakeWithPort(6, 3)).node, "n2");
  EXPECT_EQ(placer_.Decide(*MakeWithPort(7, 4)).node, "n1") << "a higher one takes it";
  EXPECT_EQ(placer_.Decide(*Make(8, 10, 3)).node, "n1") << "it wants no port";
}

TEST_F(PreemptionTest, WhileItsVictimsGoAPodChoosesNoOthers) {
  SetNode(1, 100);
  SetNode(2, 100);
  Run(1, "n1", 100, 1, true);
  Run(2, "n2", 100, 1);
  auto pod = Make(9, 40, 5);
  pod->nominated_node_name = "n1";
  const auto result = Preempt(pod);
  ASSERT_NE(result, nullptr);
  EXPECT_TRUE(result->victims_are_going);
  EXPECT_TRUE(result->victims.empty());
  EXPECT_EQ(result->node, "");
}

// The nomination of before may not have been delivered yet, and is not to be taken back.
TEST_F(PreemptionTest, AVictimThatIsGoingAlreadyIsOneAgain) {
  SetNode(1, 100);
  Run(1, "n1", 100, 1, true);
  const auto result = Preempt(Make(9, 40, 5));
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->node, "n1");
  EXPECT_THAT(NumbersOf(*result), ElementsAre(1));
}

// Lets the informers deliver a change while an attempt is under way.
class Meanwhile final : public PlacingPlugin {
 public:
  explicit Meanwhile(std::function<void()>* change) : change_(*change) {}

  std::string_view name() const override { return "Meanwhile"; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kFilter); }
  PreFilterAnswer PreFilter(PlacingAttempt*) const override {
    if (change_) std::exchange(change_, {})();
    return PreFilterAnswer::kSkip;
  }

 private:
  std::function<void()>& change_;
};

// Else the room that the pod has left would be looked for among those that are still there.
TEST_F(PreemptionTest, WhereAPodHasGoneMeanwhileNobodyIsAVictimInItsPlace) {
  std::function<void()> meanwhile;
  SchedulerCache cache([&meanwhile](const PlacingTools& tools) {
    std::vector<PlacingPluginRef> plugins = BuiltinPlacingPlugins(tools);
    plugins.push_back(std::make_unique<Meanwhile>(&meanwhile));
    return plugins;
  });
  const auto apply = [&cache](const ClusterPodRef& before, const ClusterPodRef& after) {
    ClusterChange change;
    change.pod_before = before;
    change.pod_after = after;
    cache.Apply(change);
  };
  ClusterChange node;
  node.resource = Resource::kNode;
  node.objects.after = NodeOf(1, 100);
  cache.Apply(node);
  std::vector<std::shared_ptr<ClusterPod>> pods;
  for (const uint64_t number : {1, 2}) {
    pods.push_back(Make(number, 50, 1));
    pods.back()->node_name = "n1";
    apply(nullptr, pods.back());
  }
  Placer placer(&cache);
  meanwhile = [&] { apply(pods[1], nullptr); };
  const Decision overtaken = placer.Decide(*Make(9, 50, 5));
  EXPECT_EQ(overtaken.node, "");
  EXPECT_TRUE(overtaken.was_overtaken);
  EXPECT_EQ(overtaken.post_filter, nullptr);
  EXPECT_EQ(placer.Decide(*Make(9, 50, 5)).node, "n1");
}

TEST_F(PreemptionTest, ANominationKeepsItsRoom) {
  SetNode(1, 100);
  SetNode(2, 50);
  Nominate("n1", Make(5, 100, 3));
  EXPECT_EQ(placer_.Decide(*Make(6, 10, 3)).node, "n2") << "of the same priority";
  EXPECT_EQ(placer_.Decide(*Make(7, 10, 2)).node, "n2") << "of a lower one";
  EXPECT_EQ(placer_.Decide(*Make(8, 60, 4)).node, "n1") << "a higher one takes it";
  EXPECT_EQ(placer_.Decide(*Make(5, 60, 3)).node, "n1") << "it is the pod's own";
  const Decision rejected = placer_.Decide(*Make(6, 60, 3));
  EXPECT_EQ(rejected.node, "");
  EXPECT_NE(rejected.rejectors, 0u);
}

TEST_F(PreemptionTest, ANominationOfAHigherPodKeepsAPreemptorAway) {
  SetNode(1, 100);
  Run(1, "n1", 100, 1);
  Nominate("n1", Make(5, 100, 7));
  EXPECT_EQ(Preempt(Make(9, 40, 5)), nullptr);
}

TEST_F(PreemptionTest, ANominatedPodTriesItsNodeFirst) {
  for (const uint64_t number : {1, 2, 3}) SetNode(number, 100);
  Run(1, "n3", 90, 1);
  auto pod = Make(9, 10, 5);
  const auto is_empty = AnyOf("n1", "n2");
  EXPECT_THAT(placer_.Decide(*pod).node, is_empty);
  pod->nominated_node_name = "n3";
  const Decision decision = placer_.Decide(*pod);
  EXPECT_EQ(decision.node, "n3");
  EXPECT_EQ(decision.nodes_looked_at, 1u);
  pod->requests = {{"cpu", 20}};
  EXPECT_THAT(placer_.Decide(*pod).node, is_empty) << "where it does not fit it goes elsewhere";
  pod->nominated_node_name = "unknown";
  EXPECT_EQ(placer_.Decide(*pod).node, "n1");
}

}  // namespace
}  // namespace schedq
