// Goal: groups keep their promises on both clocks and with both engines: a gang goes as a whole or
// not at all, a basic group as far as it fits, a group with a topology constraint to one domain;
// pods of a lower priority go for a gang, and a group that is disrupted as one goes together.
// Method: whole runs of small workloads, each with the audit at its end; counters and objects show
// what came of them. The canary is a scheduler without GangScheduling, which the audit must blame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/queue/trace_recorder.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "engine/gates.h"
#include "perf/documents/run_document.h"
#include "schedq/engine_kind.h"
#include "tests/unit/bench/format/workload_test_files.h"
#include "tests/unit/bench/sim/run_ops.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::Not;

// Nodes of two processors, four to a rack.
constexpr const char* kRackNode =
    "apiVersion: v1\nkind: Node\nmetadata: {name: 'n{{.Index}}', labels: {rack: "
    "'r{{DivideInt .Index 4}}'}}\nstatus: {capacity: {cpu: '2', memory: 32Gi, pods: '110'}}\n";
constexpr const char* kGroup =
    "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: "
    "'{{.name}}-{{.Index}}'}\n"
    "spec:\n  priority: {{AddInt 0 .priority}}\n  schedulingPolicy: "
    "{{if .min}}{gang: {minCount: {{.min}}}}{{else}}{basic: {}}{{end}}\n"
    "{{if .topology}}  schedulingConstraints: {topology: [{key: rack}]}\n{{end}}"
    "{{if .together}}  disruptionMode: {all: {}}\n{{end}}"
    "{{if .parent}}  {{.parent}}\n{{end}}";
constexpr const char* kTree =
    "apiVersion: scheduling.k8s.io/v1alpha3\nkind: CompositePodGroup\nmetadata: {name: t}\n"
    "spec: {schedulingPolicy: {gang: {minGroupCount: 2}}}\n";
constexpr const char* kMember =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: '{{.name}}-{{.Index}}'}\nspec:\n"
    "  priority: {{AddInt 0 .priority}}\n  terminationGracePeriodSeconds: 0\n"
    "  schedulingGroup: {podGroupName: '{{.name}}-{{DivideInt .Index .size}}'}\n"
    "  containers: [{name: c, image: i, resources: {requests: {cpu: '{{.cpu}}'}}}]\n";
constexpr const char* kLow =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: low-}\nspec:\n"
    "  terminationGracePeriodSeconds: 0\n"
    "  containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]\n";

const TestFiles& Files() {
  static const TestFiles kFiles = {{"node.yaml", kRackNode},
                                   {"group.yaml", kGroup},
                                   {"member.yaml", kMember},
                                   {"low.yaml", kLow},
                                   {"tree.yaml", kTree}};
  return kFiles;
}

std::string Nodes(int count) {
  return "  - {opcode: createNodes, count: " + std::to_string(count) +
         ", nodeTemplatePath: node.yaml}\n";
}

// A number of groups of one kind, and their pods.
struct Groups {
  std::string name = "g";
  int count = 1;
  int size = 4;
  int min = 0;  // 0: not a gang.
  int priority = 0;
  int pod_priority = -1;  // -1: the groups'.
  bool topology = false;
  bool together = false;
  std::string cpu = "1";
  std::string parent = "";
  std::string wait = "";  // Beside the operation's fields.
  std::string space = "ns";
};

std::string Text(const Groups& groups) {
  const int pod_priority = groups.pod_priority < 0 ? groups.priority : groups.pod_priority;
  const auto flag = [](bool on) { return std::string(on ? "true" : "false"); };
  return "  - {opcode: createPodGroups, namespace: " + groups.space +
         ", count: " + std::to_string(groups.count) +
         ", templatePath: group.yaml, templateParams: {name: " + groups.name +
         ", min: " + std::to_string(groups.min) + ", priority: " + std::to_string(groups.priority) +
         ", topology: " + flag(groups.topology) + ", together: " + flag(groups.together) +
         ", parent: '" + groups.parent +
         "'}}\n  - {opcode: createPods, namespace: " + groups.space +
         ", count: " + std::to_string(groups.count * groups.size) +
         ", podTemplatePath: member.yaml, templateParams: {name: " + groups.name +
         ", size: " + std::to_string(groups.size) + ", cpu: '" + groups.cpu +
         "', priority: " + std::to_string(pod_priority) + "}" + groups.wait + "}\n";
}

const std::string kMeasured = ", collectMetrics: true";
const std::string kNotAwaited = ", skipWaitToCompletion: true";
const std::string kBegin = "  - {opcode: startCollectingMetrics, name: all, namespaces: [ns]}\n";
const std::string kEnd = "  - {opcode: stopCollectingMetrics}\n";
const std::string kAttempted = "  - {opcode: barrier, stageRequirement: Attempted}\n";

RunOptions WithGroups(bool by_topology = false) {
  GateRequest request;
  request.Set(Gate::kGenericWorkload, true);
  request.Set(Gate::kTopologyAwareWorkloadScheduling, by_topology);
  RunOptions options;
  options.gates = *Gates::Resolve(request);
  return options;
}

class GroupRuns : public testing::TestWithParam<ClockAndEngine> {
 protected:
  RunOutcome Run(const std::string& ops, const RunOptions& options = WithGroups()) {
    return RunOps(ops, Files(), GetParam(), options);
  }
};

TEST_P(GroupRuns, AGangGoesAsAWhole) {
  const RunOutcome outcome = Run(Nodes(8) + Text({.count = 3, .min = 4, .wait = kMeasured}));
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 12u);
}

// The nodes take four of its six pods.
TEST_P(GroupRuns, AGangThatDoesNotFitBindsNoneOfItsPods) {
  const RunOutcome outcome =
      Run(Nodes(2) + Text({.size = 6, .min = 6, .wait = kNotAwaited}) + kAttempted +
          Text({.name = "h", .size = 4, .min = 4, .wait = kMeasured}));
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods_of_all, 4u) << "the other gang has all of the room";
}

TEST_P(GroupRuns, AGroupThatIsNoGangGoesAsFarAsItFits) {
  const RunOutcome outcome =
      Run(Nodes(2) + kBegin + Text({.size = 6, .wait = kNotAwaited}) + kAttempted + kEnd);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods_of_all, 4u);
}

// A rack takes eight pods of a processor each, and two racks have room for less.
TEST_P(GroupRuns, AGroupStaysInOneDomain) {
  const RunOutcome outcome =
      Run(Nodes(8) + Text({.count = 2, .size = 5, .min = 5, .topology = true, .wait = kMeasured}),
          WithGroups(true));
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 10u);
}

TEST_P(GroupRuns, PodsOfALowerPriorityGoForAGang) {
  const RunOutcome outcome =
      Run(Nodes(2) + "  - {opcode: createPods, count: 4, podTemplatePath: low.yaml}\n" +
          Text({.size = 2, .min = 2, .priority = 10, .cpu = "2", .wait = kMeasured}));
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 2u);
}

// The gate SchedulerAsyncPreemption is off.
TEST_P(GroupRuns, PodsGoForAGangWithinItsCycle) {
  GateRequest request;
  request.Set(Gate::kGenericWorkload, true);
  request.Set(Gate::kSchedulerAsyncPreemption, false);
  RunOptions options;
  options.gates = *Gates::Resolve(request);
  const RunOutcome outcome =
      Run(Nodes(2) + "  - {opcode: createPods, count: 4, podTemplatePath: low.yaml}\n" +
              Text({.size = 2, .min = 2, .priority = 10, .cpu = "2", .wait = kMeasured}),
          options);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 2u);
}

TEST_P(GroupRuns, GangsGoForAGang) {
  const RunOutcome outcome =
      Run(Nodes(2) + Text({.name = "low", .count = 2, .size = 2, .min = 2, .space = "low"}) +
          Text({.size = 2, .min = 2, .priority = 10, .cpu = "2", .wait = kMeasured}));
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 2u);
}

// The one pod needs the room of one member only; then all of that group go.
TEST_P(GroupRuns, AGroupThatIsDisruptedAsOneGoesTogether) {
  for (const bool together : {false, true}) {
    const std::string high =
        Text({.name = "h", .size = 1, .priority = 10, .cpu = "1", .wait = kMeasured});
    const RunOutcome outcome = Run(
        Nodes(2) + Text({.name = "low", .size = 4, .together = together, .space = "low"}) + high);
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
    const auto victims =
        outcome.metrics_text.find(together ? "scheduler_workload_preemption_victims_sum 4\n"
                                           : "scheduler_workload_preemption_victims_sum 1\n");
    EXPECT_NE(victims, std::string::npos) << together;
  }
}

// What upstream's starvation workload does: such a group fails with an error each time.
TEST_P(GroupRuns, MembersOfAnotherPriorityThanTheirGroupsAreAnError) {
  const RunOutcome outcome =
      Run(Nodes(2) + kBegin + Text({.size = 2, .min = 2, .pod_priority = 5, .wait = kNotAwaited}) +
          kAttempted + kEnd);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods_of_all, 0u);
  // Nobody was tried, so only the members have failed.
  EXPECT_THAT(outcome.metrics_text, Not(HasSubstr("scheduler_podgroup_schedule_attempts_total{")));
  const auto& counters = outcome.repetition.counters;
  const auto errors = counters.find(
      "scheduler_schedule_attempts_total{result=\"error\",profile=\"default-scheduler\"}");
  ASSERT_NE(errors, counters.end());
  EXPECT_GE(errors->second, 2u);
}

TEST_P(GroupRuns, WithTheGateOffMembersArePodsLikeAnyOthers) {
  const RunOutcome outcome =
      Run(Nodes(2) + kBegin + Text({.size = 6, .min = 6, .wait = kNotAwaited}) + kAttempted + kEnd,
          RunOptions());
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods_of_all, 4u);
}

// A rack takes eight of its pods.
TEST_P(GroupRuns, WithTheGateOffAGroupGoesToSeveralDomains) {
  const RunOutcome outcome =
      Run(Nodes(8) + Text({.size = 12, .min = 12, .topology = true, .wait = kMeasured}));
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 12u);
}

// Each failed member comes back at once, as a group of its own.
TEST_P(GroupRuns, MembersWhoseBindingsFailInAnOutageAreBoundLater) {
  // On the virtual clock longer than a refused binding is repeated.
  const bool is_real = std::get<ClockKind>(GetParam()) == ClockKind::kReal;
  const std::string outage = is_real ? "50ms" : "700ms";
  for (const bool asynchronous : {true, false}) {
    RunOptions options;
    GateRequest request;
    request.Set(Gate::kGenericWorkload, true);
    request.Set(Gate::kSchedulerAsyncAPICalls, asynchronous);
    options.gates = *Gates::Resolve(request);
    const RunOutcome outcome = Run(Nodes(8) + "  - {opcode: apiOutage, duration: " + outage +
                                       "}\n" + Text({.count = 3, .min = 4, .wait = kMeasured}),
                                   options);
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
    EXPECT_EQ(outcome.pods, 12u);
  }
}

// The canary of domains: a scheduler that does not see the constraint.
TEST_P(GroupRuns, TheAuditBlamesASchedulerThatSpreadsAGroup) {
  RunOptions options = WithGroups(true);
  options.placing_plugins = [](const PlacingTools& tools) {
    std::vector<PlacingPluginRef> plugins = BuiltinPlacingPlugins(tools);
    std::erase_if(
        plugins, [](const auto& plugin) { return plugin->name() == "TopologyPlacementGenerator"; });
    return plugins;
  };
  const RunOutcome outcome =
      Run(Nodes(8) + Text({.size = 12, .min = 12, .topology = true, .wait = kMeasured}), options);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kFailed);
  EXPECT_THAT(outcome.reason, HasSubstr("group ns/g-0 is not in one domain of rack"));
}

// The canary.
TEST_P(GroupRuns, TheAuditBlamesASchedulerThatTakesGangsApart) {
  RunOptions options = WithGroups();
  options.placing_plugins = [](const PlacingTools& tools) {
    std::vector<PlacingPluginRef> plugins = BuiltinPlacingPlugins(tools);
    std::erase_if(plugins, [](const auto& plugin) { return plugin->name() == "GangScheduling"; });
    return plugins;
  };
  const RunOutcome outcome =
      Run(Nodes(2) + kBegin + Text({.size = 6, .min = 6, .wait = kNotAwaited}) + kAttempted + kEnd,
          options);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kFailed);
  EXPECT_THAT(outcome.reason, HasSubstr("gang ns/g-0 is partly bound"));
}

// Two gangs under one composite, of which each waits for the other.
TEST_P(GroupRuns, ATreeGoesAsAWhole) {
  GateRequest request;
  request.Set(Gate::kGenericWorkload, true);
  request.Set(Gate::kCompositePodGroup, true);
  RunOptions options;
  options.gates = *Gates::Resolve(request);
  const std::string tree = "  - {opcode: createAny, namespace: ns, templatePath: tree.yaml}\n";
  const RunOutcome outcome = Run(Nodes(4) + tree +
                                     Text({.count = 2,
                                           .min = 4,
                                           .parent = "parentCompositePodGroupName: t",
                                           .wait = kMeasured}),
                                 options);
  EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
  EXPECT_EQ(outcome.pods, 8u);
}

INSTANTIATE_TEST_SUITE_P(All, GroupRuns, ClocksAndEngines(), NameOfClockAndEngine);

// Gangs that come one by one, one that fails, and one for which pods go.
std::string Mixed() {
  return Nodes(4) + Text({.name = "low", .count = 2, .min = 4, .space = "low"}) +
         Text({.name = "big", .size = 9, .min = 9, .wait = kNotAwaited, .space = "big"}) +
         Text({.size = 2, .min = 2, .priority = 10, .cpu = "2", .wait = kMeasured});
}

// Both threads pop gangs, and each holds for a moment what the other one needs.
TEST(GroupRunsOnTheRealClock, TwoSchedulingThreadsPlaceGangsWhole) {
  for (const EngineKind engine : {EngineKind::kLockfree, EngineKind::kClassic}) {
    RunOptions options = WithGroups();
    options.scheduling_threads = 2;
    const RunOutcome outcome = RunOps(Nodes(24) + Text({.count = 12, .min = 4, .wait = kMeasured}),
                                      Files(), {ClockKind::kReal, engine}, options);
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
    EXPECT_EQ(outcome.pods, 48u);
  }
}

TEST(GroupRunsOnTheVirtualClock, BothEnginesCountTheSame) {
  const auto run = [](EngineKind engine) {
    return RunOps(Mixed(), Files(), {ClockKind::kVirtual, engine}, WithGroups());
  };
  const RunOutcome lockfree = run(EngineKind::kLockfree);
  EXPECT_EQ(lockfree.outcome, WorkloadOutcome::kMeasured) << lockfree.reason;
  EXPECT_EQ(lockfree.counters, run(EngineKind::kClassic).counters);
  EXPECT_FALSE(lockfree.counters.empty());
}

TEST(GroupRunsOnTheVirtualClock, ARecordedRunReplaysWithoutAMismatch) {
  std::vector<std::string> lines;
  TraceRecorder recorder([&lines](const std::string& line) { lines.push_back(line); });
  RunOptions options = WithGroups();
  options.recorder = &recorder;
  RunOps(Mixed(), Files(), {ClockKind::kVirtual, EngineKind::kLockfree}, options);
  ASSERT_GT(lines.size(), 80u);
  const auto replayer = Replayer::Create(*ParseTraceHeader(lines[0]), EngineKind::kClassic);
  ASSERT_TRUE(replayer.ok());
  for (size_t i = 1; i < lines.size(); ++i) {
    const auto operation = ParseTraceOperation(lines[i], kTraceVersionWithGroups);
    ASSERT_TRUE(operation.ok()) << operation.error().message();
    const auto outcome = (*replayer)->Apply(*operation);
    ASSERT_TRUE(outcome.ok()) << lines[i] << ": " << outcome.error().message();
    EXPECT_EQ(outcome->changed, operation->want->changed) << lines[i];
    EXPECT_EQ(outcome->members, operation->want->members) << lines[i];
  }
}

}  // namespace
}  // namespace schedq
