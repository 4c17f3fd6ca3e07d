// Goal: the load of an operation has the meaning of its fields and depends only on the seed.
// Without a wait it arrives while later operations run.
// Method: times and draws are compared with their definitions, random ones with wide bounds of the
// distribution; then small workloads on the virtual clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/sim/run/load_generator.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "tests/unit/bench/format/workload_test_files.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Draw DrawOf(Draw::Kind kind, int64_t values, std::vector<int64_t> weights = {}) {
  Draw draw;
  draw.name = "x";
  draw.kind = kind;
  draw.values = values;
  draw.weights = std::move(weights);
  return draw;
}

// The number of times that each value comes in 10,000 draws.
std::map<int64_t, int> Frequencies(const Draw& draw, uint64_t seed = 1) {
  Drawer drawer({draw}, Random(seed));
  std::map<int64_t, int> counts;
  for (int i = 0; i < 10000; ++i) ++counts[drawer.Next().at(0).second];
  return counts;
}

TEST(ArrivalTimes, ConstantAndBurstsAreExact) {
  EXPECT_THAT(ArrivalTimes({ArrivalProcess::kConstant, 100, 1}, 3, Random(1)),
              ElementsAre(milliseconds(0), milliseconds(10), milliseconds(20)));
  EXPECT_THAT(ArrivalTimes({ArrivalProcess::kBursts, 100, 2}, 5, Random(1)),
              ElementsAre(milliseconds(0), milliseconds(0), milliseconds(20), milliseconds(20),
                          milliseconds(40)));
  EXPECT_THAT(ArrivalTimes({}, 3, Random(1)), IsEmpty());
}

TEST(ArrivalTimes, PoissonHasItsRateAndItsSpread) {
  const auto times = ArrivalTimes({ArrivalProcess::kPoisson, 100, 1}, 10000, Random(1));
  EXPECT_NEAR(std::chrono::duration<double>(times.back()).count(), 100, 5);
  int short_gaps = 0;  // Below the mean: 1 - 1/e of all.
  for (size_t i = 1; i < times.size(); ++i) {
    EXPECT_GE(times[i], times[i - 1]);
    if (times[i] - times[i - 1] < milliseconds(10)) ++short_gaps;
  }
  EXPECT_NEAR(short_gaps, 6321, 250);
  EXPECT_EQ(times, ArrivalTimes({ArrivalProcess::kPoisson, 100, 1}, 10000, Random(1)));
  EXPECT_NE(times, ArrivalTimes({ArrivalProcess::kPoisson, 100, 1}, 10000, Random(2)));
}

TEST(Drawer, FollowsItsDistributions) {
  const auto uniform = Frequencies(DrawOf(Draw::Kind::kUniform, 4));
  ASSERT_EQ(uniform.size(), 4u);
  for (const auto& [value, count] : uniform) EXPECT_NEAR(count, 2500, 200) << value;
  auto zipf = Frequencies(DrawOf(Draw::Kind::kZipf, 3));  // 6/11, 3/11, 2/11.
  EXPECT_NEAR(zipf[0], 5454, 250);
  EXPECT_NEAR(zipf[2], 1818, 200);
  auto weights = Frequencies(DrawOf(Draw::Kind::kWeights, 4, {0, 3, 0, 1}));
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_NEAR(weights[1], 7500, 250);
  EXPECT_EQ(Frequencies(DrawOf(Draw::Kind::kUniform, 4), 7),
            Frequencies(DrawOf(Draw::Kind::kUniform, 4), 7));
}

constexpr const char* kDrawnPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
    "{{if eq .fault 1}}  nodeSelector: {zone: none}\n{{end}}"
    "  priority: {{.priority}}\n  containers: [{name: c, image: i}]\n";

Result<RunOutcome> RunOps(const std::string& ops, uint64_t seed = 1) {
  const Result<std::vector<TestCase>> cases = DecodeText(CaseOf(ops), {{"drawn.yaml", kDrawnPod}});
  if (!cases) return cases.error();
  static const CostModel kCosts = *LoadCostModel("upstream");
  RunOptions options;
  options.costs = &kCosts;
  options.seed = seed;
  return RunWorkload((*cases)[0], (*cases)[0].workloads[0], options);
}

const std::string kNodes = "  - {opcode: createNodes, count: 2}\n";

TEST(Load, PodsComeAtTheirTimes) {
  const Result<RunOutcome> outcome =
      RunOps(kNodes +
             "  - {opcode: createPods, count: 20, collectMetrics: true, "
             "arrivals: {process: constant, perSecond: 10}}\n");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message();
  EXPECT_EQ(outcome->pods, 20u);
  EXPECT_NEAR(std::chrono::duration<double>(outcome->active).count(), 1.9, 0.1);
}

TEST(Load, WhoSkipsTheWaitDoesNotWaitForArrivals) {
  const Result<RunOutcome> outcome =
      RunOps(kNodes +
             "  - {opcode: createPods, namespace: a, count: 20, skipWaitToCompletion: true, "
             "arrivals: {process: poisson, perSecond: 10}}\n"
             "  - {opcode: createPods, count: 5, collectMetrics: true}\n"
             "  - {opcode: barrier, namespaces: [a]}\n");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message();
  EXPECT_EQ(outcome->outcome, WorkloadOutcome::kMeasured) << outcome->reason;
  EXPECT_LT(outcome->repetition.seconds, 1.2) << "one look later; arrivals take two seconds";
}

TEST(Load, DrawsReachTheTemplateAndDependOnTheSeed) {
  const auto failed = [](uint64_t seed) {
    const Result<RunOutcome> outcome =
        RunOps(kNodes +
                   "  - {opcode: startCollectingMetrics, name: m, namespaces: [m]}\n"
                   "  - {opcode: createPods, namespace: m, count: 60, podTemplatePath: drawn.yaml, "
                   "draws: {priority: {zipf: 3}, fault: {weights: [1, 1]}}, "
                   "skipWaitToCompletion: true}\n"
                   "  - {opcode: barrier, namespaces: [m], stageRequirement: Attempted}\n"
                   "  - {opcode: stopCollectingMetrics}\n",
               seed);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message();
    EXPECT_EQ(outcome->outcome, WorkloadOutcome::kMeasured) << outcome->reason;
    const auto found = outcome->repetition.counters.find(
        "scheduler_schedule_attempts_total{result=\"unschedulable\",profile="
        "\"default-scheduler\"}");
    return found == outcome->repetition.counters.end() ? 0 : found->second;
  };
  EXPECT_NEAR(static_cast<double>(failed(1)), 30, 15);
  EXPECT_EQ(failed(1), failed(1));
  EXPECT_TRUE(failed(1) != failed(2) || failed(1) != failed(3));
}

TEST(Load, WhatIsWrongNamesItsPlace) {
  const auto error = [](const std::string& fields) {
    const Result<RunOutcome> outcome = RunOps(
        kNodes + "  - {opcode: createPods, count: 2, collectMetrics: true, " + fields + "}\n");
    return outcome ? std::string() : outcome.error().message();
  };
  EXPECT_THAT(error("arrivals: {process: random, perSecond: 1}"),
              HasSubstr("expected constant, poisson or bursts"));
  EXPECT_THAT(error("arrivals: {process: poisson}"), HasSubstr("w.yaml:4"));
  EXPECT_THAT(error("arrivals: {process: poisson, perSecond: 1, burst: 3}"), HasSubstr("burst"));
  EXPECT_THAT(error("draws: {x: {uniform: 2, zipf: 2}}"), HasSubstr("expected one of uniform"));
  EXPECT_THAT(error("draws: {x: {weights: [0, 0]}}"), HasSubstr("all 0"));
  EXPECT_THAT(error("draws: {x: {weights: [-1]}}"), HasSubstr("weight is -1"));
  EXPECT_THAT(error("draws: {x: {zipf: 2, exponent: 0}}"), HasSubstr("exponent"));
  EXPECT_THAT(error("draws: {x: {uniform: 2000000}}"), HasSubstr("at most 1000000"));
  EXPECT_THAT(error("draws: {x: {uniform: 2}}, templateParams: {x: 1}"), HasSubstr("expected one"));
  EXPECT_THAT(error("steadyState: true, duration: 1s, draws: {x: {uniform: 2}}"),
              HasSubstr("with steadyState"));
}

}  // namespace
}  // namespace schedq
