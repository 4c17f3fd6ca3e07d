#include "perf/statistics/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/base/result.h"

namespace schedq {
namespace {

// A bucket of shift s holds 2^s neighbouring values; 1024 buckets share a shift.
constexpr int kLinearBits = 11;
constexpr uint64_t kBucketsPerShift = 1024;

uint64_t SaturatingAdd(uint64_t left, uint64_t right) {
  uint64_t sum = 0;
  return __builtin_add_overflow(left, right, &sum) ? UINT64_MAX : sum;
}

uint64_t SaturatingMultiply(uint64_t left, uint64_t right) {
  uint64_t product = 0;
  return __builtin_mul_overflow(left, right, &product) ? UINT64_MAX : product;
}

}  // namespace

size_t LatencyHistogram::BucketOf(uint64_t value) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - kLinearBits);
  return static_cast<size_t>(shift) * kBucketsPerShift + (value >> shift);
}

uint64_t LatencyHistogram::HighestIn(size_t bucket) {
  if (bucket < 2 * kBucketsPerShift) return bucket;
  const uint64_t shift = bucket / kBucketsPerShift - 1;
  const uint64_t mantissa = bucket - shift * kBucketsPerShift;
  // In the topmost bucket the shift drops the carry, and 0 - 1 is the largest number, as intended.
  return ((mantissa + 1) << shift) - 1;
}

LatencyHistogram::LatencyHistogram(uint64_t value_max) : buckets_(BucketOf(value_max) + 1) {}

void LatencyHistogram::Record(uint64_t value, uint64_t times) {
  if (times == 0) return;
  buckets_[std::min(BucketOf(value), buckets_.size() - 1)] += times;
  count_ += times;
  total_ = SaturatingAdd(total_, SaturatingMultiply(value, times));
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  SCHEDQ_CHECK(buckets_.size() == other.buckets_.size(), "histograms of different ranges");
  for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  total_ = SaturatingAdd(total_, other.total_);
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

void LatencyHistogram::Clear() {
  std::fill(buckets_.begin(), buckets_.end(), 0);
  count_ = 0;
  total_ = 0;
  min_ = UINT64_MAX;
  max_ = 0;
}

double LatencyHistogram::Mean() const {
  return count_ == 0 ? 0 : static_cast<double>(total_) / static_cast<double>(count_);
}

uint64_t LatencyHistogram::Percentile(double percent) const {
  SCHEDQ_CHECK(percent >= 0 && percent <= 100, "a percentile lies in [0, 100]");
  if (count_ == 0) return 0;
  // 99.9 / 100 * 1000 is a little above 999 in doubles; its ceiling must still be 999.
  constexpr double kRounding = 1 - 4 * std::numeric_limits<double>::epsilon();
  const double position = percent / 100 * static_cast<double>(count_) * kRounding;
  const uint64_t rank = std::clamp<uint64_t>(static_cast<uint64_t>(std::ceil(position)), 1, count_);
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket + 1 < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) return std::min(HighestIn(bucket), max_);
  }
  return max_;
}

}  // namespace schedq
