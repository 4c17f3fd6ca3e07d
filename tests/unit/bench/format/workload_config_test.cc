// Goal: a scheduler configuration is read as kube-scheduler reads it, and what the simulation does
// not follow is named; parameters of the command line and updateAny are checked before a run.
// Method: small files; the settings, the needs or the error of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "bench/format/suite/needs.h"
#include "bench/format/workload/decoder.h"
#include "bench/format/workload/given_params.h"
#include "bench/format/workload/model.h"
#include "bench/format/workload/scheduler_settings.h"
#include "engine/base/result.h"
#include "tests/unit/bench/format/workload_test_files.h"

namespace schedq {
namespace {

using testing::HasSubstr;

constexpr const char* kMeasure = "  - {opcode: createPods, count: 1, collectMetrics: true}\n";

// What the reader makes of a scheduler configuration: its settings, its needs, or its error.
class SchedulerConfig : public testing::Test {
 protected:
  static Result<std::vector<TestCase>> Decode(const std::string& config) {
    return DecodeText("- name: C\n  schedulerConfigPath: c.yaml\n  workloadTemplate:\n" +
                          std::string(kMeasure) + "  workloads:\n  - name: W\n",
                      {{"c.yaml", "kind: KubeSchedulerConfiguration\n" + config}});
  }
  static SchedulerSettings SettingsOf(const std::string& config) {
    const auto cases = Decode(config);
    EXPECT_TRUE(cases) << cases.error().message();
    return (*cases)[0].scheduler;
  }
  static std::vector<std::string> NeedsOfConfig(const std::string& config) {
    std::vector<std::string> needs;
    const auto cases = Decode(config);
    EXPECT_TRUE(cases) << cases.error().message();
    for (const Need& need : NeedsOf((*cases)[0].workloads[0])) needs.push_back(need.text);
    return needs;
  }
  static std::string ErrorOf(const std::string& config) {
    const auto cases = Decode(config);
    return cases ? "" : cases.error().message();
  }
};

TEST_F(SchedulerConfig, ReadsProfilesWithTheirPluginsAndArguments) {
  const SchedulerSettings settings = SettingsOf(
      "percentageOfNodesToScore: 40\nprofiles:\n"
      "- {schedulerName: a, percentageOfNodesToScore: 7, plugins: {\n"
      "   multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: "
      "DefaultBinder},"
      " {name: NodeResourcesFit, weight: 5}, {name: NodeAffinity}, {name: NodePorts},"
      " {name: PodTopologySpread}, {name: InterPodAffinity}, {name: VolumeBinding},"
      " {name: VolumeZone}, {name: VolumeRestrictions}, {name: NodeVolumeLimits},"
      " {name: DynamicResources}, {name: GangScheduling}, {name: DeferredPodScheduling},"
      " {name: TopologyPlacementGenerator}, {name: PodGroupPodsCount}]},\n"
      "   score: {disabled: [{name: NodeAffinity}]}}}\n"
      "- {schedulerName: b, pluginConfig: [\n"
      "   {name: InterPodAffinity, args: {hardPodAffinityWeight: 9}},\n"
      "   {name: PodTopologySpread, args: {defaultingType: List}},\n"
      "   {name: VolumeBinding, args: {bindTimeoutSeconds: 30}},\n"
      "   {name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio,"
      " requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: "
      "10}]}}}}]}\n");
  ASSERT_EQ(settings.profiles.size(), 2u);
  const SchedulerProfile& a = settings.profiles[0];
  EXPECT_EQ(a.percentage_of_nodes, 7);
  EXPECT_EQ(a.ChoiceOf("NodeResourcesFit").weight, 5);
  EXPECT_FALSE(a.ChoiceOf("NodeResourcesFit").IsOff(PluginRole::kScore));
  EXPECT_TRUE(a.ChoiceOf("NodeAffinity").IsOff(PluginRole::kScore));
  EXPECT_FALSE(a.ChoiceOf("NodeAffinity").IsOff(PluginRole::kFilter));
  EXPECT_TRUE(a.ChoiceOf("SchedulingGates").IsOff(PluginRole::kPreEnqueue));
  const SchedulerProfile& b = settings.profiles[1];
  EXPECT_EQ(b.percentage_of_nodes, 40);
  EXPECT_EQ(b.hard_pod_affinity_weight, 9);
  EXPECT_FALSE(b.has_default_spread);
  EXPECT_EQ(a.volume_bind_timeout, std::chrono::minutes(10));
  EXPECT_EQ(b.volume_bind_timeout, std::chrono::seconds(30));
  EXPECT_EQ(b.fit_scoring.strategy, FitScoring::Strategy::kRequestedToCapacityRatio);
  EXPECT_EQ(b.fit_scoring.shape.size(), 2u);
  EXPECT_TRUE(SettingsOf("").profiles[0].has_default_spread);
}

TEST_F(SchedulerConfig, NamesWhatTheSimulationDoesNotFollow) {
  const std::string plugins = "profiles: [{plugins: {";
  EXPECT_EQ(NeedsOfConfig(plugins + "filter: {disabled: [{name: NodeResourcesFit}]}}}]\n"),
            (std::vector<std::string>{"scheduler configuration NodeResourcesFit turned off"}));
  EXPECT_EQ(NeedsOfConfig(plugins + "bind: {disabled: [{name: DefaultBinder}]}}}]\n"),
            (std::vector<std::string>{"scheduler configuration plugins.bind"}));
  EXPECT_EQ(NeedsOfConfig("extenders: [{urlPrefix: x}]\n"),
            (std::vector<std::string>{"scheduler configuration extenders"}));
  EXPECT_EQ(NeedsOfConfig("profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: "
                          "[{utilization: 0, score: 1}]}}]}]\n"),
            (std::vector<std::string>{"scoring configuration VolumeBinding shape"}));
  EXPECT_EQ(NeedsOfConfig(plugins + "filter: {disabled: [{name: TaintToleration}]}}}]\n"),
            std::vector<std::string>());
}

TEST_F(SchedulerConfig, RefusesWhatKubeSchedulerWouldRefuse) {
  EXPECT_THAT(ErrorOf("profiles: [{plugins: {score: {enabled: [{name: Nope}]}}}]\n"),
              HasSubstr("c.yaml:2:41: unknown plugin \"Nope\""));
  EXPECT_THAT(ErrorOf("profiles: [{plugins: {score: {enabled: [{name: NodePorts}]}}}]\n"),
              HasSubstr("nothing to do at this extension point"));
  EXPECT_THAT(ErrorOf("profiles: [{schedulerName: a}, {schedulerName: a}]\n"), HasSubstr("twice"));
  EXPECT_THAT(ErrorOf("profiles: [{surplus: 1}]\n"), HasSubstr("surplus"));
  EXPECT_THAT(ErrorOf("percentageOfNodesToScore: 101\n"), HasSubstr("expected 0 to 100"));
  const std::string volumes = "profiles: [{pluginConfig: [{name: VolumeBinding, args: ";
  EXPECT_THAT(ErrorOf(volumes + "{bindTimeoutSeconds: -1}}]}]\n"),
              HasSubstr("bindTimeoutSeconds is -1, expected 0 to"));
  EXPECT_THAT(ErrorOf(volumes + "{bindTimeoutSeconds: soon}}]}]\n"),
              HasSubstr("bindTimeoutSeconds"));
  EXPECT_THAT(ErrorOf(volumes + "{bindTimeout: 1}}]}]\n"), HasSubstr("bindTimeout"));
  EXPECT_THAT(ErrorOf("podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 2\n"),
              HasSubstr("podMaxBackoffSeconds is below"));
  EXPECT_THAT(ErrorOf("profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: "
                      "{type: RequestedToCapacityRatio}}}]}]\n"),
              HasSubstr("expected its shape"));
}

TEST(GivenParamsTest, StandInForWhatAFileLacksAndGoBeforeIt) {
  const std::string ops =
      "  - {opcode: createPods, countParam: $n, namespace: x}\n" + std::string(kMeasure);
  const auto decode = [&](const std::string& params, std::vector<std::string> texts) {
    Result<GivenParams> given = GivenParams::Parse(texts);
    EXPECT_TRUE(given);
    const auto cases = DecodeWorkloadFile(
        "w.yaml", SourceOf({{"w.yaml", CaseOf(ops, params)}, {"pod.yaml", kTestPod}}), &*given);
    EXPECT_TRUE(cases) << cases.error().message();
    return (*cases)[0].workloads[0];
  };
  const auto count = [](const Workload& workload) {
    return std::get<CreatePodsOp>(workload.ops[0].action).count;
  };
  EXPECT_NE(DefectOf(decode("", {})), nullptr);
  const Workload filled = decode("", {"n=4"});
  EXPECT_EQ(count(filled), 4);
  EXPECT_FALSE(filled.has_other_params);
  const Workload replaced = decode("n: 3", {"n=4"});
  EXPECT_EQ(count(replaced), 4);
  EXPECT_TRUE(replaced.has_other_params);
  for (const char* bad : {"n", "=4", "n=", "n=[1]"}) EXPECT_FALSE(GivenParams::Parse({bad})) << bad;
  EXPECT_FALSE(GivenParams::Parse({"n=1", "n=2"}));
  EXPECT_FALSE(GivenParams::Parse({"n=1"})->CheckAllUsed()) << "no workload has read it";
}

TEST(UpdateAny, NamesAnObjectThatHasAStatus) {
  const auto error = [](const std::string& text, const std::string& more = "") {
    const auto cases =
        DecodeText(CaseOf("  - {opcode: updateAny, templatePath: o.yaml" + more + "}\n" + kMeasure),
                   {{"o.yaml", text}});
    return cases ? "" : cases.error().message();
  };
  const std::string node = "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n";
  EXPECT_EQ(error(node), "");
  EXPECT_THAT(error("apiVersion: v1\nkind: Node\nmetadata: {generateName: n-}\n"),
              HasSubstr("no metadata.name"));
  EXPECT_THAT(error("apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: c}\n"),
              HasSubstr("has no status"));
  EXPECT_THAT(error(node, ", subresources: [resize]"), HasSubstr("expected a Pod to resize"));
  EXPECT_THAT(error(node, ", subresources: [scale]"), HasSubstr("status or resize"));
}

TEST(UpdateAny, OfAKindWhoseUpdatesAreNotFollowedSkipsTheWorkloadByName) {
  const auto can_run = [](const std::string& text) {
    const auto cases = DecodeText(
        CaseOf(std::string("  - {opcode: updateAny, templatePath: o.yaml}\n") + kMeasure),
        {{"o.yaml", text}});
    EXPECT_TRUE(cases.ok()) << cases.error().message();
    return CanRun((*cases)[0].workloads[0]);
  };
  EXPECT_TRUE(can_run("apiVersion: v1\nkind: Node\nmetadata: {name: n}\n"));
  EXPECT_FALSE(
      can_run("apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {accessModes: "
              "[ReadWriteOnce], capacity: {storage: 1Gi}}\n"));
}

}  // namespace
}  // namespace schedq
