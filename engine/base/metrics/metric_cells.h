// The cells behind every metric: numbers sharded by thread, written without contention.
//
// Purpose: a block of cells, each a 64-bit number that is the sum of its shards. A thread writes
// the shard of its own number, so an addition is a load, an add and a store on a cache line that no
// other thread writes; a read sums the shards.
// When not to use it: for a number that decides something. A sum taken while others write is not a
// snapshot; it holds every addition that happens before the read, and every addition that happens
// before another one that an earlier sum of this reader held.
// Threads: Add and Set from any thread, Sum from any thread. Each is wait-free.
// Invariants:
//  1. Shard i < kOwnedShards is written only by the thread whose ThreadIndex() is i.
//  2. The shards above are shared by all other threads and written by atomic additions.
//  3. The last row is written only by Set.
// Memory: (kOwnedShards + kSharedShards + 1) rows of the block's cells rounded up to a cache line;
// pages of rows that no thread uses are never touched.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/base/atom.h"
#include "engine/base/zeroed_memory.h"

namespace schedq {

inline constexpr uint32_t kOwnedShards = 32;
inline constexpr uint32_t kSharedShards = 8;
inline constexpr uint32_t kShardRows = kOwnedShards + kSharedShards + 1;

using MetricWord = std::atomic<uint64_t>;
static_assert(MetricWord::is_always_lock_free && sizeof(MetricWord) == 8,
              "zeroed memory serves as cells");

// One cell of a block. A default-constructed one drops what is added to it and sums to zero.
class MetricCell {
 public:
  MetricCell() = default;
  MetricCell(MetricWord* first_row, size_t row_words)
      : first_row_(first_row), row_words_(row_words) {}

  // Modulo 2^64, so that subtraction is adding the negative.
  void Add(uint64_t amount) const {
    if (first_row_ == nullptr) return;
    const uint32_t thread = Seam<std::atomic>::ThreadIndex();
    if (thread < kOwnedShards) [[likely]] {
      AddToOwnRow(*Row(thread), amount);
    } else {
      AddToSharedRow(*Row(kOwnedShards + thread % kSharedShards), amount);
    }
  }

  // Adds to this cell and to the one `offset` further, at little more than the cost of one
  // addition.
  void AddTwo(uint64_t amount, ptrdiff_t offset, uint64_t amount_there) const {
    if (first_row_ == nullptr) return;
    const uint32_t thread = Seam<std::atomic>::ThreadIndex();
    if (thread < kOwnedShards) [[likely]] {
      MetricWord* const own = Row(thread);
      AddToOwnRow(*own, amount);
      AddToOwnRow(own[offset], amount_there);
    } else {
      Add(amount);
      MetricCell(first_row_ + offset, row_words_).Add(amount_there);
    }
  }

  // Makes the sum `value`. An addition at the same time is added to `value` or overwritten by it;
  // of two Sets at the same time either wins.
  void Set(uint64_t value) const;
  uint64_t Sum() const;

  // The cell `offset` further in the same block.
  MetricCell Next(size_t offset) const {
    return first_row_ == nullptr ? *this : MetricCell(first_row_ + offset, row_words_);
  }

 private:
  MetricWord* Row(size_t row) const { return first_row_ + row * row_words_; }

  // This thread is the row's only writer. When a thread number passes to another thread, the seam
  // orders their writes. So load and store lose nothing. Release, here and below, pairs with the
  // acquire of SumOfShards: without it a reader that sees what went could miss that it had come.
  static void AddToOwnRow(MetricWord& word, uint64_t amount) {
    StoreRelease(word, LoadRelaxed(word) + amount);
  }
  static void AddToSharedRow(MetricWord& word, uint64_t amount) {
    word.fetch_add(amount, std::memory_order_release);
  }
  uint64_t SumOfShards() const;

  MetricWord* first_row_ = nullptr;
  size_t row_words_ = 0;
};

// How many are there, from a cell of what came and the one behind it of what went. Never below
// zero, nor below the number of those that were there all the while: what went is read first, and
// each of these had come before. Only where something went that is not counted as come yet (the
// threads that moved it have not told in their order) may one that is there be left out.
uint64_t CountThere(const MetricCell& came);

// Owns the memory of `count` cells.
class MetricCellBlock {
 public:
  explicit MetricCellBlock(size_t count);

  MetricCell At(size_t index) const { return first_.Next(index); }
  size_t count() const { return count_; }

 private:
  size_t count_;
  ZeroedMemory memory_;
  MetricCell first_;
};

}  // namespace schedq
