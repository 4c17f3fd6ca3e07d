#include "engine/base/metrics/metric_cells.h"

#include <algorithm>
#include <bit>
#include <memory>

namespace schedq {
namespace {

constexpr size_t kWordsPerLine = kCacheLineBytes / sizeof(MetricWord);

// A block of no cells has rows too: one of them says where the further ones are.
size_t RowWords(size_t cells) {
  return std::max<size_t>((cells + kWordsPerLine - 1) / kWordsPerLine, 1) * kWordsPerLine;
}

}  // namespace

// Apart from OwnWord, because few programs have so many threads.
[[gnu::noinline]] MetricWord* MetricCell::GrownWord(uint32_t thread) const {
  const auto growth = static_cast<uint32_t>(std::bit_width(thread / kFirstRows)) - 1;
  ZeroedMemory* rows = LoadGrowth(growth);
  if (rows == nullptr) rows = Grow(growth);
  return RowIn(*rows, growth, thread);
}

// These rows: new ones, or those of another thread that came first.
ZeroedMemory* MetricCell::Grow(uint32_t growth) const {
  auto rows =
      std::make_unique<ZeroedMemory>((kFirstRows << growth) * row_words_ * sizeof(MetricWord));
  uint64_t there = 0;
  // Release publishes the zeroed rows. Acquire is for a thread that loses and uses the winner's.
  if (GrowthWord(growth).compare_exchange_strong(there, reinterpret_cast<uintptr_t>(rows.get()),
                                                 std::memory_order_release,
                                                 std::memory_order_acquire)) {
    return rows.release();
  }
  return reinterpret_cast<ZeroedMemory*>(there);
}

void MetricCell::FreeGrownRows() const {
  for (uint32_t growth = 0; growth < kGrowths; ++growth) delete LoadGrowth(growth);
}

// Rows of numbers that no thread has had hold nothing.
template <typename Visit>
void MetricCell::ForEachRowOfThreads(Visit visit) const {
  const uint32_t used = Seam<std::atomic>::ThreadIndexesUsed();
  for (uint32_t row = 0; row < std::min(used, kFirstRows); ++row) visit(Row(row));
  for (uint32_t growth = 0; kFirstRows << growth < used; ++growth) {
    const ZeroedMemory* const rows = LoadGrowth(growth);
    if (rows == nullptr) continue;
    const uint32_t end = std::min(used, kFirstRows << (growth + 1));
    for (uint32_t thread = kFirstRows << growth; thread < end; ++thread) {
      visit(RowIn(*rows, growth, thread));
    }
  }
}

void MetricCell::Clear(size_t cells) const {
  const auto clear = [cells](MetricWord* row) {
    for (size_t cell = 0; cell < cells; ++cell) StoreRelaxed(row[cell], 0);
  };
  ForEachRowOfThreads(clear);
  clear(Row(kSetRow));
}

uint64_t MetricCell::SumOfShards() const {
  uint64_t sum = 0;
  ForEachRowOfThreads([&sum](const MetricWord* cell) { sum += LoadAcquire(*cell); });
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
      memory_(MetricCell::kRows * RowWords(count) * sizeof(MetricWord)),
      first_(static_cast<MetricWord*>(memory_.data()), static_cast<uint32_t>(RowWords(count))) {}

void MetricCellBlock::Clear() const { first_.Clear(count_); }

}  // namespace schedq
