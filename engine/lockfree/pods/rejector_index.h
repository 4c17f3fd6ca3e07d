// Which pods a plugin may have rejected: for each plugin a set of slots, in bits.
//
// Purpose: an event touches the pods that its plugins rejected and no others. A mark says that the
// plugin was a rejector of some pod in this slot; the slot's record says whether it still is. 64
// slots share a block, and 64 blocks a summary of which of them have a mark at all, so that slots
// that a plugin never rejected a pod in are passed over by the thousand.
// Threads: all operations from any thread, wait-free but for Ensure (lock-free).
// Invariants:
//  1. A pod is marked for each of its rejectors before it enters the pool, and its block is in the
//     summary by then: who finds the mark already set may rely on it.
//  2. Marks stay. Taking one away could take away the mark that another thread has just set again
//     for the pod's next stay in the pool, and an event in between would miss the pod. So a visit
//     costs a look at each slot that the plugin ever rejected a pod in, at most as many as there
//     were pods at one time.
// Memory: 8 bytes a slot and an eighth of a byte for the summary: 64 slots, and 64 blocks, share
// one word for each plugin. Blocks are zero pages until they are touched.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "engine/base/segmented_array.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"

namespace schedq {

template <template <typename> class Atom>
class RejectorIndex {
 public:
  static constexpr uint32_t kSlotsPerBlock = 64;
  static constexpr uint32_t kBlocksPerSummary = 64;

  explicit RejectorIndex(uint32_t first_bits = 4) : blocks_(first_bits), summaries_(first_bits) {}

  // Makes the blocks of all slots below `limit` usable.
  void Ensure(uint32_t limit) {
    const uint32_t last = (limit - 1) / kSlotsPerBlock;
    summaries_.ReserveThrough(last / kBlocksPerSummary);
    blocks_.ReserveThrough(last);
  }

  // Sequentially consistent: the mark, then the pod enters the pool; an event is logged, then the
  // marks are read (event_log.h).
  void Mark(PodId id, PluginSet plugins) {
    const uint32_t number = id / kSlotsPerBlock;
    Words& block = blocks_[number];
    plugins.ForEach([&](PluginId plugin) {
      const uint64_t bit = BitOf(id % kSlotsPerBlock);
      // Mostly it is there already, and reading does not take the line from others.
      if ((block.of[plugin].load() & bit) != 0) return;
      // The summary first: another thread that finds the mark believes that both are there.
      Atom<uint64_t>& summary = summaries_[number / kBlocksPerSummary].of[plugin];
      const uint64_t block_bit = BitOf(number % kBlocksPerSummary);
      if ((summary.load() & block_bit) == 0) summary.fetch_or(block_bit);
      block.of[plugin].fetch_or(bit);
    });
  }

  // Calls `visit(PodId)` for each slot below `limit` that is marked for any of `plugins`, in
  // ascending order.
  template <typename Visit>
  void ForEach(PluginSet plugins, uint32_t limit, Visit visit) const {
    ForEachBlock(plugins, limit, [&](PodId first, uint64_t slots) {
      for (; slots != 0; slots &= slots - 1) {
        visit(first + static_cast<PodId>(std::countr_zero(slots)));
      }
    });
  }
  // The same, for a block at a time: `visit(first, slots)` with bit n for slot `first` + n.
  template <typename Visit>
  void ForEachBlock(PluginSet plugins, uint32_t limit, Visit visit) const {
    constexpr uint32_t kSlotsPerSummary = kSlotsPerBlock * kBlocksPerSummary;
    for (uint64_t first = 0; first < limit; first += kSlotsPerSummary) {
      const auto number = static_cast<uint32_t>(first / kSlotsPerBlock);
      uint64_t blocks = summaries_[number / kBlocksPerSummary].Union(plugins);
      for (; blocks != 0; blocks &= blocks - 1) {
        const uint32_t block = number + static_cast<uint32_t>(std::countr_zero(blocks));
        // A later slot's block may not be usable yet for who knows the limit alone.
        if (uint64_t{block} * kSlotsPerBlock >= limit) return;
        const PodId first_slot = block * kSlotsPerBlock;
        uint64_t slots = blocks_[block].Union(plugins);
        if (limit - first_slot < kSlotsPerBlock) slots &= BitOf(limit - first_slot) - 1;
        visit(first_slot, slots);
      }
    }
  }

 private:
  struct Words {
    // By plugin. Bits are set by who moves a pod towards the pool; never cleared.
    Atom<uint64_t> of[kPluginCountMax];

    uint64_t Union(PluginSet plugins) const {
      uint64_t bits = 0;
      plugins.ForEach([&](PluginId plugin) { bits |= of[plugin].load(); });
      return bits;
    }
  };

  static constexpr uint64_t BitOf(uint32_t number) { return uint64_t{1} << number; }

  SegmentedArray<Words, Atom> blocks_;     // A bit a slot.
  SegmentedArray<Words, Atom> summaries_;  // A bit a block.
};

}  // namespace schedq
