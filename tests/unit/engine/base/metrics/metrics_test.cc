// Goal: metrics count exactly, from any number of threads, and are exposed under the names, labels
// and buckets that upstream uses.
// Method: directed cases; sums after joins; the text compared whole.
#include "engine/base/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/metrics/metric_cells.h"
#include "engine/base/metrics/metrics_text.h"
#include "engine/base/metrics/sampled_duration.h"
#include "engine/base/time/time.h"
#include "engine/base/zeroed_memory.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Metrics, CountersOfOneFamilyAreApart) {
  MetricsRegistry registry;
  CounterFamily& family =
      registry.Counters({.name = "attempts_total", .help = "Attempts.", .labels = {"result"}});
  const Counter scheduled = family.At({"scheduled"});
  const Counter failed = family.At({"error"});
  scheduled.Add(3);
  failed.Add();
  family.At({"scheduled"}).Add();
  EXPECT_EQ(scheduled.Value(), 4u);
  EXPECT_EQ(registry.Value("attempts_total", {"error"}), 1);
  EXPECT_EQ(registry.Value("attempts_total", {"unknown"}), std::nullopt);
  EXPECT_EQ(registry.Value("nothing"), std::nullopt);
}

// More threads than a block has rows at first, so that it grows, and grows again.
TEST(Metrics, ManyThreadsLoseNothing) {
  MetricsRegistry registry;
  const Counter counter = registry.Counters({.name = "c", .help = ""}).At();
  const Gauge gauge = registry.Gauges({.name = "g", .help = ""}).At();
  const Histogram histogram = registry.Histograms({.name = "h", .help = ""}, {1.0, 2.0}).At();
  constexpr int kThreads = 2 * MetricCell::kFirstRows + 8;
  constexpr int kEach = 2000;
  std::atomic<int> started{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (started.fetch_add(1); started.load() < kThreads;) std::this_thread::yield();
      for (int i = 0; i < kEach; ++i) {
        counter.Add(2);
        gauge.Add(i % 2 == 0 ? 3 : -2);
        histogram.Observe(kSecond);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.Value(), 2u * kThreads * kEach);
  EXPECT_EQ(gauge.Value(), kThreads * kEach / 2);
  EXPECT_EQ(histogram.Value().count, static_cast<uint64_t>(kThreads) * kEach);
  EXPECT_EQ(histogram.Value().sum, kThreads * kEach);
}

TEST(Metrics, EveryThreadHasALineOfItsOwn) {
  const MetricCellBlock block(3);
  const MetricCell cell = block.At(1);
  constexpr uint32_t kThreads = 600;
  std::vector<uintptr_t> lines(kThreads);
  std::atomic<uint32_t> added{0};
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      cell.AddTwo(1, 1, 2);
      lines[thread] = reinterpret_cast<uintptr_t>(cell.OwnWord()) / kCacheLineBytes;
      // Each keeps its number until all have one.
      for (added.fetch_add(1); added.load() < kThreads;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      cell.Add(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<uintptr_t>(lines.begin(), lines.end()).size(), kThreads);
  EXPECT_EQ(block.At(0).Sum(), 0u);
  EXPECT_EQ(cell.Sum(), 2u * kThreads);
  EXPECT_EQ(block.At(2).Sum(), 2u * kThreads);
  cell.Set(5);
  EXPECT_EQ(cell.Sum(), 5u);
}

TEST(Metrics, AFamilyMayHaveNoSeries) {
  for (int i = 0; i < 100; ++i) {
    const std::vector<uint64_t> dirty(8, ~uint64_t{0});  // The next allocation may get its memory.
    const MetricCellBlock block(0);
    MetricsRegistry registry;
    const auto& family =
        registry.DenseGauges({.name = "g", .help = "", .labels = {"plugin"}}, {LabelValues()});
    EXPECT_TRUE(family.Read().empty());
  }
}

TEST(Metrics, GaugesAreSetAndMoved) {
  MetricsRegistry registry;
  const Gauge gauge = registry.Gauges({.name = "g", .help = ""}).At();
  gauge.Add(5);
  gauge.Set(-7);
  EXPECT_EQ(gauge.Value(), -7);
  gauge.Add(-1);
  EXPECT_EQ(registry.Value("g"), -8);
}

TEST(Metrics, DefaultHandlesDropWhatTheyGet) {
  Counter().Add();
  Gauge().Set(1);
  Histogram().Observe(kSecond);
  EXPECT_EQ(Counter().Value(), 0u);
  EXPECT_EQ(Histogram().Value().count, 0u);
}

TEST(Metrics, ExponentialBoundsAreUpstreams) {
  EXPECT_THAT(ExponentialBounds(1, 2, 5), ElementsAre(1, 2, 4, 8, 16));
  const std::vector<double> hint = ExponentialBounds(1e-5, 1.5, 20);
  ASSERT_EQ(hint.size(), 20u);
  EXPECT_NEAR(hint.back(), 1e-5 * std::pow(1.5, 19), 1e-12);
}

TEST(Metrics, BoundsAreInclusive) {
  MetricsRegistry registry;
  const Histogram histogram =
      registry.Histograms({.name = "h", .help = ""}, ExponentialBounds(1e-3, 2, 3)).At();
  for (const int microseconds : {0, 1000, 1001, 2000, 4000, 4001, 900000}) {
    histogram.Observe(std::chrono::microseconds(microseconds));
  }
  histogram.Observe(std::chrono::milliseconds(3), 10);
  const HistogramValue value = histogram.Value();
  EXPECT_THAT(value.counts, ElementsAre(2, 2, 11, 2));
  EXPECT_EQ(value.count, 17u);
  EXPECT_DOUBLE_EQ(value.sum, 0.912002 + 0.030);
}

TEST(Metrics, HistogramsOfCounts) {
  MetricsRegistry registry;
  const Histogram attempts =
      registry
          .Histograms({.name = "pod_scheduling_attempts", .help = ""}, ExponentialBounds(1, 2, 5))
          .At();
  for (const int count : {1, 1, 2, 3, 17}) attempts.ObserveCount(count);
  EXPECT_THAT(attempts.Value().counts, ElementsAre(2, 1, 1, 0, 0, 1));
  EXPECT_EQ(attempts.Value().sum, 24);
}

TEST(Metrics, DenseFamiliesAreIndexedByPosition) {
  MetricsRegistry registry;
  DenseCounterFamily& family =
      registry.DenseCounters({.name = "incoming_total", .help = "", .labels = {"queue", "event"}},
                             {{"active", "backoff"}, {"PodAdd", "NodeAdd", "NodeDelete"}});
  family.At(1, 2).Add(5);
  family.AtSeries(0).Add();
  EXPECT_EQ(family.series_count(), 6u);
  EXPECT_EQ(registry.Value("incoming_total", {"backoff", "NodeDelete"}), 5);
  EXPECT_EQ(registry.Value("incoming_total", {"active", "PodAdd"}), 1);
  EXPECT_EQ(registry.Value("incoming_total", {"active", "NodeAdd"}), std::nullopt);
  EXPECT_EQ(registry.Find("incoming_total")->Read().size(), 2u);
}

TEST(Metrics, DenseHistogramsAndZeros) {
  MetricsRegistry registry;
  DenseHistogramFamily& family =
      registry.DenseHistograms({.name = "h", .help = "", .labels = {"event"}}, {1.0}, {{"a", "b"}});
  family.At(1).Observe(kSecond);
  EXPECT_EQ(registry.HistogramAt("h", {"a"}), std::nullopt);
  EXPECT_THAT(registry.HistogramAt("h", {"b"})->counts, ElementsAre(1, 0));
  registry.DenseGauges({.name = "pending", .help = "", .labels = {"queue"}}, {{"active", "gated"}},
                       Zeros::kShow);
  EXPECT_EQ(registry.Value("pending", {"gated"}), 0);
  EXPECT_EQ(registry.HistogramAt("pending", {"gated"}), std::nullopt);
}

TEST(Metrics, OneSeriesOfADenseFamilyIsReadByItsLabels) {
  MetricsRegistry registry;
  DenseCounterFamily& family = registry.DenseCounters(
      {.name = "moves_total", .help = "Moves.", .labels = {"queue", "event"}},
      {{"active", "backoff"}, {"add", "fail", "flush"}});
  family.At(1, 2).Add(7);
  family.At(0, 1).Add(5);
  for (const MetricSample& sample : family.Read()) {
    EXPECT_EQ(family.ReadOne(sample.label_values)->value, sample.value);
  }
  EXPECT_EQ(registry.Value("moves_total", {"backoff", "flush"}), 7);
  EXPECT_EQ(registry.Value("moves_total", {"backoff", "add"}), std::nullopt);
  EXPECT_EQ(registry.Value("moves_total", {"backoff", "other"}), std::nullopt);
  EXPECT_EQ(registry.Value("moves_total", {"backoff"}), std::nullopt);
}

// Of more threads than a block has rows at first, and of what was set.
TEST(Metrics, AClearedRegistryCountsFromZero) {
  MetricsRegistry registry;
  const Counter counter = registry.Counters({.name = "c", .help = ""}).At();
  const Gauge gauge = registry.Gauges({.name = "g", .help = ""}).At();
  DenseHistogramFamily& dense = registry.DenseHistograms(
      {.name = "h", .help = "", .labels = {"event"}}, {1.0}, {{"add", "fail"}});
  gauge.Set(9);
  constexpr int kThreads = 2 * MetricCell::kFirstRows + 8;
  std::atomic<int> started{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (started.fetch_add(1); started.load() < kThreads;) std::this_thread::yield();
      counter.Add();
      dense.At(1).ObserveCount(3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.Value(), static_cast<uint64_t>(kThreads));
  registry.Clear();
  EXPECT_EQ(counter.Value(), 0u);
  EXPECT_EQ(gauge.Value(), 0);
  EXPECT_EQ(dense.At(1).Value().count, 0u);
  EXPECT_EQ(dense.At(1).Value().sum, 0);
  counter.Add(2);
  EXPECT_EQ(counter.Value(), 2u);
}

TEST(Metrics, CallbackGaugesLastAsLongAsTheirRegistration) {
  MetricsRegistry registry;
  int asked = 0;
  {
    CallbackGaugeFamily::Registration first =
        registry.CallbackGauges({.name = "g", .help = ""}).Register({}, [&] {
          return ++asked * 1.5;
        });
    const CallbackGaugeFamily::Registration moved = std::move(first);
    EXPECT_EQ(registry.Value("g"), 1.5);
    EXPECT_EQ(registry.Value("g"), 3.0);
  }
  EXPECT_EQ(registry.Value("g"), std::nullopt);
}

TEST(Metrics, AFamilyIsOneByItsName) {
  MetricsRegistry registry;
  registry.Counters({.name = "c", .help = ""}).At().Add();
  registry.Counters({.name = "c", .help = ""}).At().Add();
  EXPECT_EQ(registry.Value("c"), 2);
  EXPECT_DEATH(registry.Gauges({.name = "c", .help = ""}), "one kind of family");
  EXPECT_DEATH(registry.Counters({.name = "c", .help = "", .labels = {"x"}}), "one kind of family");
}

TEST(Metrics, TextIsWhatPrometheusReads) {
  MetricsRegistry registry;
  registry.Counters({.name = "scheduler_b_total", .help = "Bees.", .labels = {"queue"}})
      .At({"active"})
      .Add(2);
  registry
      .Histograms({.name = "scheduler_a_seconds", .help = "Ays."}, ExponentialBounds(1e-5, 1.5, 2))
      .At()
      .Observe(std::chrono::microseconds(12));
  registry.Gauges({.name = "scheduler_unused", .help = "None.", .labels = {"x"}});
  EXPECT_EQ(MetricsText(registry),
            "# HELP scheduler_a_seconds Ays.\n"
            "# TYPE scheduler_a_seconds histogram\n"
            "scheduler_a_seconds_count 1\n"
            "scheduler_a_seconds_sum 1.2e-05\n"
            "scheduler_a_seconds_bucket{le=\"1e-05\"} 0\n"
            "scheduler_a_seconds_bucket{le=\"1.5e-05\"} 1\n"
            "scheduler_a_seconds_bucket{le=\"+Inf\"} 1\n"
            "# HELP scheduler_b_total Bees.\n"
            "# TYPE scheduler_b_total counter\n"
            "scheduler_b_total{queue=\"active\"} 2\n");
}

TEST(SampledDuration, IsMeasuredFirstAndThenNowAndThen) {
  constexpr int kTimes = 160;
  constexpr int kTimesPerSample = 16;
  SampledDuration<kTimesPerSample> duration;
  EXPECT_FALSE(duration.IsKnown());
  int measured = 0;
  for (int i = 0; i < kTimes; ++i) {
    if (!duration.IsDue()) continue;
    EXPECT_TRUE(measured > 0 || i == 0) << "until something was measured, each time is";
    duration.Set({Duration(++measured), 255});
    EXPECT_EQ(duration.Latest().duration, Duration(measured));
    EXPECT_EQ(duration.Latest().bucket, 255u);
  }
  EXPECT_GE(measured, kTimes / kTimesPerSample);
  EXPECT_LE(measured, kTimes / kTimesPerSample + 1);
}

}  // namespace
}  // namespace schedq
