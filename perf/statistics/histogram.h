// A log-linear histogram of whole numbers, such as latencies in nanoseconds.
//
// Purpose: percentiles of millions of values, with three significant digits, in fixed memory.
// When not to use it: for a handful of repetitions; use Summary.
// Threads: one writer; no concurrent reader. Several threads write one histogram each, and Merge
// joins them afterwards.
// Invariants:
//  1. A reported percentile is at least the true order statistic and exceeds it by at most
//     kRelativeErrorMax of it; values below 2048 are exact.
//  2. count, total, min and max are exact (total saturates).
//  3. Merging two histograms gives the same histogram as recording both inputs into one.
//  4. Record is O(1) and does not allocate.
// Memory: 8 bytes a bucket, 1024 buckets for each doubling of the range: 272 KiB for one hour in
// ns.
// Source: the bucket layout is that of Gil Tene's HdrHistogram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace schedq {

class LatencyHistogram {
 public:
  static constexpr double kRelativeErrorMax = 1.0 / 1024;
  static constexpr uint64_t kOneHourNs = 3'600'000'000'000;

  // Values above `value_max` share the last bucket; a percentile there may be max().
  explicit LatencyHistogram(uint64_t value_max = kOneHourNs);

  void Record(uint64_t value) { Record(value, 1); }
  void Record(uint64_t value, uint64_t times);

  // `other` has the same value_max.
  void Merge(const LatencyHistogram& other);
  void Clear();

  uint64_t count() const { return count_; }
  uint64_t total() const { return total_; }
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  double Mean() const;

  // The smallest recorded value that at least `percent` of all values do not exceed, within
  // kRelativeErrorMax; 0 when nothing was recorded. O(buckets).
  uint64_t Percentile(double percent) const;

  bool operator==(const LatencyHistogram&) const = default;

 private:
  static size_t BucketOf(uint64_t value);
  static uint64_t HighestIn(size_t bucket);

  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  uint64_t total_ = 0;
  uint64_t min_ = UINT64_MAX;
  uint64_t max_ = 0;
};

}  // namespace schedq
