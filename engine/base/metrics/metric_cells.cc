#include "engine/base/metrics/metric_cells.h"

#include <algorithm>

namespace schedq {
namespace {

constexpr size_t kWordsPerLine = kCacheLineBytes / sizeof(MetricWord);

size_t RowWords(size_t cells) {
  return (cells + kWordsPerLine - 1) / kWordsPerLine * kWordsPerLine;
}

constexpr uint32_t kSetRow = kShardRows - 1;

}  // namespace

uint64_t MetricCell::SumOfShards() const {
  // Rows of numbers that no thread has had hold nothing.
  const uint32_t used = Seam<std::atomic>::ThreadIndexesUsed();
  uint64_t sum = 0;
  for (uint32_t row = 0; row < std::min(used, kOwnedShards); ++row) sum += LoadAcquire(*Row(row));
  if (used <= kOwnedShards) return sum;
  for (uint32_t row = kOwnedShards; row < kSetRow; ++row) sum += LoadAcquire(*Row(row));
  return sum;
}

void MetricCell::Set(uint64_t value) const {
  if (first_row_ != nullptr) StoreRelaxed(*Row(kSetRow), value - SumOfShards());
}

uint64_t MetricCell::Sum() const {
  return first_row_ == nullptr ? 0 : SumOfShards() + LoadRelaxed(*Row(kSetRow));
}

uint64_t CountThere(const MetricCell& came) {
  const uint64_t went = came.Next(1).Sum();
  const uint64_t all = came.Sum();
  return all > went ? all - went : 0;
}

MetricCellBlock::MetricCellBlock(size_t count)
    : count_(count),
      memory_(kShardRows * RowWords(count) * sizeof(MetricWord)),
      first_(static_cast<MetricWord*>(memory_.data()), RowWords(count)) {}

}  // namespace schedq
