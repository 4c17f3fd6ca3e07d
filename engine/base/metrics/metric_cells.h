// The cells behind every metric: numbers sharded by thread, written without contention.
//
// Purpose: a block of cells, each a 64-bit number that is the sum of its shards. A thread writes
// the shard of its own number, so an addition is a load, an add and a store on a cache line that no
// other thread writes; a read sums the shards.
// When not to use it: for a number that decides something. A sum taken while others write is not a
// snapshot; it holds every addition that happens before the read, and every addition that happens
// before another one that an earlier sum of this reader held.
// Threads: Add and Set from any thread, Sum from any thread. Each is wait-free, but for the
// allocation of rows.
// Invariants:
//  1. A shard is written only by the thread whose ThreadIndex() is the shard's number.
//  2. The set row is written only by Set.
// Memory: a row is the block's cells rounded up to a cache line. A block has rows for the first
// kFirstRows threads, and four rows of its own. When a thread with a larger number first adds to
// the block, the rows double. Pages of rows that no thread uses are never touched.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "engine/base/atom.h"
#include "engine/base/zeroed_memory.h"

namespace schedq {

using MetricWord = std::atomic<uint64_t>;
static_assert(MetricWord::is_always_lock_free && sizeof(MetricWord) == 8,
              "zeroed memory serves as cells");

// One cell of a block. A default-constructed one drops what is added to it and sums to zero.
class MetricCell {
 public:
  // Threads beyond these make a block grow.
  static constexpr uint32_t kFirstRows = 32;

  MetricCell() = default;
  MetricCell(MetricWord* first_row, uint32_t row_words)
      : first_row_(first_row), row_words_(row_words) {}

  // Modulo 2^64, so that subtraction is adding the negative. Allocates when it is the first
  // addition by a thread of a number for which the block has no row. Inlined, and so is what it
  // calls: a call would cost as much again.
  [[gnu::always_inline]] void Add(uint64_t amount) const {
    if (first_row_ != nullptr) AddTo(*OwnWord(), amount);
  }

  // Adds to this cell and to the one `offset` further, at little more than the cost of one
  // addition.
  [[gnu::always_inline]] void AddTwo(uint64_t amount, ptrdiff_t offset,
                                     uint64_t amount_there) const {
    if (first_row_ == nullptr) return;
    MetricWord* const own = OwnWord();
    AddTo(*own, amount);
    AddTo(own[offset], amount_there);
  }

  // Makes the sum `value`. An addition at the same time is added to `value` or overwritten by it;
  // of two Sets at the same time either wins.
  void Set(uint64_t value) const;
  uint64_t Sum() const;

  // The cell `offset` further in the same block.
  MetricCell Next(size_t offset) const {
    if (first_row_ == nullptr) return *this;
    MetricCell next = *this;
    next.first_row_ += offset;
    next.index_ += static_cast<uint32_t>(offset);
    return next;
  }

  // The word to which the calling thread adds, of a cell of a block. No other thread has it, nor
  // another word of its cache line, while this one lives.
  [[gnu::always_inline]] MetricWord* OwnWord() const {
    const uint32_t thread = Seam<std::atomic>::ThreadIndex();
    return thread < kFirstRows ? Row(thread) : GrownWord(thread);
  }

  // For the block's owner, of its first cell: frees the rows beyond the first ones.
  void FreeGrownRows() const;
  // The same: makes the first `cells` cells zero, in the rows of all threads that there were.
  void Clear(size_t cells) const;

 private:
  friend class MetricCellBlock;

  // Where the further rows are: three rows, which lie behind each other.
  static constexpr uint32_t kGrowthRow = kFirstRows;
  static constexpr uint32_t kGrowthRows = 3;
  static constexpr uint32_t kSetRow = kGrowthRow + kGrowthRows;
  static constexpr uint32_t kRows = kSetRow + 1;
  // Growth g holds the rows from kFirstRows << g up to twice as many.
  static constexpr uint32_t kGrowths = std::bit_width(kThreadsMax / kFirstRows) - 1;
  static_assert(kGrowths * sizeof(MetricWord) <= kGrowthRows * kCacheLineBytes,
                "they fit the shortest rows");
  static_assert(kFirstRows << kGrowths == kThreadsMax, "every thread has a row of its own");

  MetricWord* Row(size_t row) const { return first_row_ + row * row_words_; }

  MetricWord* GrownWord(uint32_t thread) const;
  ZeroedMemory* Grow(uint32_t growth) const;

  // Written once, by the thread that makes the rows: the address of a ZeroedMemory.
  MetricWord& GrowthWord(uint32_t growth) const {
    return Row(kGrowthRow)[growth - ptrdiff_t{index_}];
  }
  // Acquire pairs with the release in Grow: without it a row could be read before it was zeroed.
  ZeroedMemory* LoadGrowth(uint32_t growth) const {
    return reinterpret_cast<ZeroedMemory*>(LoadAcquire(GrowthWord(growth)));
  }
  MetricWord* RowIn(const ZeroedMemory& rows, uint32_t growth, uint32_t thread) const {
    const size_t row = thread - (kFirstRows << growth);
    return static_cast<MetricWord*>(rows.data()) + row * row_words_ + index_;
  }

  // This thread is the row's only writer. When a thread number passes to another thread, the seam
  // orders their writes. So load and store lose nothing. Release pairs with the acquire of
  // SumOfShards: without it a reader that sees what went could miss that it had come.
  [[gnu::always_inline]] static void AddTo(MetricWord& word, uint64_t amount) {
    StoreRelease(word, LoadRelaxed(word) + amount);
  }
  // Calls visit(cell) with this cell in the row of each thread that there was.
  template <typename Visit>
  void ForEachRowOfThreads(Visit visit) const;
  uint64_t SumOfShards() const;

  MetricWord* first_row_ = nullptr;
  uint32_t row_words_ = 0;
  uint32_t index_ = 0;  // The cell's in its block.
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
  ~MetricCellBlock() { first_.FreeGrownRows(); }
  MetricCellBlock(const MetricCellBlock&) = delete;
  MetricCellBlock& operator=(const MetricCellBlock&) = delete;

  MetricCell At(size_t index) const { return first_.Next(index); }
  // Makes every cell zero. Only while no other thread uses the block.
  void Clear() const;
  size_t count() const { return count_; }

 private:
  size_t count_;
  ZeroedMemory memory_;
  MetricCell first_;
};

}  // namespace schedq
