// Which pods a plugin may have rejected: for each plugin a set of slots, in bits.
//
// Purpose: an event touches the pods that its plugins rejected and no others. A mark says that the
// plugin was a rejector of some pod in this slot; the slot's record says whether it still is.
// Threads: all operations from any thread, wait-free but for Ensure (lock-free).
// Invariants:
//  1. A pod is marked for each of its rejectors before it enters the pool.
//  2. Marks stay. Taking one away could take away the mark that another thread has just set again
//     for the pod's next stay in the pool, and an event in between would miss the pod. So a visit
//     costs a look at each slot that the plugin ever rejected a pod in, at most as many as there
//     were pods at one time.
// Memory: 8 bytes a slot: 64 slots share a block of one word for each plugin. Blocks are zero pages
// until they are touched.
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

  explicit RejectorIndex(uint32_t first_bits = 4) : blocks_(first_bits) {}

  // Makes the blocks of all slots below `limit` usable.
  void Ensure(uint32_t limit) { blocks_.ReserveThrough((limit - 1) / kSlotsPerBlock); }

  // Sequentially consistent: the mark, then the pod enters the pool; an event is logged, then the
  // marks are read (event_log.h).
  void Mark(PodId id, PluginSet plugins) {
    Block& block = blocks_[id / kSlotsPerBlock];
    const uint64_t bit = uint64_t{1} << (id % kSlotsPerBlock);
    plugins.ForEach([&](PluginId plugin) {
      // Mostly it is there already, and reading does not take the line from others.
      if ((block.slots[plugin].load() & bit) == 0) block.slots[plugin].fetch_or(bit);
    });
  }

  // Calls `visit(PodId)` for each slot below `limit` that is marked for any of `plugins`, in
  // ascending order.
  template <typename Visit>
  void ForEach(PluginSet plugins, uint32_t limit, Visit visit) const {
    for (uint32_t first = 0; first < limit; first += kSlotsPerBlock) {
      const Block& block = blocks_[first / kSlotsPerBlock];
      uint64_t slots = 0;
      plugins.ForEach([&](PluginId plugin) { slots |= block.slots[plugin].load(); });
      for (; slots != 0; slots &= slots - 1) {
        const PodId id = first + static_cast<PodId>(std::countr_zero(slots));
        if (id < limit) visit(id);
      }
    }
  }

 private:
  struct Block {
    // By plugin. Set by who moves a pod towards the pool; never cleared.
    Atom<uint64_t> slots[kPluginCountMax];
  };

  SegmentedArray<Block, Atom> blocks_;
};

}  // namespace schedq
