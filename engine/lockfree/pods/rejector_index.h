// Which pods a plugin may have rejected: for each plugin a set of slots, in bits.
//
// Purpose: an event touches the pods that its plugins rejected and no others. A mark says that the
// plugin was a rejector of some pod in this slot; the slot's record says whether it still is. 64
// slots share a block, and 64 blocks a summary of which of them have a mark at all, so that slots
// that no plugin rejected a pod in are passed over by the thousand.
// Threads: all operations from any thread, wait-free but for Ensure (lock-free).
// Invariants:
//  1. A pod is marked for each of its rejectors before it enters the pool, and again once it has
//     entered it. From then on, while it stays, its mark is there, but for a block or a summary
//     that is being cleared, and that is taken for full.
//  2. The second mark comes before the pod looks for what happened meanwhile (the log, or how many
//     events began), and an event is told there before it reads the marks. All of it is seq_cst,
//     so either the event finds the mark or the pod finds the event.
//  3. A clearer makes the block's count of clears odd, looks which slots are in use, drops the
//     marks of the others, looks at these again, sets the marks of those that came into use, and
//     makes the count even. A pod that entered before its mark was dropped is seen by the second
//     look; one that entered later finds its mark missing. A reader that sees the same even count
//     before and after it read the marks has seen none that was dropped for a moment.
//  4. Summaries are cleared in the same way. A block whose own clear is under way is in use.
//  5. The block's mark comes before the summary's: the clearer of a summary looks at the block
//     after it dropped the bit.
//  6. One clearer at a time: others go on without. One that stalls leaves its block, or its
//     summary, to be taken for full, which costs a visit a look.
//  A visit that finds fewer than half of the marked slots in use clears the others, if it may: one
//  in a few, so that pods that come and go all the time are not marked anew each time. So visits
//  cost at most two looks for each pod there is, once such a one has passed.
// Memory: 8 bytes a slot and an eighth of a byte for the summary: 64 slots, and 64 blocks, share
// one word for each plugin, and one for the count. Blocks are zero pages until they are touched.
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

  // Before and after the pod enters the pool.
  void Mark(PodId id, PluginSet plugins) {
    const uint32_t number = id / kSlotsPerBlock;
    plugins.ForEach([&](PluginId plugin) { Set(number, BitOf(id % kSlotsPerBlock), plugin); });
  }

  // Calls `visit(PodId)` for each slot below `limit` that is marked for any of `plugins`, in
  // ascending order.
  template <typename Visit>
  void ForEach(PluginSet plugins, uint32_t limit, Visit visit) const {
    Walk(plugins, limit, [&](PodId first, uint64_t slots) {
      for (; slots != 0; slots &= slots - 1) {
        visit(first + static_cast<PodId>(std::countr_zero(slots)));
      }
    });
  }
  // The same, for a block at a time: `visit(first, slots)` with bit n for slot `first` + n returns
  // how many of them are in use, which is `is_in_use(PodId)`. If the visit `may_clear`, marks of
  // others are cleared.
  template <typename Visit, typename IsInUse>
  void ForEachBlock(PluginSet plugins, uint32_t limit, bool may_clear, Visit visit,
                    IsInUse is_in_use) {
    Walk(plugins, limit, [&](PodId first, uint64_t slots) {
      const uint64_t used = visit(first, slots);
      if (!may_clear) return;
      if (slots == 0 || static_cast<uint64_t>(std::popcount(slots)) > 2 * used) [[unlikely]]
        Clear(first / kSlotsPerBlock, limit, plugins, is_in_use);
    });
  }

 private:
  struct Words {
    // By plugin. Bits are set by threads that move a pod into the pool, and dropped by clearers.
    Atom<uint64_t> of[kPluginCountMax];
    // Odd while a thread clears. Written by the clearer.
    Atom<uint64_t> clears;

    // The marks of any of `plugins`; all while a thread clears.
    uint64_t Union(PluginSet plugins) const {
      const uint64_t count = clears.load();
      uint64_t bits = 0;
      plugins.ForEach([&](PluginId plugin) { bits |= of[plugin].load(); });
      return count % 2 == 0 && clears.load() == count ? bits : ~uint64_t{0};
    }

    // Whether the caller is the clearer now.
    bool TryBeginClear() {
      uint64_t count = clears.load();
      return count % 2 == 0 && clears.compare_exchange_strong(count, count + 1);
    }
    void EndClear() { clears.fetch_add(1); }
  };

  static constexpr uint64_t BitOf(uint32_t number) { return uint64_t{1} << number; }

  // Mostly the bit is there already, and reading does not take the line from others.
  static void SetIn(Atom<uint64_t>& word, uint64_t bits) {
    if ((word.load() & bits) != bits) word.fetch_or(bits);
  }

  void Set(uint32_t number, uint64_t slots, PluginId plugin) {
    SetIn(blocks_[number].of[plugin], slots);
    SetIn(summaries_[number / kBlocksPerSummary].of[plugin], BitOf(number % kBlocksPerSummary));
  }

  // Calls `visit(first, slots)` for each block that the summaries tell of.
  template <typename Visit>
  void Walk(PluginSet plugins, uint32_t limit, Visit visit) const {
    constexpr uint32_t kSlotsPerSummary = kSlotsPerBlock * kBlocksPerSummary;
    for (uint64_t first = 0; first < limit; first += kSlotsPerSummary) {
      const auto number = static_cast<uint32_t>(first / kSlotsPerBlock);
      uint64_t blocks = summaries_[number / kBlocksPerSummary].Union(plugins);
      for (; blocks != 0; blocks &= blocks - 1) {
        const uint32_t block = number + static_cast<uint32_t>(std::countr_zero(blocks));
        // A later slot's block may not be usable yet for a thread that knows the limit alone.
        if (uint64_t{block} * kSlotsPerBlock >= limit) return;
        visit(block * kSlotsPerBlock, blocks_[block].Union(plugins) & SlotsBelow(limit, block));
      }
    }
  }
  static uint64_t SlotsBelow(uint32_t limit, uint32_t block) {
    const uint32_t slots = limit - block * kSlotsPerBlock;
    return slots < kSlotsPerBlock ? BitOf(slots) - 1 : ~uint64_t{0};
  }

  template <typename IsInUse>
  static uint64_t NotInUse(uint32_t number, uint64_t slots, IsInUse is_in_use) {
    uint64_t unused = 0;
    for (; slots != 0; slots &= slots - 1) {
      const auto slot = static_cast<uint32_t>(std::countr_zero(slots));
      if (!is_in_use(number * kSlotsPerBlock + slot)) unused |= BitOf(slot);
    }
    return unused;
  }

  template <typename IsInUse>
  [[gnu::noinline]] void Clear(uint32_t number, uint32_t limit, PluginSet plugins,
                               IsInUse is_in_use) {
    Words& block = blocks_[number];
    if (!block.TryBeginClear()) return;
    uint64_t marked = 0;
    plugins.ForEach([&](PluginId plugin) { marked |= block.of[plugin].load(); });
    const uint64_t unused = NotInUse(number, marked & SlotsBelow(limit, number), is_in_use);
    if (unused != 0) {
      plugins.ForEach([&](PluginId plugin) {
        if ((block.of[plugin].load() & unused) != 0) block.of[plugin].fetch_and(~unused);
      });
      // Which of the plugins rejected a pod that came meanwhile, its own second mark tells.
      const uint64_t back = unused & ~NotInUse(number, unused, is_in_use);
      if (back != 0) plugins.ForEach([&](PluginId plugin) { Set(number, back, plugin); });
    }
    block.EndClear();
    ClearSummary(number, plugins);
  }

  void ClearSummary(uint32_t number, PluginSet plugins) {
    PluginSet empty;
    plugins.ForEach([&](PluginId plugin) {
      if (blocks_[number].Union(PluginSet::Of(plugin)) == 0) empty.Insert(plugin);
    });
    Words& summary = summaries_[number / kBlocksPerSummary];
    if (empty.empty() || !summary.TryBeginClear()) return;
    const uint64_t bit = BitOf(number % kBlocksPerSummary);
    empty.ForEach([&](PluginId plugin) {
      summary.of[plugin].fetch_and(~bit);
      if (blocks_[number].Union(PluginSet::Of(plugin)) != 0) SetIn(summary.of[plugin], bit);
    });
    summary.EndClear();
  }

  SegmentedArray<Words, Atom> blocks_;     // A bit a slot.
  SegmentedArray<Words, Atom> summaries_;  // A bit a block.
};

}  // namespace schedq
