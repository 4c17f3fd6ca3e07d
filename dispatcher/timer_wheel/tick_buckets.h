// The wheel itself: nodes by the tick at which somebody must look at them.
//
// Purpose: link, unlink and expire in constant time each, in the order of ticks, over a horizon of
// days at a resolution of one tick. When not to use it: from several threads; TimerWheel is the
// concurrent front of it.
//
// How it works. Ticks come in blocks of 2^kBlockBits. *Near* has a bucket for each tick of the
// current block and of the next one; *far* has a bucket for each later block. A node of a far
// bucket moves to near once. The far bucket of the next block moves during the current one, in
// proportion to the ticks that pass: there is no tick at which a whole bucket cascades.
//
// Threads: one at a time.
// Invariants:
//  1. Near holds nodes of the current and the next block only, far of the later ones and, until the
//     next block begins, of the next.
//  2. A node's tick is after `now` and at most 2^kHorizonBits - 1 ticks ahead of it.
// Memory: 8 bytes a bucket; untouched pages cost nothing.
// Source: G. Varghese and T. Lauck, Hashed and Hierarchical Timing Wheels, 1987.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "dispatcher/timer_wheel/linked_list.h"
#include "dispatcher/timer_wheel/occupancy_map.h"
#include "engine/base/result.h"

namespace schedq {

using Tick = uint64_t;
inline constexpr Tick kNeverTick = std::numeric_limits<Tick>::max();

// Delays up to four seconds expire from where they are first put, and the horizon is three days.
struct WheelShape {
  static constexpr uint32_t kBlockBits = 12;
  static constexpr uint32_t kHorizonBits = 28;
  static constexpr uint32_t kFirstTimersBits = 10;  // The first allocation, in timers.
};

template <typename Shape>
class TickBuckets {
 public:
  static constexpr Tick kHorizonTicks = Tick{1} << Shape::kHorizonBits;

  TickBuckets()
      : near_(kNearBuckets), far_(kFarBuckets), near_map_(kNearBuckets), far_map_(kFarBuckets) {}

  Tick now() const { return now_; }

  // `home` of a linked node is 1 to kHomes.
  static constexpr uint32_t kHomes =
      2 * (1u << Shape::kBlockBits) + (1u << (Shape::kHorizonBits - Shape::kBlockBits));

  template <typename Links>
  void Link(uint32_t node, Tick tick, const Links& links) {
    SCHEDQ_CHECK(tick > now_ && tick - now_ < kHorizonTicks, "the tick is within the horizon");
    if (BlockOf(tick) <= BlockOf(now_) + 1) {
      LinkNear(node, tick, links);
      return;
    }
    const uint32_t bucket = FarOf(BlockOf(tick));
    PushBack(far_[bucket].nodes, node, kFirstFarHome + bucket, links);
    far_[bucket].count += 1;
    far_map_.Insert(bucket);
  }

  template <typename Links>
  void Unlink(uint32_t node, const Links& links) {
    const uint32_t home = links(node).home;
    if (home >= kFirstFarHome) {
      RemoveFar(home - kFirstFarHome, node, links);
    } else {
      RemoveNear(home - kFirstNearHome, node, links);
    }
  }

  // Goes to `target` and calls visit(node) for each node on the way, unlinked, in the order of
  // ticks, with now() at its tick. `visit` may link the node for a later tick. `tick_of(node)` is
  // the tick that a node of a far bucket was linked for.
  template <typename Links, typename TickOf, typename Visit>
  void AdvanceTo(Tick target, const Links& links, const TickOf& tick_of, const Visit& visit) {
    // Each round ends a block that holds something, or skips to the next such block.
    while (now_ < target) {
      const Tick block_last = LastTickOf(BlockOf(now_));
      if (now_ == block_last) {
        MoveNear(FarCountOfNext(), links, tick_of);
        // Stops before the next block that holds something, whose far bucket then moves.
        now_ = std::min(target, std::max(now_ + 1, FirstTickOf(NextOccupiedBlock()) - 1));
        VisitNear(now_, links, visit);
        continue;
      }
      const Tick limit = std::min(target, block_last);
      const Tick started = now_;
      for (std::optional<Tick> tick = NextNear(now_ + 1, limit); tick;
           tick = NextNear(now_ + 1, limit)) {
        now_ = *tick;
        VisitNear(now_, links, visit);
      }
      now_ = limit;
      const uint64_t passed = limit - started;
      const uint64_t left = block_last - started;
      MoveNear((FarCountOfNext() * passed + left - 1) / left, links, tick_of);
    }
  }

  // When to advance next, at the latest; kNeverTick when nothing is linked.
  Tick NextTick() const {
    Tick next = kNeverTick;
    if (const auto near = NextNear(now_ + 1, LastTickOf(BlockOf(now_) + 1))) next = *near;
    if (FarCountOfNext() != 0) return std::min(next, now_ + kPaceTicks);
    // A far bucket begins to move when the block before its own begins.
    const Tick block = NextFarBlock();
    return block == kNeverTick ? next : std::min(next, FirstTickOf(block - 1));
  }

 private:
  static constexpr uint32_t kNearBuckets = 2u << Shape::kBlockBits;
  static constexpr uint32_t kFarBuckets = 1u << (Shape::kHorizonBits - Shape::kBlockBits);
  static constexpr uint32_t kFirstNearHome = 1;
  static constexpr uint32_t kFirstFarHome = 1 + kNearBuckets;
  // While a far bucket moves near, somebody should look this often.
  static constexpr Tick kPaceTicks = std::max<Tick>(1, (Tick{1} << Shape::kBlockBits) / 64);

  struct FarBucket {
    LinkedList nodes;
    uint64_t count = 0;
  };

  static Tick BlockOf(Tick tick) { return tick >> Shape::kBlockBits; }
  static Tick FirstTickOf(Tick block) {
    return block == kNeverTick ? kNeverTick : block << Shape::kBlockBits;
  }
  static Tick LastTickOf(Tick block) { return FirstTickOf(block + 1) - 1; }
  static uint32_t NearOf(Tick tick) { return static_cast<uint32_t>(tick % kNearBuckets); }
  static uint32_t FarOf(Tick block) { return static_cast<uint32_t>(block % kFarBuckets); }

  uint64_t FarCountOfNext() const { return far_[FarOf(BlockOf(now_) + 1)].count; }

  template <typename Links>
  void LinkNear(uint32_t node, Tick tick, const Links& links) {
    PushBack(near_[NearOf(tick)], node, kFirstNearHome + NearOf(tick), links);
    near_map_.Insert(NearOf(tick));
  }
  template <typename Links>
  void RemoveNear(uint32_t bucket, uint32_t node, const Links& links) {
    Remove(near_[bucket], node, links);
    if (near_[bucket].is_empty()) near_map_.Erase(bucket);
  }
  template <typename Links>
  void RemoveFar(uint32_t bucket, uint32_t node, const Links& links) {
    Remove(far_[bucket].nodes, node, links);
    if (--far_[bucket].count == 0) far_map_.Erase(bucket);
  }

  // Moves up to `count` nodes of the next block to near.
  template <typename Links, typename TickOf>
  void MoveNear(uint64_t count, const Links& links, const TickOf& tick_of) {
    const uint32_t bucket = FarOf(BlockOf(now_) + 1);
    for (; count > 0; --count) {
      const uint32_t node = far_[bucket].nodes.first;
      RemoveFar(bucket, node, links);
      LinkNear(node, tick_of(node, now_), links);
    }
  }

  template <typename Links, typename Visit>
  void VisitNear(Tick tick, const Links& links, const Visit& visit) {
    const uint32_t bucket = NearOf(tick);
    // What `visit` links has a later tick, and the bucket's next tick is two blocks away.
    while (!near_[bucket].is_empty()) {
      const uint32_t node = near_[bucket].first;
      RemoveNear(bucket, node, links);
      visit(node);
    }
  }

  // The first tick of [from, limit] whose bucket holds something. The range is shorter than near.
  std::optional<Tick> NextNear(Tick from, Tick limit) const {
    if (from > limit) return std::nullopt;
    std::optional<size_t> found = near_map_.FindFrom(NearOf(from));
    if (!found) found = near_map_.FindFrom(0);
    if (!found) return std::nullopt;
    const Tick tick = from + (*found - NearOf(from)) % kNearBuckets;
    if (tick > limit) return std::nullopt;
    return tick;
  }

  // The first later block that far holds something of; kNeverTick: none.
  Tick NextFarBlock() const {
    const Tick next = BlockOf(now_) + 1;
    std::optional<size_t> found = far_map_.FindFrom(FarOf(next));
    if (!found) found = far_map_.FindFrom(0);
    return found ? next + (*found - FarOf(next)) % kFarBuckets : kNeverTick;
  }
  Tick NextOccupiedBlock() const {
    const Tick next = BlockOf(now_) + 1;
    return NextNear(FirstTickOf(next), LastTickOf(next)) ? next : NextFarBlock();
  }

  Tick now_ = 0;
  std::vector<LinkedList> near_;
  std::vector<FarBucket> far_;
  OccupancyMap near_map_;
  OccupancyMap far_map_;
};

}  // namespace schedq
