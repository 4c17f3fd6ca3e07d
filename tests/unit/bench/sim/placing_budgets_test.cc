// Goal: disruption budgets decide among victims as upstream's rules say: those that violate one are
// put back before all others, a node without violations is better than any with some, and where
// nothing else helps they go all the same. The audit of a choice finds each kind of wrong one.
// Method: a cache as the informers fill it, nodes with pods of several priorities and budgets with
// a status; for the audit a plugin that is asked in place of DefaultPreemption.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/groups/group_cycle.h"
#include "bench/sim/placing/placer.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/placing/victim_audit.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/label_selector.h"
#include "engine/pod_group.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Gates WithGroups() {
  GateRequest request;
  request.Set(Gate::kGenericWorkload, true);
  return *Gates::Resolve(request);
}

class BudgetTest : public testing::Test {
 protected:
  explicit BudgetTest(const PlacingPluginSource& plugins = BuiltinPlacingPlugins)
      : cache_(plugins, WithGroups()) {}

  void SetNode(uint64_t number, int64_t cpu) {
    ClusterChange change;
    change.resource = Resource::kNode;
    change.objects.after = NodeOf(number, cpu);
    cache_.Apply(change);
  }
  static std::shared_ptr<ClusterPod> Make(uint64_t number, int64_t cpu, int32_t priority,
                                          const std::string& app = "") {
    auto pod = PodOf(number, cpu);
    pod->uid = "pod-" + std::to_string(number);
    pod->namespace_name = "ns";
    pod->name = pod->uid;
    pod->priority = priority;
    if (!app.empty()) pod->labels = {{"app", app}};
    return pod;
  }
  ClusterPodRef Run(uint64_t number, const std::string& node, int64_t cpu, int32_t priority,
                    const std::string& app = "", const std::string& group = "") {
    auto pod = Make(number, cpu, priority, app);
    pod->node_name = node;
    pod->group_name = group;
    ClusterChange change;
    change.pod_after = pod;
    cache_.Apply(change);
    return pod;
  }
  static ClusterBudgetRef Budget(const std::string& name, const std::string& app, int64_t allowed,
                                 const std::string& namespace_name = "ns") {
    auto budget = std::make_shared<ClusterBudget>();
    budget->name = name;
    budget->namespace_name = namespace_name;
    budget->spec.selector = LabelSelector{};
    if (!app.empty()) {
      budget->spec.selector->push_back({"app", LabelRequirement::Operator::kIn, {app}});
    }
    budget->status.allowed = allowed;
    return budget;
  }
  void SetBudget(const ClusterBudgetRef& budget) { ApplyBudget(nullptr, budget); }
  void ApplyBudget(const ClusterBudgetRef& before, const ClusterBudgetRef& after) {
    ClusterChange change;
    change.resource = Resource::kWildcard;
    change.is_budget = true;
    change.objects = {before, after};
    cache_.Apply(change);
  }
  void SetGroup(const std::string& name, int64_t min_count, int32_t priority, bool is_one) {
    auto group = std::make_shared<ClusterGroup>();
    group->name = name;
    group->namespace_name = "ns";
    auto known = std::make_shared<PodGroup>();
    known->key = {GroupKind::kPodGroup, "ns", name};
    known->priority = priority;
    group->group = known;
    group->spec.min_count = min_count;
    group->spec.priority = priority;
    group->spec.is_disrupted_as_one = is_one;
    ClusterChange change;
    change.resource = Resource::kPodGroup;
    change.objects.after = group;
    cache_.Apply(change);
  }
  std::shared_ptr<const PostFilterResult> Preempt(const ClusterPodRef& pod) {
    Decision decision = placer_.Decide(*pod);
    EXPECT_EQ(decision.node, "");
    return std::move(decision.post_filter);
  }
  static std::vector<uint64_t> NumbersOf(const std::vector<ClusterPodRef>& pods) {
    std::vector<uint64_t> numbers;
    for (const ClusterPodRef& pod : pods) numbers.push_back(pod->number);
    return numbers;
  }

  SchedulerCache cache_;
  Placer placer_{&cache_};
};

TEST_F(BudgetTest, APodWhoseBudgetIsSpentStaysAndAMoreImportantOneGoes) {
  SetNode(1, 100);
  Run(1, "n1", 50, 1, "kept");
  Run(2, "n1", 50, 2);
  const auto preempt = [this] { return Preempt(Make(9, 50, 5)); };
  EXPECT_THAT(NumbersOf(preempt()->victims), ElementsAre(1)) << "without a budget";
  SetBudget(Budget("b", "kept", 1));
  EXPECT_THAT(NumbersOf(preempt()->victims), ElementsAre(1)) << "it lets one go";
  const ClusterBudgetRef spent = Budget("b", "kept", 0);
  SetBudget(spent);
  EXPECT_THAT(NumbersOf(preempt()->victims), ElementsAre(2));
  EXPECT_EQ(preempt()->violations, 0u);
  ApplyBudget(spent, nullptr);
  EXPECT_THAT(NumbersOf(preempt()->victims), ElementsAre(1)) << "it is gone";
}

TEST_F(BudgetTest, WhereNothingElseHelpsABudgetIsViolated) {
  SetNode(1, 100);
  Run(1, "n1", 50, 1, "kept");
  Run(2, "n1", 50, 2, "kept");
  SetBudget(Budget("b", "kept", 0));
  const auto result = Preempt(Make(9, 60, 5));
  EXPECT_THAT(NumbersOf(result->victims), ElementsAre(2, 1)) << "the more important first";
  EXPECT_EQ(result->violations, 2u);
}

// One may go: of the two the more important one is counted first, and so takes what there is.
TEST_F(BudgetTest, WhatABudgetAllowsIsCountedFromTheMostImportantOn) {
  SetNode(1, 100);
  Run(1, "n1", 50, 1, "kept");
  Run(2, "n1", 50, 2, "kept");
  SetBudget(Budget("b", "kept", 1));
  const auto result = Preempt(Make(9, 50, 5));
  EXPECT_THAT(NumbersOf(result->victims), ElementsAre(2)) << "1 violates, and is put back first";
  EXPECT_EQ(result->violations, 0u);
}

TEST_F(BudgetTest, ANodeWithoutViolationsIsBetterThanOneWithLesserVictims) {
  SetNode(1, 100);
  SetNode(2, 100);
  Run(1, "n1", 100, 1, "kept");
  Run(2, "n2", 100, 4);
  EXPECT_EQ(Preempt(Make(9, 50, 5))->node, "n1");
  SetBudget(Budget("b", "kept", 0));
  EXPECT_EQ(Preempt(Make(9, 50, 5))->node, "n2");
}

TEST_F(BudgetTest, FewerViolationsAreBetter) {
  SetNode(1, 100);
  SetNode(2, 100);
  Run(1, "n1", 50, 1, "kept");
  Run(2, "n1", 50, 1, "kept");
  Run(3, "n2", 100, 4, "kept");
  SetBudget(Budget("b", "kept", 0));
  const auto result = Preempt(Make(9, 100, 5));
  EXPECT_EQ(result->node, "n2");
  EXPECT_EQ(result->violations, 1u);
}

// A hundred candidates are enough, but not while all of them violate a budget.
TEST_F(BudgetTest, TheSearchGoesOnUntilACandidateViolatesNothing) {
  constexpr uint64_t kNodes = 400;
  constexpr uint64_t kFree = 211;
  SetBudget(Budget("b", "kept", 0));
  for (uint64_t number = 1; number <= kNodes; ++number) {
    SetNode(number, 100);
    Run(number, "n" + std::to_string(number), 100, 1, number == kFree ? "" : "kept");
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Preempt(Make(9'000, 40, 5))->node, "n" + std::to_string(kFree));
  }
}

TEST_F(BudgetTest, ABudgetThatSelectsNothingForbidsNothing) {
  SetNode(1, 100);
  Run(1, "n1", 50, 1, "kept");
  Run(2, "n1", 50, 2);
  SetBudget(Budget("of-another-namespace", "kept", 0, "other"));
  SetBudget(Budget("of-another-app", "gone", 0));
  SetBudget(Budget("of-all", "", 0));
  auto without = std::make_shared<ClusterBudget>(*Budget("without", "kept", 0));
  without->spec.selector.reset();
  SetBudget(without);
  EXPECT_THAT(NumbersOf(Preempt(Make(9, 50, 5))->victims), ElementsAre(1));
}

TEST_F(BudgetTest, AGroupThatGoesAsOneViolatesAsOne) {
  SetNode(1, 100);
  SetNode(2, 100);
  SetGroup("all", 0, 1, true);
  Run(1, "n1", 50, 1, "", "all");
  Run(2, "n2", 50, 1, "kept", "all");
  Run(3, "n1", 50, 2);
  Run(4, "n2", 50, 6);
  SetBudget(Budget("b", "kept", 0));
  EXPECT_THAT(NumbersOf(Preempt(Make(9, 50, 5))->victims), ElementsAre(3));
}

TEST_F(BudgetTest, AGangSparesThoseThatABudgetKeeps) {
  SetNode(1, 100);
  SetNode(2, 100);
  Run(1, "n1", 100, 1, "kept");
  Run(2, "n2", 100, 2);
  SetGroup("g", 1, 5, false);
  auto member = Make(9, 80, 5);
  member->group_name = "g";
  GroupCycle cycle(&cache_, &placer_, Random(1));
  const auto run = [&] {
    return cycle.Run({GroupKind::kPodGroup, "ns", "g"}, {member}, Instant{});
  };
  const std::vector<uint64_t> without = NumbersOf(run().victims);
  EXPECT_EQ(without.size(), 1u);
  SetBudget(Budget("b", "kept", 0));
  SetBudget(Budget("c", "none", 0));
  const GroupOutcome outcome = run();
  EXPECT_LE(outcome.violations, 1u);
  // Where the member would go is decided before anyone is put back.
  const bool goes_to_kept = outcome.members[0].nominated == "n1";
  EXPECT_THAT(NumbersOf(outcome.victims), ElementsAre(goes_to_kept ? 1 : 2));
  EXPECT_EQ(outcome.violations, goes_to_kept ? 1u : 0u);
}

// On one node with room for the gang beside either.
TEST_F(BudgetTest, AGangTakesAMoreImportantPodWhereABudgetKeepsTheLesser) {
  SetNode(1, 100);
  Run(1, "n1", 50, 1, "kept");
  Run(2, "n1", 50, 2);
  SetGroup("g", 1, 5, false);
  auto member = Make(9, 50, 5);
  member->group_name = "g";
  GroupCycle cycle(&cache_, &placer_, Random(1));
  const GroupKey key{GroupKind::kPodGroup, "ns", "g"};
  EXPECT_THAT(NumbersOf(cycle.Run(key, {member}, Instant{}).victims), ElementsAre(1));
  SetBudget(Budget("b", "kept", 0));
  EXPECT_THAT(NumbersOf(cycle.Run(key, {member}, Instant{}).victims), ElementsAre(2));
}

// Asked in place of DefaultPreemption.
class AskedSearch final : public PlacingPlugin {
 public:
  using Ask = std::function<void(const FailedSearch& search)>;

  explicit AskedSearch(const Ask* ask) : ask_(*ask) {}
  std::string_view name() const override { return "AskedSearch"; }
  ExtensionPoints points() const override { return ExtensionPoints(ExtensionPoint::kPostFilter); }
  std::optional<PostFilterResult> PostFilter(const FailedSearch& search) const override {
    if (ask_) ask_(search);
    return std::nullopt;
  }

 private:
  const Ask& ask_;
};

class VictimAuditTest : public BudgetTest {
 protected:
  VictimAuditTest() : VictimAuditTest(std::make_shared<AskedSearch::Ask>()) {}

  static std::vector<PlacingPluginRef> Plugins(const PlacingTools& tools,
                                               const AskedSearch::Ask& ask) {
    std::vector<PlacingPluginRef> plugins = BuiltinPlacingPlugins(tools);
    std::erase_if(plugins, [](const PlacingPluginRef& plugin) {
      return plugin->name() == "DefaultPreemption";
    });
    plugins.push_back(std::make_unique<AskedSearch>(&ask));
    return plugins;
  }
  std::string FaultOf(const ClusterPodRef& pod, const std::string& node,
                      const std::vector<ClusterPodRef>& victims) {
    std::string fault = "not asked";
    *ask_ = [&](const FailedSearch& search) {
      PostFilterResult result;
      result.node = node;
      result.victims = victims;
      fault = FaultOfVictims(search, result, cache_);
    };
    EXPECT_EQ(placer_.Decide(*pod).node, "");
    return fault;
  }

  const std::shared_ptr<AskedSearch::Ask> ask_;

 private:
  explicit VictimAuditTest(std::shared_ptr<AskedSearch::Ask> ask)
      : BudgetTest([ask](const PlacingTools& tools) { return Plugins(tools, *ask); }),
        ask_(std::move(ask)) {}
};

TEST_F(VictimAuditTest, EachWrongChoiceIsFoundAndTheRightOneIsNot) {
  SetNode(1, 100);
  const ClusterPodRef kept = Run(1, "n1", 40, 1, "kept");
  const ClusterPodRef other = Run(2, "n1", 40, 2);
  const ClusterPodRef small = Run(3, "n1", 20, 3);
  const ClusterPodRef pod = Make(9, 40, 5);
  EXPECT_THAT(FaultOf(pod, "n1", {other}), IsEmpty());
  EXPECT_THAT(FaultOf(pod, "n1", {kept}), IsEmpty()) << "there is no budget";
  EXPECT_THAT(FaultOf(pod, "n1", {small}), HasSubstr("does not fit without"));
  EXPECT_THAT(FaultOf(pod, "n1", {small, other}), HasSubstr("pod-3 goes in vain"));
  EXPECT_THAT(FaultOf(Make(8, 40, 2), "n1", {other}), HasSubstr("not less important"));
  EXPECT_THAT(FaultOf(pod, "n7", {other}), HasSubstr("no such node"));
  SetBudget(Budget("b", "kept", 0));
  EXPECT_THAT(FaultOf(pod, "n1", {other}), IsEmpty());
  EXPECT_THAT(FaultOf(pod, "n1", {kept}), HasSubstr("pod-1 goes although its budget forbids it"));
  EXPECT_THAT(FaultOf(Make(7, 80, 5), "n1", {kept, other}), IsEmpty()) << "both are needed";
}

}  // namespace
}  // namespace schedq
