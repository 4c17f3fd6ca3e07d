// Goal: the built-in suite decodes and can run, a selection holds the workloads that are asked for,
// and every file of a Kubernetes checkout decodes.
// Method: the files themselves. SCHEDQ_KUBERNETES_DIR names the checkout; without it the test
// prints so and decodes a fixture with upstream's constructs instead.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/format/suite/builtin_suite.h"
#include "bench/format/suite/file_source.h"
#include "bench/format/suite/needs.h"
#include "bench/format/suite/selection.h"
#include "bench/format/workload/decoder.h"
#include "bench/format/workload/features.h"
#include "bench/format/workload/model.h"
#include "tests/unit/bench/format/workload_test_files.h"

namespace schedq {
namespace {

TEST(BuiltinSuite, DecodesAndCanRun) {
  std::set<std::string> names;
  for (const std::string& path : BuiltinWorkloadFiles()) {
    const auto cases = DecodeWorkloadFile(path, BuiltinSource());
    ASSERT_TRUE(cases) << cases.error().message();
    for (const TestCase& test_case : *cases) {
      names.insert(test_case.name);
      bool has_short = false;
      for (const Workload& workload : test_case.workloads) {
        EXPECT_TRUE(CanRun(workload)) << test_case.name << "/" << workload.name;
        EXPECT_EQ(workload.labels.size(), 1u) << "short or performance";
        has_short = has_short || workload.labels == std::vector<std::string>{"short"};
      }
      EXPECT_TRUE(has_short) << test_case.name;
    }
  }
  EXPECT_EQ(names,
            (std::set<std::string>{
                "BackoffHeavy", "Basic", "BurstArrivals", "ClaimTemplates", "ConditionalDevices",
                "ConstantArrivals", "DeviceAlternatives", "DeviceConstraints", "ExtendedResources",
                "Gated", "LongWait", "MixedPriorities", "PartitionedDevices", "PoissonArrivals",
                "PopularClaims", "SharedClaims", "SharedDevices", "UnschedulableChurn"}));
}

TEST(Selection, NarrowsByNameAndLabels) {
  const auto all = SelectWorkloads({});
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->size(), 18u);
  const auto kep = SelectWorkloads({{}, "", "short", kKepSuite});
  ASSERT_TRUE(kep) << kep.error().message();
  EXPECT_EQ(kep->size(), 4u);
  EXPECT_FALSE(SelectWorkloads({{}, "", "", "no-such-suite"}));
  const auto some = SelectWorkloads({{}, "^Basic/.*2000Pods$", "performance,-short"});
  ASSERT_TRUE(some) << some.error().message();
  ASSERT_EQ(some->size(), 1u);
  ASSERT_EQ((*some)[0].workloads.size(), 1u);
  EXPECT_EQ((*some)[0].workloads[0].name, "500Nodes_2000Pods");
  EXPECT_FALSE(SelectWorkloads({{}, "NoSuchThing", ""}));
  EXPECT_FALSE(SelectWorkloads({{}, "", "nolabel"}));
  const auto bad = SelectWorkloads({{}, "(", ""});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message(), "--name '(': missing ), expected a regular expression (RE2)");
  EXPECT_FALSE(SelectWorkloads({{"/nowhere.yaml"}, "", ""}));
}

TEST(Needs, SeePreemptionInTheWhole) {
  const std::string high =
      "apiVersion: v1\nkind: Pod\nspec:\n  priority: 9\n  containers:\n"
      "  - {name: c, resources: {requests: {cpu: 3}}}\n";
  const auto needs = [&high](const std::string& low_count, const std::string& high_count) {
    const auto cases =
        DecodeText(CaseOf("  - {opcode: createNodes, count: 2}\n"
                          "  - {opcode: createPods, count: " +
                          low_count +
                          "}\n"
                          "  - {opcode: createPods, count: " +
                          high_count + ", podTemplatePath: high.yaml, collectMetrics: true}\n"),
                   {{"high.yaml", high}});
    EXPECT_TRUE(cases);
    const Workload& workload = (*cases)[0].workloads[0];
    EXPECT_TRUE(CanRun(workload)) << "preemption is modelled";
    return std::count(workload.features.begin(), workload.features.end(),
                      FeatureUse{Feature::kPreemption, ""});
  };
  EXPECT_EQ(needs("10", "1"), 0);   // All fit at once.
  EXPECT_EQ(needs("70", "1"), 1);   // They take 70 of 80 places, and half the cluster.
  EXPECT_EQ(needs("100", "0"), 0);  // With one priority, none preempts another.
}

// Decodes every performance-config.yaml below `root`. Returns the number of workloads by case.
std::map<std::string, size_t> DecodeAll(const std::filesystem::path& root) {
  std::map<std::string, size_t> workloads;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "performance-config.yaml") continue;
    const auto cases = DecodeWorkloadFile(entry.path().string(), ReadDiskFile);
    EXPECT_TRUE(cases) << cases.error().message();
    if (!cases) continue;
    for (const TestCase& test_case : *cases) workloads[test_case.name] = test_case.workloads.size();
  }
  return workloads;
}

TEST(KubernetesFiles, Decode) {
  const char* checkout = std::getenv("SCHEDQ_KUBERNETES_DIR");
  if (checkout == nullptr) {
    std::cout << "SCHEDQ_KUBERNETES_DIR is not set: decoding a fixture instead of a checkout\n";
    const auto cases = DecodeText(
        CaseOf("  - {opcode: createAny, countParam: $n, templatePath: slice.yaml, templateParams: "
               "{numDevices: '$devices|10'}}\n" +
                   std::string("  - {opcode: createPods, countParam: $n, collectMetrics: true}\n"),
               "n: 3"),
        {{"slice.yaml",
          "{{$numDevices := or .numDevices 10}}\n\nkind: ResourceSlice\napiVersion: "
          "resource.k8s.io/v1\nmetadata:\n  name: s-{{.Index}}\nspec:\n  pool: {name: p}\n  "
          "nodeName: n\n  "
          "driver: "
          "d\n  devices:{{range ($numDevices | Int)}}\n  - name: device-{{.}}{{end}}\n"}});
    ASSERT_TRUE(cases) << cases.error().message();
    EXPECT_TRUE(CanRun((*cases)[0].workloads[0]));
    return;
  }
  std::cout << "decoding every performance-config.yaml of the checkout\n";
  const auto workloads =
      DecodeAll(std::filesystem::path(checkout) / "test/integration/scheduler_perf");
  EXPECT_GT(workloads.size(), 40u);
  for (const char* name :
       {"SchedulingBasic", "SchedulingWithMixedChurn", "SchedulingWhileGated",
        "SchedulingDeletedPodsWithFinalizers", "SchedulingWithResourceClaimTemplate"}) {
    EXPECT_TRUE(workloads.count(name)) << name;
  }
}

}  // namespace
}  // namespace schedq
