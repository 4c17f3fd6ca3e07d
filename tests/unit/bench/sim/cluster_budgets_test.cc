// Goal: the status of a disruption budget follows its pods as upstream's controller says it.
// Method: clusters with objects written as YAML, on a clock that is advanced.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "bench/sim/cluster/budget_controller.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"

namespace schedq {
namespace {

class ClusterBudgetTest : public testing::Test {
 protected:
  void CreateBudget(const std::string& name, const std::string& spec,
                    const std::string& namespace_name = "ns") {
    const auto object =
        ObjectFrom("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: " + name +
                   "}\nspec: {" + spec + "}\nstatus: {disruptionsAllowed: 7}\n");
    ASSERT_TRUE(cluster_.Create(object, namespace_name).ok());
  }
  // Bound at once.
  uint64_t CreatePod(const std::string& name, const std::string& app) {
    const auto object =
        ObjectFrom("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
                   ", labels: {app: " + app + "}}\nspec: {containers: [{name: c, image: i}]}\n");
    EXPECT_TRUE(cluster_.Create(object, "ns").ok());
    return cluster_.pods().last();
  }
  void Bind(uint64_t pod) { EXPECT_TRUE(cluster_.BindPod(pod, "n").ok()); }
  BudgetStatus StatusOf(const std::string& name, const std::string& namespace_name = "ns") {
    clock_.AdvanceTo(clock_.Now() + std::chrono::seconds(1));
    return cluster_.budgets().at(namespace_name + "/" + name)->status;
  }
  int64_t Allowed(const std::string& name) { return StatusOf(name).allowed; }

  void SetUp() override { ASSERT_TRUE(cluster_.Create(NodeObjectNamed("n"), "").ok()); }

  VirtualClock clock_{Instant()};
  Cluster cluster_{{.clock = &clock_}};
  BudgetController controller_{&cluster_, 2, [] { return std::chrono::milliseconds(1); }};
};

TEST_F(ClusterBudgetTest, AsManyMayGoAsAreHealthyBeyondTheMinimum) {
  CreateBudget("b", "selector: {matchLabels: {app: x}}, minAvailable: 1");
  EXPECT_EQ(Allowed("b"), 0) << "the client's status is not taken";
  const uint64_t first = CreatePod("a", "x");
  const uint64_t second = CreatePod("b", "x");
  Bind(CreatePod("c", "y"));
  EXPECT_EQ(StatusOf("b"), (BudgetStatus{2, 0, 1, 0})) << "none has a node";
  Bind(first);
  EXPECT_EQ(Allowed("b"), 0);
  Bind(second);
  EXPECT_EQ(StatusOf("b"), (BudgetStatus{2, 2, 1, 1}));
  ASSERT_TRUE(cluster_.DeletePodGracefully(first));
  EXPECT_TRUE(cluster_.FindPod(first)->deleting);
  EXPECT_EQ(StatusOf("b"), (BudgetStatus{2, 1, 1, 0})) << "it is going";
  ASSERT_TRUE(cluster_.DeletePod(first));
  EXPECT_EQ(StatusOf("b"), (BudgetStatus{1, 1, 1, 0}));
}

TEST_F(ClusterBudgetTest, ABudgetThatComesLaterCountsWhatIsThere) {
  Bind(CreatePod("a", "x"));
  CreateBudget("all", "selector: {}, minAvailable: 0");
  CreateBudget("none", "minAvailable: 0");
  CreateBudget("elsewhere", "selector: {}, minAvailable: 0", "other");
  EXPECT_EQ(Allowed("all"), 1);
  EXPECT_EQ(Allowed("none"), 0);
  EXPECT_EQ(StatusOf("elsewhere", "other").allowed, 0);
}

// What their controllers are to have nobody knows of pods that have none.
TEST_F(ClusterBudgetTest, ASharesBudgetLetsNoneGo) {
  Bind(CreatePod("a", "x"));
  Bind(CreatePod("b", "x"));
  CreateBudget("share", "selector: {matchLabels: {app: x}}, minAvailable: 50%");
  CreateBudget("most", "selector: {matchLabels: {app: x}}, maxUnavailable: 1");
  EXPECT_EQ(StatusOf("share"), (BudgetStatus{0, 2, 0, 0}));
  EXPECT_EQ(StatusOf("most"), (BudgetStatus{0, 2, 0, 0}));
}

TEST_F(ClusterBudgetTest, APodThatTakesOtherLabelsLeavesItsBudget) {
  const uint64_t pod = CreatePod("a", "x");
  Bind(pod);
  CreateBudget("b", "selector: {matchLabels: {app: x}}, minAvailable: 0");
  EXPECT_EQ(Allowed("b"), 1);
  cluster_.UpdatePod(pod, [](ClusterPod* after) {
    after->labels = {{"app", "y"}};
    return true;
  });
  EXPECT_EQ(Allowed("b"), 0);
}

TEST_F(ClusterBudgetTest, ABudgetThatIsGoneIsToldOfAsGone) {
  ChangeLog log(&cluster_);
  CreateBudget("b", "selector: {}, minAvailable: 0");
  EXPECT_EQ(Allowed("b"), 0);
  ASSERT_TRUE(cluster_.Delete({"PodDisruptionBudget", "ns", "b"}));
  clock_.AdvanceTo(clock_.Now() + std::chrono::seconds(1));
  ASSERT_FALSE(log.changes().empty());
  EXPECT_TRUE(log.changes().back().is_budget);
  EXPECT_EQ(log.changes().back().objects.after, nullptr);
  EXPECT_TRUE(cluster_.budgets().empty());
  CreateBudget("b", "selector: {}, minAvailable: 0");
}

}  // namespace
}  // namespace schedq
