// Goal: the figures of a run follow their definitions: throughput by samples, sections as
// differences, quantiles, thresholds.
// Method: values written by hand with known answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/sim/measure/metric_values.h"
#include "bench/sim/measure/step_times.h"
#include "bench/sim/measure/thresholds.h"
#include "bench/sim/measure/throughput.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "perf/documents/data_items.h"
#include "perf/documents/run_document.h"

namespace schedq {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Instant At(double seconds) {
  return Instant(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
}

void CountPods(Throughput* throughput, int pods, double at) {
  for (int i = 0; i < pods; ++i) throughput->CountPod(At(at));
}

TEST(Throughput, AShortRunHasItsCountOverItsTime) {
  Throughput throughput(At(0));
  CountPods(&throughput, 5, 0.25);
  CountPods(&throughput, 5, 0.5);
  EXPECT_THAT(throughput.Item().data.at("Average"), DoubleEq(20));
  EXPECT_THAT(throughput.Item().data.at("Perc99"), DoubleEq(20));
}

TEST(Throughput, NothingScheduledIsZero) {
  EXPECT_EQ(Throughput(At(0)).Item().data.at("Average"), 0);
}

TEST(Throughput, DropsTheFirstSampleAndRepeatsForIdleSeconds) {
  Throughput throughput(At(0));
  throughput.Sample(At(1));  // No sample, because there is no pod yet.
  CountPods(&throughput, 100, 1.5);
  throughput.Sample(At(2));  // The first sample, which is dropped.
  CountPods(&throughput, 10, 2.5);
  throughput.Sample(At(3));  // 10 a second.
  throughput.Sample(At(4));  // A second without a pod.
  CountPods(&throughput, 8, 4.5);
  throughput.Sample(At(5));  // 8 in two seconds: 4 a second, twice.
  const DataItem item = throughput.Item();
  EXPECT_THAT(item.data.at("Average"), DoubleEq((10 + 4 + 4) / 3.0));
  EXPECT_THAT(item.data.at("Perc50"), DoubleEq(4));
  EXPECT_THAT(item.data.at("Perc90"), DoubleEq(10));
}

class MetricValuesTest : public testing::Test {
 protected:
  MetricValues Read() const {
    MetricValues values;
    values.Read(registry_, "wall_seconds");
    return values;
  }

  MetricsRegistry registry_;
  CounterFamily& counters_ =
      registry_.Counters({.name = "c_total", .help = "", .labels = {"queue", "event"}});
  HistogramFamily& histograms_ = registry_.Histograms(
      {.name = "d_seconds", .help = "", .labels = {"result"}}, {0.001, 0.002, 0.004});
};

TEST_F(MetricValuesTest, ASectionIsADifference) {
  counters_.At({"active", "a"}).Add(3);
  histograms_.At({"ok"}).Observe(std::chrono::microseconds(500));
  const MetricValues before = Read();
  counters_.At({"active", "a"}).Add(2);
  counters_.At({"active", "b"}).Add(7);
  histograms_.At({"ok"}).Observe(std::chrono::microseconds(1500), 2);
  registry_.Histograms({.name = "wall_seconds", .help = ""}, {1}).At().Observe(kSecond);
  const MetricValues since = Read().Since(before);
  EXPECT_THAT(since.Counters(), ElementsAre(Pair("c_total{queue=\"active\",event=\"a\"}", 2),
                                            Pair("c_total{queue=\"active\",event=\"b\"}", 7),
                                            Pair("d_seconds_count{result=\"ok\"}", 2)));
}

TEST_F(MetricValuesTest, ItemsFollowTheConfiguredLabels) {
  counters_.At({"active", "a"}).Add(2);
  counters_.At({"active", "b"}).Add(5);
  histograms_.At({"ok"}).Observe(std::chrono::microseconds(1500), 2);
  const auto items = Read().Items({{"c_total", {{"queue", {"active", "backoff"}}}},
                                   {"d_seconds", {{"result", {}}}},
                                   {"unknown", {}}});
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].labels.at("queue"), "active");
  EXPECT_THAT(items[0].data, ElementsAre(Pair("Average", 7)));
  EXPECT_EQ(items[1].unit, "ms");
  EXPECT_THAT(items[1].data.at("Average"), DoubleEq(1.5));
  EXPECT_THAT(items[1].data.at("Perc50"), DoubleEq(1.5));
}

TEST(HistogramQuantile, IsLinearInsideTheBucketAndStopsAtTheLastBound) {
  HistogramValue histogram{{1, 2, 4}, {0, 2, 2, 4}, 8, 0};
  EXPECT_THAT(HistogramQuantile(histogram, 0.25), DoubleEq(2));
  EXPECT_THAT(HistogramQuantile(histogram, 0.375), DoubleEq(3));
  EXPECT_THAT(HistogramQuantile(histogram, 0.9), DoubleEq(4));
}

class ThresholdTest : public testing::Test {
 protected:
  ThresholdTest() {
    test_case_.file = "somewhere/misc/performance-config.yaml";
    workload_.threshold.value = 100;
    Repetition repetition;
    repetition.metrics = {{{{"Average", 120}}, "pods/s", {{"Metric", "SchedulingThroughput"}}}};
    repetitions_ = {repetition};
  }
  auto Judge() const { return JudgeThreshold(test_case_, workload_, repetitions_, true); }

  TestCase test_case_;
  Workload workload_;
  std::vector<Repetition> repetitions_;
};

TEST_F(ThresholdTest, IsMetStrictlyAbove) {
  EXPECT_TRUE((*Judge())->met);
  workload_.threshold.value = 120;
  EXPECT_FALSE((*Judge())->met);
  workload_.threshold_selector.expect_lower = true;
  EXPECT_FALSE((*Judge())->met);
  workload_.threshold.value = 121;
  EXPECT_TRUE((*Judge())->met);
}

TEST_F(ThresholdTest, ZeroIsOffAndTheTopicDecides) {
  workload_.threshold = {0, {{"misc", 130}, {"dra", 1}}};
  EXPECT_EQ((*Judge())->limit, 130);
  workload_.threshold = {0, {{"dra", 1}}};
  EXPECT_FALSE((*Judge()).has_value());
}

TEST_F(ThresholdTest, ASelectorThatFindsNothingIsAnError) {
  workload_.threshold_selector.bucket = "Perc75";
  ASSERT_FALSE(Judge().ok());
  EXPECT_THAT(Judge().error().message(), HasSubstr("Perc75"));
  workload_.threshold_selector.bucket = "Average";
  workload_.threshold_selector.labels = {{"result", "scheduled"}};
  EXPECT_FALSE(Judge().ok());
}

TEST(TopicOf, IsTheFolder) {
  EXPECT_EQ(TopicOf("a/b/dra/performance-config.yaml"), "dra");
  EXPECT_EQ(TopicOf("builtin/basic.yaml"), "builtin");
  EXPECT_EQ(TopicOf("x.yaml"), "workloads");
}

// 10 attempts in a millisecond: the steps one after the other take the whole of it.
TEST(StepTimes, TheStepsTakeTheTimeInWhichAnybodyWasBusy) {
  StepTimes steps;
  steps.busy = 0.001;
  steps.server = 0.0004;
  steps.popping = 0.0001;
  steps.placing = 0.0002;
  steps.adding = 0.00015;
  steps.events = 0.00005;
  steps.hints = 0.00002;
  steps.client_calls = 20;
  steps.attempts = 10;
  steps.nodes_looked_at = 100'000;
  steps.pods_told = 30;
  steps.events_told = 3;
  steps.hints_asked = 20;
  const CostModel costs = *CostsOf(steps, "measured");
  EXPECT_EQ(costs.queue_pop + costs.queue_done, Duration(10'000));
  EXPECT_EQ(costs.filter_node, Duration(2));
  EXPECT_EQ(costs.queue_add, Duration(5'000));
  EXPECT_EQ(costs.queue_event, Duration(10'000));
  EXPECT_EQ(costs.queue_judge, Duration(1'000));
  EXPECT_EQ(costs.client_interval, Duration(20'000)) << "20 calls in 0.4 ms";
  const Duration whole = 10 * (costs.attempt + costs.queue_pop + costs.queue_done) +
                         100'000 * costs.filter_node + 30 * costs.queue_add +
                         3 * costs.queue_event + 20 * costs.queue_judge;
  EXPECT_EQ(whole, Duration(1'000'000));
}

// 20 ms of work within 10 ms: one after the other the steps take the 10 ms.
TEST(StepTimes, WorkSideBySideIsCutToTheTimeOfTheRun) {
  StepTimes steps;
  steps.busy = 0.010;
  steps.popping = 0.004;
  steps.placing = 0.004;
  steps.adding = 0.002;
  steps.events = 0.010;
  steps.hints = 0.008;
  steps.attempts = 10;
  steps.nodes_looked_at = 1000;
  steps.pods_told = 20;
  steps.events_told = 10;
  steps.hints_asked = 100;
  const CostModel costs = *CostsOf(steps, "measured");
  EXPECT_EQ(costs.attempt, Duration(0));
  const Duration whole = 10 * (costs.queue_pop + costs.queue_done) + 1000 * costs.filter_node +
                         20 * costs.queue_add + 10 * costs.queue_event + 100 * costs.queue_judge;
  EXPECT_EQ(whole, Duration(10'000'000));
}

TEST(StepTimes, WithoutAnAttemptThereIsNoModel) {
  EXPECT_FALSE(CostsOf(StepTimes(), "measured").ok());
}

// Times that were split over threads may exceed the whole; no cost is below zero.
TEST(StepTimes, NoCostIsNegative) {
  StepTimes steps;
  steps.attempts = 1;
  steps.popping = 1e-6;
  steps.hints = 1e-6;
  steps.hints_asked = 1;
  steps.events_told = 1;
  const CostModel costs = *CostsOf(steps, "measured");
  EXPECT_EQ(costs.attempt, Duration(0));
  EXPECT_EQ(costs.queue_event, Duration(0));
}

TEST(StepTimes, TheFileOfAModelReadsAsTheModel) {
  const CostModel upstream = *LoadCostModel(kUpstreamModel);
  const std::string text = CostModelText(upstream, "a comment");
  EXPECT_EQ(text.substr(0, 12), "# a comment\n");
  const Result<CostModel> read = ParseCostModel("costs.yaml", text);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(CostModelText(*read, "a comment"), text);
  EXPECT_EQ(read->attempt, upstream.attempt);
  EXPECT_EQ(read->bind.extra, upstream.bind.extra);
  EXPECT_EQ(read->client_interval, upstream.client_interval);
}

}  // namespace
}  // namespace schedq
