// Goal: updateAny changes objects as a client's PUT does, on both clocks and with both engines; the
// changes wake exactly the pods that they help; and so do profiles, priority classes, features of
// nodes and shared searches what kube-scheduler's do.
// Method: small workloads whose pods can be placed only after the change, or must not be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/result.h"
#include "engine/gates.h"
#include "perf/documents/run_document.h"
#include "tests/unit/bench/format/workload_test_files.h"
#include "tests/unit/bench/sim/run_ops.h"
#include "tests/unit/bench/sim/run_test_objects.h"

namespace schedq {
namespace {

using testing::HasSubstr;

std::string Node(const std::string& spec, const std::string& labels = "{}",
                 const std::string& cpu = "4") {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: 'n{{.Index}}', labels: " + labels +
         "}\nspec: " + spec + "\nstatus: {capacity: {cpu: '" + cpu +
         "', memory: 32Gi, pods: '110'}}\n";
}

std::string NamedPod(const std::string& spec, const std::string& cpu = "100m",
                     const std::string& labels = "{}") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: 'p{{.Index}}', labels: " + labels +
         "}\nspec:\n" + spec +
         "  containers:\n  - {name: c, image: i, resources: {requests: {cpu: " + cpu + "}}}\n";
}

const std::string kSection = "  - {opcode: startCollectingMetrics, name: m, namespaces: [m]}\n";
const std::string kBarrier = "  - {opcode: barrier}\n";
const std::string kAttempted = "  - {opcode: barrier, stageRequirement: Attempted}\n";
const std::string kStop = "  - {opcode: stopCollectingMetrics}\n";
const std::string kTwoNodes = "  - {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}\n";

std::string Pods(const std::string& more = ", skipWaitToCompletion: true") {
  return "  - {opcode: createPods, count: 3, podTemplatePath: p.yaml, namespace: m" + more + "}\n";
}

class RunUpdatesTest : public testing::TestWithParam<ClockAndEngine> {
 protected:
  // All pods are on nodes in the end, and the audit finds nothing.
  static RunOutcome MustEnd(const std::string& ops, const TestFiles& files,
                            RunOptions options = {}) {
    const RunOutcome outcome = RunOps(ops, files, GetParam(), std::move(options));
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
    return outcome;
  }
  static uint64_t Hints(const RunOutcome& outcome, const std::string& plugin,
                        const std::string& event, const std::string& hint) {
    const auto found =
        outcome.counters.find("scheduler_queueing_hint_execution_duration_seconds_count{plugin=\"" +
                              plugin + "\",event=\"" + event + "\",hint=\"" + hint + "\"}");
    return found == outcome.counters.end() ? 0 : found->second;
  }
};

TEST_P(RunUpdatesTest, ANodeThatIsOpenedTakesPods) {
  const TestFiles files = {{"node.yaml", Node("{unschedulable: true}")},
                           {"open.yaml", Node("{}")},
                           {"p.yaml", NamedPod("")}};
  const RunOutcome outcome = MustEnd(
      kSection + kTwoNodes + Pods() + kAttempted +
          "  - {opcode: updateAny, count: 2, templatePath: open.yaml, updatePerSecond: 100}\n" +
          kBarrier + kStop,
      files);
  EXPECT_EQ(outcome.pods, 3u);
  EXPECT_GT(Hints(outcome, "NodeUnschedulable", "NodeUpdateNodeTaint", "Queue"), 0u);
}

TEST_P(RunUpdatesTest, ANodeThatGrowsTakesPodsAndKeepsItsTaints) {
  const std::string taint = "{taints: [{key: k, effect: NoSchedule}]}";
  const TestFiles files = {{"node.yaml", Node(taint, "{}", "10m")},
                           {"more.yaml", Node(taint)},
                           {"p.yaml", NamedPod("  tolerations: [{key: k, operator: Exists}]\n")},
                           {"other.yaml", NamedPod("")}};
  const RunOutcome outcome =
      MustEnd(kSection + kTwoNodes + Pods() +
                  "  - {opcode: createPods, count: 1, podTemplatePath: other.yaml, namespace: n, "
                  "skipWaitToCompletion: true}\n" +
                  kAttempted + "  - {opcode: updateAny, count: 2, templatePath: more.yaml}\n" +
                  "  - {opcode: barrier, namespaces: [m]}\n" + kStop,
              files);
  EXPECT_EQ(outcome.pods, 3u);
  EXPECT_GT(Hints(outcome, "NodeResourcesFit", "NodeUpdateNodeAllocatable", "Queue"), 0u);
}

TEST_P(RunUpdatesTest, PodsThatComeToTolerateOrLoseTheirGatesAreTriedAgain) {
  const std::string taint = "{taints: [{key: k, effect: NoSchedule}]}";
  const std::string gate = "  schedulingGates: [{name: g}]\n";
  const TestFiles files = {
      {"node.yaml", Node(taint)},
      {"p.yaml", NamedPod("")},
      {"gated.yaml", NamedPod(gate)},
      {"update.yaml", NamedPod("  tolerations: [{key: k, operator: Exists}]\n")}};
  const RunOutcome outcome =
      MustEnd(kSection + kTwoNodes + Pods() +
                  "  - {opcode: createPods, count: 3, podTemplatePath: gated.yaml, namespace: g, "
                  "skipWaitToCompletion: true}\n" +
                  "  - {opcode: barrier, namespaces: [m], stageRequirement: Attempted}\n" +
                  "  - {opcode: updateAny, count: 3, namespace: m, templatePath: update.yaml}\n" +
                  "  - {opcode: updateAny, count: 3, namespace: g, templatePath: update.yaml}\n" +
                  kBarrier + kStop,
              files);
  EXPECT_EQ(outcome.pods, 3u);
}

// Each of the blockers fills its node until it asks for less.
TEST_P(RunUpdatesTest, PodsThatShrinkMakeRoom) {
  const TestFiles files = {{"node.yaml", kNodeYaml},
                           {"big.yaml", NamedPod("", "'4'")},
                           {"small.yaml", NamedPod("", "'1'")},
                           {"p.yaml", NamedPod("", "'2'")}};
  const std::string blockers =
      "  - {opcode: createPods, count: 3, podTemplatePath: big.yaml, namespace: b}\n";
  const std::string nodes = "  - {opcode: createNodes, count: 3, nodeTemplatePath: node.yaml}\n";
  const RunOutcome outcome =
      MustEnd(nodes + blockers + kSection + Pods() + kAttempted +
                  "  - {opcode: updateAny, count: 3, namespace: b, templatePath: small.yaml, "
                  "subresources: [resize]}\n" +
                  kBarrier + kStop,
              files);
  EXPECT_EQ(outcome.pods, 3u);
  EXPECT_GT(Hints(outcome, "NodeResourcesFit", "AssignedPodUpdatePodScaleDown", "Queue"), 0u);
}

// The API server refuses what a client may not change; the run is over then.
TEST(RunUpdatesRefusedTest, AnUpdateThatTheApiServerWouldNotTakeIsAnError) {
  const TestFiles files = {
      {"node.yaml", kNodeYaml}, {"p.yaml", NamedPod("")}, {"more.yaml", NamedPod("", "200m")}};
  const auto run = [&](const std::string& update) {
    const std::string ops =
        kTwoNodes + kSection + Pods("") + "  - {opcode: updateAny, " + update + "}\n" + kStop;
    const Result<std::vector<TestCase>> cases = DecodeText(CaseOf(ops), files);
    EXPECT_TRUE(cases.ok()) << cases.error().message();
    static const CostModel kCosts = *LoadCostModel("upstream");
    RunOptions options;
    options.costs = &kCosts;
    const auto outcome = RunWorkload((*cases)[0], (*cases)[0].workloads[0], options);
    return outcome ? "" : outcome.error().message();
  };
  EXPECT_THAT(run("namespace: m, templatePath: p.yaml"), HasSubstr("node name"));
  EXPECT_THAT(run("namespace: other, templatePath: p.yaml"), HasSubstr("does not exist"));
  EXPECT_THAT(run("namespace: m, count: 4, templatePath: more.yaml, subresources: [resize]"),
              HasSubstr("Pod m/p3: it does not exist"));
}

TEST_P(RunUpdatesTest, PodsOfOtherSchedulersAreLeftAlone) {
  const TestFiles files = {{"node.yaml", kNodeYaml},
                           {"p.yaml", NamedPod("")},
                           {"other.yaml", NamedPod("  schedulerName: somebody-else\n")}};
  const RunOutcome outcome =
      MustEnd(kTwoNodes + kSection +
                  "  - {opcode: createPods, count: 2, podTemplatePath: other.yaml, namespace: o, "
                  "skipWaitToCompletion: true}\n" +
                  Pods("") + kStop,
              files);
  EXPECT_EQ(outcome.pods, 3u);
  const std::string added =
      "scheduler_queue_incoming_pods_total{queue=\"active\",event=\"UnscheduledPodAdd\"}";
  EXPECT_EQ(outcome.counters.at(added), 3u);
}

// Only the pod of the class may make room for itself.
TEST_P(RunUpdatesTest, APriorityClassSaysThePriority) {
  const TestFiles files = {{"node.yaml", kNodeYaml},
                           {"class.yaml",
                            "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
                            "metadata: {name: urgent}\nvalue: 100\n"},
                           {"big.yaml", NamedPod("  terminationGracePeriodSeconds: 0\n", "'4'")},
                           {"p.yaml", NamedPod("  priorityClassName: urgent\n", "'4'")}};
  const RunOutcome outcome = MustEnd(
      "  - {opcode: createNodes, count: 3, nodeTemplatePath: node.yaml}\n"
      "  - {opcode: createAny, templatePath: class.yaml}\n"
      "  - {opcode: createPods, count: 3, podTemplatePath: big.yaml, namespace: b}\n" +
          kSection + Pods("") + kStop,
      files);
  EXPECT_EQ(outcome.pods, 3u);
}

TEST_P(RunUpdatesTest, FeaturesThatNodesDeclareDecide) {
  const std::string needing = "  hostNetwork: true\n  hostUsers: false\n";
  const std::string declaring =
      "apiVersion: v1\nkind: Node\nmetadata: {name: 'n{{.Index}}'}\nstatus:\n"
      "  capacity: {cpu: '4', memory: 32Gi, pods: '110'}\n"
      "  declaredFeatures: [UserNamespacesHostNetworkSupport, Another]\n";
  const TestFiles files = {
      {"node.yaml", kNodeYaml}, {"declares.yaml", declaring}, {"p.yaml", NamedPod(needing)}};
  const RunOutcome outcome = MustEnd(
      kTwoNodes + kSection + Pods() + kAttempted +
          "  - {opcode: updateAny, count: 1, templatePath: declares.yaml}\n" + kBarrier + kStop,
      files);
  EXPECT_EQ(outcome.pods, 3u);
  const uint64_t asked =
      Hints(outcome, "NodeDeclaredFeatures", "NodeUpdateNodeDeclaredFeature", "Queue");
  EXPECT_GE(asked, 3u);
  // On the real clock a pod that fails while the event comes may be judged twice.
  EXPECT_LE(asked, std::get<ClockKind>(GetParam()) == ClockKind::kReal ? 6u : 3u);
}

INSTANTIATE_TEST_SUITE_P(All, RunUpdatesTest, ClocksAndEngines(), NameOfClockAndEngine);

// A workload with a scheduler configuration, on the virtual clock.
class ProfilesTest : public testing::Test {
 protected:
  static RunOutcome Run(const std::string& config, const std::string& ops, TestFiles files,
                        const std::string& gates = "") {
    files["config.yaml"] =
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n" +
        config;
    const std::string text = "- name: C\n  schedulerConfigPath: config.yaml\n" + gates +
                             "  workloadTemplate:\n" + ops + "  workloads:\n  - name: W\n";
    const Result<std::vector<TestCase>> cases = DecodeText(text, files);
    EXPECT_TRUE(cases.ok()) << cases.error().message();
    static const CostModel kCosts = *LoadCostModel("upstream");
    RunOptions options;
    options.costs = &kCosts;
    options.gates = *Gates::Resolve((*cases)[0].workloads[0].gates);
    const auto outcome = RunWorkload((*cases)[0], (*cases)[0].workloads[0], options);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message();
    EXPECT_EQ(outcome->outcome, WorkloadOutcome::kMeasured) << outcome->reason;
    return *outcome;
  }
  static uint64_t Counter(const RunOutcome& outcome, const std::string& name) {
    const auto found = outcome.counters.find(name);
    return found == outcome.counters.end() ? 0 : found->second;
  }
};

// The pods of the second profile ignore the taint that keeps the others away.
TEST_F(ProfilesTest, EachProfileHasItsOwnPlugins) {
  const TestFiles files = {{"node.yaml", Node("{taints: [{key: k, effect: NoSchedule}]}")},
                           {"p.yaml", NamedPod("  schedulerName: careless\n")},
                           {"other.yaml", NamedPod("")}};
  const std::string config =
      "profiles:\n- schedulerName: default-scheduler\n"
      "- schedulerName: careless\n  plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}\n";
  const RunOutcome outcome =
      Run(config,
          kTwoNodes +
              "  - {opcode: createPods, count: 2, podTemplatePath: other.yaml, namespace: o, "
              "skipWaitToCompletion: true}\n" +
              kSection + Pods("") + kStop,
          files);
  EXPECT_EQ(outcome.pods, 3u);
  EXPECT_EQ(Counter(outcome,
                    "scheduler_schedule_attempts_total{result=\"scheduled\",profile="
                    "\"default-scheduler\"}"),
            0u);
}

// Of two nodes, one of which has a pod, each strategy takes another. Only an empty node has 4.
TEST_F(ProfilesTest, TheScoringStrategyDecidesWhichNodeFillsUp) {
  const TestFiles files = {{"node.yaml", kNodeYaml}, {"p.yaml", NamedPod("", "'1'")}};
  const auto used = [&](const std::string& strategy) {
    const std::string config =
        "profiles:\n- pluginConfig:\n  - {name: NodeResourcesFit, args: {scoringStrategy: {type: " +
        strategy + ", resources: [{name: cpu, weight: 1}]}}}\n" +
        "  plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}\n";
    const std::string big =
        "  - {opcode: createPods, count: 2, podTemplatePath: big.yaml, namespace: b, "
        "skipWaitToCompletion: true}\n  - {opcode: sleep, duration: 2s}\n";
    TestFiles more = files;
    more["big.yaml"] = NamedPod("", "'4'");
    const RunOutcome outcome = Run(config, kTwoNodes + kSection + Pods("") + big + kStop, more);
    return Counter(outcome,
                   "scheduler_schedule_attempts_total{result=\"scheduled\",profile="
                   "\"default-scheduler\"}");
  };
  EXPECT_EQ(used("MostAllocated"), 4u) << "one big pod has the other node";
  EXPECT_EQ(used("LeastAllocated"), 3u) << "both nodes have pods";
}

constexpr const char* kNoDefaultSpread =
    "profiles:\n- pluginConfig:\n  - {name: PodTopologySpread, args: {defaultingType: List, "
    "defaultConstraints: []}}\n";

// Each pod fills its node, so that the search of the first one serves all.
TEST_F(ProfilesTest, PodsThatSayTheSameShareASearch) {
  const TestFiles files = {{"node.yaml", kNodeYaml}, {"p.yaml", NamedPod("", "'3'")}};
  const std::string ops =
      "  - {opcode: createNodes, count: 20, nodeTemplatePath: node.yaml}\n"
      "  - {opcode: createPods, count: 20, podTemplatePath: p.yaml, signatureBatchSize: 20, "
      "collectMetrics: true}\n";
  const std::string used =
      "scheduler_batch_attempts_total{profile=\"default-scheduler\",result=\"hint_used\"}";
  const RunOutcome shared = Run(kNoDefaultSpread, ops, files);
  EXPECT_EQ(shared.pods, 20u);
  EXPECT_EQ(Counter(shared, used), 19u) << "the first pod searches";
  const std::string off = "  featureGates: {OpportunisticBatching: false}\n";
  EXPECT_EQ(Counter(Run(kNoDefaultSpread, ops, files, off), used), 0u);
  EXPECT_EQ(Counter(Run("", ops, files), used), 0u) << "the default spread looks at more";
}

// A node that has room for another pod of the kind competes with the others.
TEST_F(ProfilesTest, ANodeThatStillFitsCompetesAgain) {
  const TestFiles files = {{"node.yaml", kNodeYaml}, {"p.yaml", NamedPod("", "'1'")}};
  const std::string ops =
      "  - {opcode: createNodes, count: 5, nodeTemplatePath: node.yaml}\n"
      "  - {opcode: createPods, count: 20, podTemplatePath: p.yaml, signatureBatchSize: 20, "
      "collectMetrics: true}\n";
  const RunOutcome outcome = Run(kNoDefaultSpread, ops, files);
  EXPECT_EQ(outcome.pods, 20u);
  EXPECT_GT(Counter(outcome,
                    "scheduler_batch_attempts_total{profile=\"default-scheduler\",result="
                    "\"hint_used\"}"),
            10u);
}

TEST_F(ProfilesTest, TheGoCodesParameterMakesNodesDeclare) {
  const TestFiles files = {
      {"node.yaml", kNodeYaml},
      {"p.yaml",
       "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
       "  resources: {requests: {cpu: 100m}}\n  containers: [{name: c, image: i}]\n"}};
  const std::string text = "- name: C\n  workloadTemplate:\n" + kTwoNodes + kSection + Pods("") +
                           kStop +
                           "  workloads:\n  - name: W\n    params: {numNodeDeclaredFeatures: 12}\n"
                           "    featureGates: {NodeDeclaredFeatures: true}\n";
  const Result<std::vector<TestCase>> cases = DecodeText(text, files);
  ASSERT_TRUE(cases.ok()) << cases.error().message();
  EXPECT_EQ((*cases)[0].workloads[0].node_features, 12);
  static const CostModel kCosts = *LoadCostModel("upstream");
  RunOptions options;
  options.costs = &kCosts;
  const auto outcome = RunWorkload((*cases)[0], (*cases)[0].workloads[0], options);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message();
  EXPECT_EQ(outcome->pods, 3u);
}

}  // namespace
}  // namespace schedq
