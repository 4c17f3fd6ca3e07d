// Goal: percentiles keep the stated error bound, counts are exact, and merging histograms equals
// recording all values in one.
// Method: comparison with sorted vectors, over seeded values of every magnitude.
#include "perf/statistics/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "perf/statistics/latency.h"

namespace schedq {
namespace {

constexpr uint64_t kAll = UINT64_MAX;

std::vector<uint64_t> ValuesOfAllMagnitudes(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> values(count);
  for (uint64_t& value : values) value = random() >> (random() % 64);
  return values;
}

LatencyHistogram Recorded(const std::vector<uint64_t>& values, uint64_t value_max = kAll) {
  LatencyHistogram histogram(value_max);
  for (const uint64_t value : values) histogram.Record(value);
  return histogram;
}

// The smallest value that at least this many thousandths of a percent of all do not exceed.
uint64_t TrueOrderStatistic(std::vector<uint64_t> values, uint64_t millipercent) {
  std::sort(values.begin(), values.end());
  const size_t rank = (values.size() * millipercent + 99'999) / 100'000;
  return values[std::max<size_t>(rank, 1) - 1];
}

TEST(PerfHistogram, SmallValuesAreExact) {
  LatencyHistogram histogram;
  for (uint64_t value = 1; value <= 1000; ++value) histogram.Record(value);
  EXPECT_EQ(histogram.Percentile(50), 500u);
  EXPECT_EQ(histogram.Percentile(99), 990u);
  EXPECT_EQ(histogram.Percentile(99.9), 999u);
  EXPECT_EQ(histogram.Percentile(99.99), 1000u);
  EXPECT_EQ(histogram.Percentile(0), 1u);
  EXPECT_EQ(histogram.Percentile(100), 1000u);
  EXPECT_EQ(histogram.total(), 500'500u);
  EXPECT_EQ(histogram.Mean(), 500.5);
  EXPECT_EQ(histogram.min(), 1u);
  EXPECT_EQ(histogram.max(), 1000u);
}

TEST(PerfHistogram, PercentilesKeepTheErrorBound) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<uint64_t> values = ValuesOfAllMagnitudes(seed, 1 + seed * 97);
    const LatencyHistogram histogram = Recorded(values);
    for (const uint64_t millipercent : {0, 1000, 25000, 50000, 90000, 99000, 99900, 100000}) {
      const uint64_t truth = TrueOrderStatistic(values, millipercent);
      const uint64_t reported = histogram.Percentile(static_cast<double>(millipercent) / 1000);
      ASSERT_GE(reported, truth) << "seed " << seed << ", percentile " << millipercent / 1000.0;
      ASSERT_LE(static_cast<double>(reported - truth),
                static_cast<double>(truth) * LatencyHistogram::kRelativeErrorMax)
          << "seed " << seed << ", percentile " << millipercent / 1000.0;
    }
  }
}

TEST(PerfHistogram, EveryBucketEdgeKeepsTheErrorBound) {
  for (int bit = 0; bit < 64; ++bit) {
    for (const int64_t offset : {-1, 0, 1}) {
      const uint64_t value = (uint64_t{1} << bit) + static_cast<uint64_t>(offset);
      LatencyHistogram histogram(kAll);
      histogram.Record(value);
      histogram.Record(kAll);  // Raises max, so that it does not hide the bucket's upper end.
      const uint64_t reported = histogram.Percentile(50);
      ASSERT_GE(reported, value);
      ASSERT_LE(static_cast<double>(reported - value),
                static_cast<double>(value) * LatencyHistogram::kRelativeErrorMax);
    }
  }
}

TEST(PerfHistogram, MergeEqualsRecordingBoth) {
  const std::vector<uint64_t> left = ValuesOfAllMagnitudes(1, 500);
  const std::vector<uint64_t> right = ValuesOfAllMagnitudes(2, 300);
  std::vector<uint64_t> both = left;
  both.insert(both.end(), right.begin(), right.end());
  LatencyHistogram merged = Recorded(left);
  merged.Merge(Recorded(right));
  EXPECT_EQ(merged, Recorded(both));
  EXPECT_FALSE(merged == Recorded(left));
  merged.Clear();
  EXPECT_EQ(merged, LatencyHistogram(kAll));
}

TEST(PerfHistogram, MergingAnEmptyOneChangesNothing) {
  LatencyHistogram histogram = Recorded({5, 7}, 1000);
  histogram.Merge(LatencyHistogram(1000));
  EXPECT_EQ(histogram, Recorded({5, 7}, 1000));
}

TEST(PerfHistogramDeathTest, DifferentRangesDoNotMerge) {
  LatencyHistogram histogram(1000);
  EXPECT_DEATH(histogram.Merge(LatencyHistogram(1'000'000)), "different ranges");
}

TEST(PerfHistogram, RecordingTimesEqualsRecordingOften) {
  LatencyHistogram often(1000);
  for (int i = 0; i < 7; ++i) often.Record(33);
  LatencyHistogram times(1000);
  times.Record(33, 7);
  times.Record(44, 0);
  EXPECT_EQ(often, times);
}

TEST(PerfHistogram, ValuesBeyondTheRangeCountAndReadAsMax) {
  const LatencyHistogram histogram = Recorded({10, 20, 1'000'000'000}, 10'000);
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.Percentile(50), 20u);
  EXPECT_EQ(histogram.Percentile(99), 1'000'000'000u);
  EXPECT_EQ(histogram.total(), 1'000'000'030u);
}

TEST(PerfHistogram, TotalSaturates) {
  const LatencyHistogram histogram = Recorded({kAll, kAll});
  EXPECT_EQ(histogram.total(), kAll);
  EXPECT_EQ(histogram.count(), 2u);
}

TEST(PerfHistogram, NothingRecorded) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.Percentile(99), 0u);
  EXPECT_EQ(histogram.min(), 0u);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_EQ(histogram.Mean(), 0);
  EXPECT_EQ(LatencySummary::Of(histogram), LatencySummary{});
}

TEST(PerfHistogram, LatencySummaryHasEveryPercentile) {
  LatencyHistogram histogram;
  for (uint64_t value = 1; value <= 2000; ++value) histogram.Record(value);
  const LatencySummary expected = {.count = 2000,
                                   .total_ns = 2'001'000,
                                   .p50_ns = 1000,
                                   .p90_ns = 1800,
                                   .p95_ns = 1900,
                                   .p99_ns = 1980,
                                   .p99_9_ns = 1998,
                                   .p99_99_ns = 2000,
                                   .max_ns = 2000};
  EXPECT_EQ(LatencySummary::Of(histogram), expected);
}

}  // namespace
}  // namespace schedq
