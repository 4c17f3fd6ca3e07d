// Goal: a workload that would fill the memory is refused before it starts, and others are not.
// Method: estimates of small workloads with known counts, and each way to create without end.
#include "bench/format/suite/object_estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/format/suite/builtin_suite.h"
#include "bench/format/suite/selection.h"
#include "bench/format/workload/model.h"
#include "engine/base/result.h"
#include "tests/unit/bench/format/workload_test_files.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kMeasure = "  - {opcode: createPods, count: 20, collectMetrics: true}\n";

TestCase Decoded(const std::string& ops) {
  const std::string pod_with_claims =
      "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
      "  resourceClaims: [{name: a, resourceClaimTemplateName: t}, {name: b, "
      "resourceClaimTemplateName: t}]\n  containers: [{name: c, image: i}]\n";
  Result<std::vector<TestCase>> cases =
      DecodeText(CaseOf(ops + kMeasure), {{"claims-pod.yaml", pod_with_claims}});
  EXPECT_TRUE(cases.ok()) << cases.error().message();
  return (*cases)[0];
}

double Estimate(const std::string& ops) {
  return EstimateObjects(Decoded(ops).workloads[0]).objects;
}

std::string Refusal(const std::string& ops) {
  const TestCase test_case = Decoded(ops);
  const Status status = CheckObjectCount(test_case, test_case.workloads[0]);
  return status ? "accepted" : status.error().message();
}

std::string ChurnText(const std::string& more) {
  return "  - {opcode: churn, templatePaths: [pod.yaml, pod.yaml], " + more + "}\n";
}

TEST(ObjectEstimate, CountsWhatIsCreated) {
  EXPECT_EQ(Estimate(""), 20);
  EXPECT_EQ(Estimate("  - {opcode: createNodes, count: 5}\n"
                     "  - {opcode: createNamespaces, prefix: p, count: 3}\n"
                     "  - {opcode: createResourceClaims, namespace: n, count: 7, templatePath: "
                     "claim.yaml}\n"),
            20 + 5 + 3 + 7);
  EXPECT_EQ(Estimate("  - {opcode: createPods, count: 4, podTemplatePath: claims-pod.yaml}\n"),
            20 + 4 * 3)
      << "a controller makes the claims of each pod";
  EXPECT_EQ(Estimate("  - {opcode: createPodSets, count: 3, namespacePrefix: s, createPodsOp: "
                     "{opcode: createPods, count: 4}}\n"),
            20 + 12);
  EXPECT_EQ(Estimate("  - {opcode: createPods, count: 5, steadyState: true, duration: 1s}\n"),
            20 + 5)
      << "each pod is replaced";
}

TEST(ObjectEstimate, AChurnRunsToTheEndOfTheOperations) {
  const std::string sleep = "  - {opcode: sleep, duration: 10s}\n";
  EXPECT_EQ(Estimate(ChurnText("mode: create, intervalMilliseconds: 100") + sleep), 20 + 200);
  EXPECT_EQ(Estimate(sleep + ChurnText("mode: create, intervalMilliseconds: 100")), 20);
  EXPECT_EQ(Estimate(ChurnText("mode: create, number: 7, intervalMilliseconds: 100") + sleep),
            20 + 14);
  EXPECT_EQ(Estimate(ChurnText("mode: recreate, number: 7, intervalMilliseconds: 100") + sleep),
            20 + 14);
}

TEST(ObjectEstimate, WhatHasNoBoundIsRefusedWithItsPlace) {
  EXPECT_EQ(Refusal(ChurnText("mode: create, intervalMilliseconds: 1") +
                    "  - {opcode: sleep, duration: 8760h}\n"),
            "w.yaml:3: churn: workload C/W would hold some 63,072,000,020 objects, expected at "
            "most 4,000,000");
  EXPECT_THAT(Refusal(ChurnText("mode: recreate, number: 9999999, intervalMilliseconds: 1") +
                      "  - {opcode: sleep, duration: 8760h}\n"),
              StartsWith("w.yaml:3: churn: "));
  EXPECT_THAT(Refusal("  - {opcode: createPods, count: 10000000}\n"),
              HasSubstr("10,000,020 objects"));
  EXPECT_THAT(Refusal("  - {opcode: createNodes, count: 10000000}\n"),
              StartsWith("w.yaml:3: createNodes: "));
  EXPECT_THAT(Refusal("  - {opcode: createPodSets, count: 4000, namespacePrefix: s, createPodsOp: "
                      "{opcode: createPods, count: 1000}}\n"),
              HasSubstr("4,000,020 objects"));
  for (const std::string& bounded :
       {std::string("  - {opcode: createPods, count: 3900000}\n"),
        std::string("  - {opcode: createPods, count: 1, steadyState: true, duration: 8760h}\n"),
        ChurnText("mode: recreate, number: 1, intervalMilliseconds: 1") +
            "  - {opcode: sleep, duration: 8760h}\n"}) {
    EXPECT_EQ(Refusal(bounded), "accepted") << bounded;
  }
}

TEST(ObjectEstimate, AcceptsTheBuiltInSuites) {
  for (const char* suite : {kDefaultSuite, kKepSuite}) {
    const Result<std::vector<TestCase>> cases = SelectWorkloads({{}, "", "", suite});
    ASSERT_TRUE(cases.ok());
    for (const TestCase& test_case : *cases) {
      for (const Workload& workload : test_case.workloads) {
        EXPECT_TRUE(CheckObjectCount(test_case, workload)) << workload.name;
      }
    }
  }
}

}  // namespace
}  // namespace schedq
