// Goal: a good file decodes to its content. A bad file gives one line with the file, the line and
// what was expected, for every class of error.
// Method: small files in memory; a table of bad files with the line and a part of the message;
// hostile YAML.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_template.h"
#include "bench/format/suite/file_source.h"
#include "bench/format/suite/needs.h"
#include "bench/format/workload/decoder.h"
#include "bench/format/workload/model.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "tests/unit/bench/format/workload_test_files.h"

namespace schedq {
namespace {

constexpr const char* kMeasure = "  - {opcode: createPods, count: 1, collectMetrics: true}\n";

constexpr const char* kEveryOpcode =
    "- name: C\n"
    "  labels: [a]\n"
    "  defaultPodTemplatePath: pod.yaml\n"
    "  schedulerConfigPath: config.yaml\n"
    "  featureGates: {SchedulerAsyncAPICalls: true, SchedulerQueueingHints: true}\n"
    "  metricsCollectorConfig:\n"
    "    metrics:\n"
    "      scheduler_pending_pods: null\n"
    "      scheduler_queue_incoming_pods_total:\n"
    "      - {label: queue, values: [active, backoff]}\n"
    "  defaultThresholdMetricSelector:\n"
    "    {name: scheduler_queue_incoming_pods_total, labels: {queue: active}, dataBucket: Perc99,"
    " expectLower: true}\n"
    "  workloadTemplate:\n"
    "  - opcode: createNodes\n"
    "    countParam: $n\n"
    "    nodeTemplatePath: sub/../node.yaml\n"
    "    templateParams: {cpu: '$cpu|4', zone: $zone}\n"
    "    nodeAllocatableStrategy: {nodeAllocatable: {example.com/x: '39'}, migratedPlugins: "
    "[p]}\n"
    "    labelNodePrepareStrategy: {labelKey: k, labelValues: [v1, v2]}\n"
    "    uniqueNodeLabelStrategy: {labelKey: u}\n"
    "  - {opcode: createNamespaces, prefix: ns, count: 2, namespaceTemplatePath: ns.yaml}\n"
    "  - {opcode: createPods, countParam: $n, countMultiplierParam: $m, steadyStateParam: "
    "$steady,"
    " durationParam: $d, signatureBatchSizeParam: $m}\n"
    "  - {opcode: createPodSets, count: 2, namespacePrefix: ns,"
    " createPodsOp: {opcode: createPods, count: 3, skipWaitToCompletion: true}}\n"
    "  - {opcode: deletePods, namespace: x, labelSelector: {a: b}, skipWaitToCompletion: true,"
    " deletePodsPerSecond: 50}\n"
    "  - {opcode: churn, mode: recreate, number: 3, intervalMilliseconds: 250,"
    " templatePaths: [pod.yaml]}\n"
    "  - {opcode: createAny, namespace: x, templatePath: claim.yaml}\n"
    "  - {opcode: updateAny, namespace: x, templatePath: named.yaml, count: 2, updatePerSecond: 5,"
    " subresources: [resize]}\n"
    "  - {opcode: createPodGroups, namespace: x, templatePath: group.yaml, count: 1}\n"
    "  - {opcode: createResourceClaims, namespace: x, templatePath: claim.yaml, count: 4}\n"
    "  - {opcode: allocResourceClaims}\n"
    "  - {opcode: barrier, namespaces: [x], labelSelector: {a: b}, stageRequirement: Attempted}\n"
    "  - {opcode: sleep, duration: 1m0.5s}\n"
    "  - {opcode: startCollectingProfile, type: cpu, filePath: f}\n"
    "  - {opcode: stopCollectingProfile, type: CPU}\n"
    "  - {opcode: startCollectingMetrics, name: part, namespaces: [x], labelSelector: {a: b}}\n"
    "  - {opcode: stopCollectingMetrics}\n"
    "  - {opcode: apiOutage, durationParam: $d}\n"
    "  - {opcode: updatePods, namespace: x, labelSelector: {a: b}, openGates: true, labelKey: k,"
    " roundsParam: $n, skipWaitToCompletion: true}\n"
    "  workloads:\n"
    "  - name: W\n"
    "    labels: [b]\n"
    "    featureGates: {SchedulerQueueingHints: false, SchedulerPopFromBackoffQ: false}\n"
    "    threshold: {dra: 56, other: 7.5}\n"
    "    params: {n: 2.9, m: 3, steady: true, d: 10s, zone: z1}\n";

const TestFiles& EveryOpcodeFiles() {
  static const TestFiles kFiles = {
      {"config.yaml", "kind: KubeSchedulerConfiguration\npodMaxBackoffSeconds: 20\n"},
      {"node.yaml",
       "apiVersion: v1\nkind: Node\nmetadata: {generateName: n-, labels: {zone: "
       "'{{.zone}}'}}\nstatus: {capacity: {cpu: '{{.cpu}}'}}\n"},
      {"named.yaml",
       "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n"},
      {"ns.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {labels: {t: d}}\n"},
      {"group.yaml",
       "apiVersion: scheduling.k8s.io/v1\nkind: PodGroup\nmetadata: {name: g}\n"
       "spec: {schedulingPolicy: {gang: {minCount: 2}}}\n"}};
  return kFiles;
}

class EveryOpcode : public testing::Test {
 protected:
  void SetUp() override {
    auto cases = DecodeText(kEveryOpcode, EveryOpcodeFiles());
    ASSERT_TRUE(cases) << cases.error().message();
    cases_ = std::move(*cases);
    ASSERT_EQ(cases_.size(), 1u);
    ASSERT_EQ(cases_[0].workloads.size(), 1u);
  }
  const Workload& workload() const { return cases_[0].workloads[0]; }

  std::vector<TestCase> cases_;
};

TEST_F(EveryOpcode, ReadsTheCaseAndItsWorkload) {
  const TestCase& test_case = cases_[0];
  EXPECT_EQ(test_case.scheduler.pod_max_backoff, Duration(std::chrono::seconds(20)));
  EXPECT_EQ(test_case.metrics->size(), 2u);
  EXPECT_EQ(workload().labels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(workload().gates.Get(Gate::kSchedulerPopFromBackoffQ), false);
  EXPECT_EQ(workload().gates.Get(Gate::kSchedulerAsyncAPICalls), true);
  EXPECT_EQ(workload().threshold.For("dra"), 56);
  EXPECT_EQ(workload().threshold.For("none"), 0);
  EXPECT_TRUE(workload().threshold_selector.expect_lower);
  std::vector<std::string> needs;
  for (const Need& need : NeedsOf(workload())) needs.push_back(need.text);
  EXPECT_EQ(needs, (std::vector<std::string>{"collecting profiles",
                                             "feature gate SchedulerQueueingHints=false"}));
}

TEST_F(EveryOpcode, ReadsEveryField) {
  ASSERT_EQ(workload().ops.size(), 20u);
  for (size_t i = 0; i < workload().ops.size(); ++i) {
    EXPECT_EQ(workload().ops[i].index, static_cast<int>(i));
  }

  const auto& nodes = std::get<CreateNodesOp>(workload().ops[0].action);
  EXPECT_EQ(nodes.count, 2);
  EXPECT_EQ(nodes.allocatable.allocatable, (ResourceList{{"example.com/x", 39}}));
  EXPECT_EQ(nodes.label.values.size(), 2u);
  EXPECT_EQ(nodes.unique_label_key, "u");
  const auto node = ObjectRenderer(nodes.node, nodes.count).Render(0);
  ASSERT_TRUE(node) << node.error().message();
  EXPECT_EQ((*node)->metadata.labels, (Labels{{"zone", "z1"}}));
  EXPECT_EQ(std::get<NodeObject>((*node)->body).allocatable, (ResourceList{{"cpu", 4000}}));

  const auto& pods = std::get<CreatePodsOp>(workload().ops[2].action);
  EXPECT_EQ(pods.count, 6);
  EXPECT_TRUE(pods.steady_state);
  EXPECT_EQ(pods.duration, Duration(std::chrono::seconds(10)));
  EXPECT_EQ(pods.namespace_name, "namespace-2");
  EXPECT_EQ(pods.signature_batch_size, 3);

  EXPECT_EQ(std::get<CreatePodsOp>(workload().ops[3].action).namespace_name, "ns-0");
  EXPECT_EQ(std::get<CreatePodsOp>(workload().ops[4].action).namespace_name, "ns-1");
  EXPECT_TRUE(std::get<CreatePodsOp>(workload().ops[4].action).skip_wait);

  const auto& churn = std::get<ChurnOp>(workload().ops[6].action);
  EXPECT_TRUE(churn.recreate);
  EXPECT_EQ(churn.interval, Duration(std::chrono::milliseconds(250)));
  EXPECT_EQ(churn.namespace_name, "namespace-6");
  EXPECT_TRUE(std::get<BarrierOp>(workload().ops[12].action).attempted);
  EXPECT_EQ(std::get<SleepOp>(workload().ops[13].action).duration,
            Duration(std::chrono::milliseconds(60'500)));
  EXPECT_EQ(std::get<ApiOutageOp>(workload().ops[18].action).duration,
            Duration(std::chrono::seconds(10)));
  const auto& updates = std::get<UpdatePodsOp>(workload().ops[19].action);
  EXPECT_EQ(updates.namespace_name, "x");
  EXPECT_EQ(updates.selector, (Labels{{"a", "b"}}));
  EXPECT_TRUE(updates.opens_gates);
  EXPECT_EQ(updates.label_key, "k");
  EXPECT_EQ(updates.rounds, 2);
  EXPECT_TRUE(updates.skip_wait);
}

struct BadFile {
  const char* what;  // The row's name.
  std::string text;
  int line;
  const char* message;
};

const std::string kMeasureText = kMeasure;
const BadFile kBadFiles[] = {
    {"empty", "", 1, "no test cases"},
    {"only a comment", "# nothing\n", 1, "no test cases"},
    {"a map", "name: C\n", 1, "no test cases"},
    {"no YAML", "- a: [1\n", 2, "expected YAML"},
    {"weights whose sum is no number",
     "- name: C\n  workloadTemplate:\n  - opcode: createPods\n    count: 1\n"
     "    draws: {zone: {weights: [9223372036854775807, 9223372036854775807]}}\n"
     "  workloads: [{name: W}]\n",
     5, "weight is 9223372036854775807, expected 0 to 10000000"},
    {"quote without end", "- name: \"C\n", 2, "a quote that does not end"},
    {"quote without end before blanks", "- name: 'C\n\n  ", 3, "a quote that does not end"},
    {"quote without end in its line", "- name: 'C", 1, "expected YAML"},
    {"tab indent", "- name: C\n\tlabels: []\n", 2, "expected YAML"},
    {"binary", std::string("- name: \x01\n", 10), 1, "control character"},
    {"a second document", CaseOf(kMeasureText) + "---\n- b\n", 7, "second document"},
    {"duplicate key", "- name: C\n  name: D\n", 2, "duplicate key \"name\""},
    {"a map as key", "- ? {a: b}\n  : c\n", 1, "expected a scalar"},
    {"a tag", "- !!set {a}\n", 1, "expected a value without a tag"},
    {"unknown alias", "- *a\n", 1, "expected YAML"},
    {"no case name", "- workloads: []\n", 1, "the test case has no name"},
    {"unknown case key", CaseOf(kMeasureText) + "  threshold: 3\n", 6, "unknown key \"threshold\""},
    {"unknown workload key", CaseOf(kMeasureText) + "    param: {}\n", 6, "unknown key \"param\""},
    {"no operations", "- name: C\n  workloads: [{name: W}]\n", 1, "no workloadTemplate"},
    {"no workloads", "- name: C\n  workloadTemplate:\n" + kMeasureText, 1, "no workloads"},
    {"case twice", CaseOf(kMeasureText) + CaseOf(kMeasureText), 6,
     "test case \"C\" is there twice"},
    {"workload twice", CaseOf(kMeasureText) + "  - name: W\n", 6, "workload \"W\" is there twice"},
    {"no opcode", CaseOf("  - {count: 3}\n"), 3, "no opcode"},
    {"unknown opcode", CaseOf("  - {opcode: createPod}\n"), 3, "opcode is \"createPod\""},
    {"unknown op key", CaseOf("  - {opcode: createPods, coutn: 3}\n"), 3, "unknown key \"coutn\""},
    {"wrong type", CaseOf("  - {opcode: createPods, count: many}\n"), 3, "count is \"many\""},
    {"fraction", CaseOf("  - {opcode: createPods, count: 1.5}\n"), 3, "expected an integer"},
    {"negative", CaseOf("  - {opcode: createPods, count: -1}\n"), 3, "count is \"-1\", expected 0"},
    {"huge", CaseOf("  - {opcode: createPods, count: 99999999999999999999}\n"), 3, "expected an"},
    {"too many", CaseOf("  - {opcode: createPods, count: 100000000}\n"), 3, "expected 0 to"},
    {"quoted number", CaseOf("  - {opcode: createPods, count: '3'}\n"), 3, "expected an integer"},
    {"not a bool", CaseOf("  - {opcode: createPods, count: 1, collectMetrics: 1}\n"), 3,
     "expected true or false"},
    {"list for a map", CaseOf("  - {opcode: barrier, labelSelector: [a]}\n"), 3, "expected a map"},
    {"no dollar", CaseOf("  - {opcode: createPods, countParam: n}\n"), 3, "expected $name"},
    {"negative param", CaseOf("  - {opcode: createPods, countParam: $n}\n", "n: -3"), 6,
     "parameter is \"-3\""},
    {"text param", CaseOf("  - {opcode: createPods, countParam: $n}\n", "n: x"), 6,
     "parameter is \"x\""},
    {"unread param", CaseOf(kMeasureText, "a: 1"), 6, "parameter a is never read"},
    {"bad duration", CaseOf("  - {opcode: sleep, duration: 10}\n"), 3, "expected a duration"},
    {"negative duration", CaseOf("  - {opcode: sleep, duration: -1s}\n"), 3, "expected a duration"},
    {"bad duration param", CaseOf("  - {opcode: sleep, durationParam: $d}\n", "d: soon"), 6,
     "expected a duration"},
    {"missing template", CaseOf("  - {opcode: createPods, count: 1, podTemplatePath: x.yaml}\n"), 3,
     "podTemplatePath \"x.yaml\" does not exist"},
    {"missing default", CaseOf(kMeasureText) + "  defaultPodTemplatePath: x.yaml\n", 6,
     "defaultPodTemplatePath \"x.yaml\" does not exist"},
    {"no template", CaseOf("  - {opcode: createAny}\n"), 3, "has no templatePath"},
    {"wrong kind", CaseOf("  - {opcode: createNodes, count: 1, nodeTemplatePath: pod.yaml}\n"), 3,
     "pod.yaml is of kind Pod, expected Node"},
    {"no namespace", CaseOf("  - {opcode: createAny, templatePath: claim.yaml}\n"), 3,
     "namespace is missing, expected one for a ResourceClaim"},
    {"steady without end", CaseOf("  - {opcode: createPods, count: 1, steadyState: true}\n"), 3,
     "steadyState without duration"},
    {"skip and measure",
     CaseOf("  - {opcode: createPods, count: 1, collectMetrics: true, skipWaitToCompletion: "
            "true}\n"),
     3, "collectMetrics with skipWaitToCompletion"},
    {"churn mode", CaseOf("  - {opcode: churn, mode: x, templatePaths: [pod.yaml]}\n"), 3,
     "expected create or recreate"},
    {"churn nothing", CaseOf("  - {opcode: churn, mode: create}\n"), 3, "no templatePaths"},
    {"churn none", CaseOf("  - {opcode: churn, mode: recreate, templatePaths: [pod.yaml]}\n"), 3,
     "expected at least 1"},
    {"stage", CaseOf("  - {opcode: barrier, stageRequirement: Done}\n"), 3, "expected Scheduled"},
    {"profile", CaseOf("  - {opcode: startCollectingProfile, type: mem, filePath: x}\n"), 3,
     "expected CPU"},
    {"sets of nodes",
     CaseOf("  - {opcode: createPodSets, count: 1, namespacePrefix: n, createPodsOp: {opcode: "
            "sleep}}\n"),
     3, "expected createPods"},
    {"endless sets",
     CaseOf("  - {opcode: createPodSets, count: 9999999, namespacePrefix: n, createPodsOp: "
            "{opcode: createPods}}\n"),
     3, "expected at most 100000"},
    {"outage without end", CaseOf("  - {opcode: apiOutage}\n"), 3, "expected a time such as 10s"},
    {"update of nothing", CaseOf("  - {opcode: updatePods, namespace: a}\n"), 3,
     "expected openGates or labelKey"},
    {"update anywhere", CaseOf("  - {opcode: updatePods, openGates: true}\n"), 3, "no namespace"},
    {"nothing measured", CaseOf("  - {opcode: sleep, duration: 1s}\n"), 3, "no operation collects"},
    {"stop alone", CaseOf("  - {opcode: stopCollectingMetrics}\n"), 3, "startCollectingMetrics"},
    {"overlap", CaseOf("  - {opcode: startCollectingMetrics, namespaces: [a]}\n" + kMeasureText), 4,
     "a second collection"},
    {"unknown metric",
     CaseOf(kMeasureText) + "  metricsCollectorConfig:\n    metrics: {scheduler_latency: null}\n",
     7, "unknown metric \"scheduler_latency\""},
    {"metric without prefix",
     CaseOf(kMeasureText) + "  metricsCollectorConfig:\n    metrics: {pending_pods: null}\n", 7,
     "unknown metric \"pending_pods\""},
    {"selector of nothing",
     CaseOf(kMeasureText) +
         "    thresholdMetricSelector: {name: scheduler_pending_pods, dataBucket: Average}\n",
     6, "scheduler_pending_pods is not collected"},
    {"selector label",
     CaseOf(kMeasureText) +
         "    thresholdMetricSelector: {name: "
         "scheduler_scheduling_attempt_duration_seconds, labels: {result: maybe}, "
         "dataBucket: Average}\n",
     6, "label result=maybe"},
    {"selector bucket",
     CaseOf(kMeasureText) + "    thresholdMetricSelector: {name: SchedulingThroughput}\n", 6,
     "has no dataBucket"},
    {"negative threshold", CaseOf(kMeasureText) + "    threshold: -1\n", 6,
     "threshold is negative"},
    {"text threshold", CaseOf(kMeasureText) + "    threshold: {dra: x}\n", 6, "expected a number"},
    {"gate conflict",
     CaseOf(kMeasureText) + "    featureGates: {SchedulerAsyncAPICalls: false, "
                            "SchedulerPreEnqueuePodStatus: true}\n",
     5, "SchedulerPreEnqueuePodStatus"},
    {"gate type", CaseOf(kMeasureText) + "    featureGates: {X: 3}\n", 6, "expected true or false"},
    {"gate unknown", CaseOf(kMeasureText) + "    featureGates: {DynamicResourceAlocation: true}\n",
     6, "did you mean 'DynamicResourceAllocation'?"},
    {"bad default",
     CaseOf("  - {opcode: createAny, namespace: x, templatePath: claim.yaml, "
            "templateParams: {a: '$b|[1'}}\n"),
     3, "the default after | is not YAML"},
};

TEST(Decoder, NamesWhatIsWrongAndWhere) {
  for (const BadFile& row : kBadFiles) {
    const auto cases = DecodeText(row.text);
    ASSERT_FALSE(cases) << row.what;
    const std::string& message = cases.error().message();
    EXPECT_EQ(message.rfind("w.yaml:" + std::to_string(row.line) + ":", 0), 0u)
        << row.what << ": " << message;
    EXPECT_NE(message.find(row.message), std::string::npos) << row.what << ": " << message;
    // A message says what was expected, or suggests the name that was meant.
    EXPECT_TRUE(message.find(", expected ") != std::string::npos ||
                message.find("; did you mean ") != std::string::npos)
        << row.what << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << row.what;
  }
}

struct BadTemplate {
  const char* text;
  const char* message;  // The message from the place on.
};

TEST(Decoder, NamesTheLineOfABadTemplate) {
  const BadTemplate rows[] = {
      {"apiVersion: v1\nkind: {{.x", "t.yaml:2:7: unclosed action"},
      {"apiVersion: v1\n{{range 999999999}}{{end}}", "t.yaml:2:1: range over 999999999"},
      {"apiVersion: v1\nkind: {{DivideInt 1 .Index}}", "t.yaml:2:9: error calling DivideInt"},
      {"{{range 3}}\n{{end}}kind: [", "t.yaml:2:"},
      {"", "t.yaml:1: the object is nothing, expected a map"},
      {"apiVersion: v1\nkind: Pod\nspec: {containers: [{name: c}], toleration: []}\n",
       "t.yaml:3:33: unknown key \"toleration\" in the pod's spec"},
      {"{{range 2}}#\n{{end}}apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: c\n"
       "    resources: {requests: {cpu: 1 Gi}}\n",
       "t.yaml:7:33: cpu is \"1 Gi\", expected a quantity"},
      {"kind: Pod\n", "t.yaml:1:1: the object has no apiVersion"},
      {"apiVersion: v1\nkind: Pod\n", "t.yaml:1:1: the object has no spec"},
      {"apiVersion: v1\nkind: Pod\nspec: {}\n", "t.yaml:3:7: the pod has no containers"},
  };
  for (const BadTemplate& row : rows) {
    const auto cases = DecodeText(
        CaseOf(
            "  - {opcode: createPods, count: 2, podTemplatePath: t.yaml, collectMetrics: true}\n"),
        {{"t.yaml", row.text}});
    ASSERT_FALSE(cases) << row.text;
    EXPECT_EQ(cases.error().message().rfind(row.message, 0), 0u) << cases.error().message();
  }
}

TEST(Decoder, KeepsAFileWhoseWorkloadLacksAParameter) {
  const auto cases = DecodeText(
      CaseOf("  - {opcode: createPods, countParam: $n, collectMetrics: true}\n", "other: 1") +
      "  - name: Good\n    params: {n: 1}\n");
  ASSERT_TRUE(cases) << cases.error().message();
  const Workload& broken = (*cases)[0].workloads[0];
  EXPECT_FALSE(CanRun(broken));
  ASSERT_EQ(NeedsOf(broken).size(), 1u);
  EXPECT_EQ(NeedsOf(broken)[0].text.rfind("w.yaml:3:38: parameter n is not defined", 0), 0u)
      << NeedsOf(broken)[0].text;
  EXPECT_TRUE(CanRun((*cases)[0].workloads[1]));
}

TEST(Decoder, TemplateDefaultsAreYaml) {
  const auto cases = DecodeText(
      CaseOf("  - {opcode: createAny, namespace: x, templatePath: t.yaml, templateParams: "
             "{a: '$a|[x, 2]', b: '$b|', c: plain, d: $d}}\n" +
                 std::string(kMeasure),
             "d: 5"),
      {{"t.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: '{{JSON .a}} {{.b}} {{.c}} {{.d}}'}\n"}});
  ASSERT_TRUE(cases) << cases.error().message();
  const auto& any = std::get<CreateAnyOp>((*cases)[0].workloads[0].ops[0].action);
  const auto object = ObjectRenderer(any.object, 1).Render(0);
  ASSERT_TRUE(object);
  EXPECT_EQ((*object)->metadata.name, "[\"x\",2] <no value> plain 5");
}

TEST(Decoder, AnchorsAndMergeKeysWork) {
  const auto cases = DecodeText(
      "- name: C\n  workloadTemplate:\n  - &base {opcode: createPods, count: 2}\n"
      "  - {<<: *base, collectMetrics: true, count: 3}\n  workloads: [{name: W}]\n");
  ASSERT_TRUE(cases) << cases.error().message();
  const auto& pods = std::get<CreatePodsOp>((*cases)[0].workloads[0].ops[1].action);
  EXPECT_EQ(pods.count, 3);
  EXPECT_TRUE(pods.collect_metrics);
}

TEST(Decoder, SurvivesHostileYaml) {
  std::string bomb = "- &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "- &a" + std::to_string(i) + " [" + last;
    for (int j = 1; j < 10; ++j) bomb += ", " + last;
    bomb += "]\n";
  }
  const std::string hostile[] = {
      bomb,
      std::string(100'000, '['),
      std::string(100'000, '{'),
      "- &a [*a]\n",
      "? ? ? ? ? ?",
      std::string(1000, '-') + "\n" + std::string(1000, '-'),
      "\xff\xfe\x00\x00",
      std::string("\0\0\0\0", 4),
      "- \xc3\x28\n",
      "%YAML 9.9\n---\n- x\n",
      "--- |\n" + std::string(100'000, 'x'),
      "- name: " + std::string(1'000'000, 'n') + "\n",
  };
  for (const std::string& text : hostile) {
    const auto cases = DecodeText(text);
    EXPECT_FALSE(cases) << text.substr(0, 40);
    if (cases) continue;
    EXPECT_EQ(cases.error().message().rfind("w.yaml:", 0), 0u) << cases.error().message();
  }
  const auto missing = DecodeWorkloadFile("none.yaml", SourceOf({}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(), "none.yaml: does not exist, expected a readable file");
}

TEST(DiskFiles, OnlyRegularOnes) {
  EXPECT_FALSE(ReadDiskFile("/dev/zero"));
  EXPECT_FALSE(ReadDiskFile("/"));
  EXPECT_FALSE(ReadDiskFile("/nowhere/at/all"));
  EXPECT_EQ(PathBeside("a/b/c.yaml", "../t/x.yaml"), "a/t/x.yaml");
  EXPECT_EQ(PathBeside("c.yaml", "t/x.yaml"), "t/x.yaml");
  EXPECT_EQ(PathBeside("a/c.yaml", "/t/x.yaml"), "/t/x.yaml");
}

}  // namespace
}  // namespace schedq
