// The wheel of one thread: tickets by the tick at which the pump must visit their timers.
//
// Purpose: to link a ticket and to expire it takes constant time, in the order of ticks, over a
// horizon of days at a resolution of one tick. When not to use it: from several threads; TimerWheel
// is the concurrent class around it.
//
// How it works. Ticks come in blocks of 2^kBlockBits. *Near* has a bucket for each tick of the
// current block and of the next one; *far* has a bucket for each later block. A ticket of a far
// bucket moves to near once. The far bucket of the next block moves during the current one, in
// proportion to the ticks that pass: there is no tick at which a whole bucket cascades.
//
// Threads: one at a time.
// Invariants:
//  1. Near holds tickets of the current and the next block only. Far holds tickets of the later
//     blocks and, until the next block begins, of the next block.
//  2. A ticket's tick is after `now` and at most 2^kHorizonBits - 1 ticks ahead of it.
// Memory: 8 bytes a near bucket and 16 a far one, of which untouched pages cost nothing, and the
// pool's for the tickets.
// Source: G. Varghese and T. Lauck, Hashed and Hierarchical Timing Wheels, 1987.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "dispatcher/timer_wheel/occupancy_map.h"
#include "dispatcher/timer_wheel/ticket.h"
#include "dispatcher/timer_wheel/ticket_pool.h"
#include "engine/base/result.h"
#include "engine/base/segmented_array.h"

namespace schedq {

using Tick = uint64_t;
inline constexpr Tick kNeverTick = std::numeric_limits<Tick>::max();

// A delay of up to four seconds expires from its first bucket, and the horizon is three days.
struct WheelShape {
  static constexpr uint32_t kBlockBits = 12;
  static constexpr uint32_t kHorizonBits = 28;
  static constexpr uint32_t kFirstTimersBits = 10;  // The first allocation, in timers.
};

template <typename Shape>
class TickBuckets {
 public:
  static constexpr Tick kHorizonTicks = Tick{1} << Shape::kHorizonBits;

  explicit TickBuckets(TicketPool* pool)
      : pool_(*pool), near_(kNearBuckets), near_map_(kNearBuckets), far_map_(kFarBuckets) {
    far_.ReserveThrough(kFarBuckets - 1);
  }

  Tick now() const { return now_; }

  // The ticket's tick: the one nearest to now that its stamp stands for.
  Tick TickOf(Ticket ticket) const { return TimerWord::Expand(ticket.stamp(), now_); }

  void Link(Ticket ticket) {
    const Tick tick = TickOf(ticket);
    SCHEDQ_CHECK(tick > now_ && tick - now_ < kHorizonTicks, "the tick is within the horizon");
    if (BlockOf(tick) <= BlockOf(now_) + 1) {
      LinkNear(ticket);
      return;
    }
    const uint32_t bucket = FarOf(BlockOf(tick));
    pool_.PushBack(far_[bucket].tickets, ticket);
    far_[bucket].count += 1;
    far_map_.Insert(bucket);
  }

  // Advances to `target` and removes each ticket on the way, in the order of ticks, with now() at
  // the ticket's tick: announce(ticket) for a few, then visit(ticket) for these. `visit` may link
  // tickets for later ticks. Returns how many tickets it moved or removed.
  template <typename Announce, typename Visit>
  uint64_t AdvanceTo(Tick target, const Announce& announce, const Visit& visit) {
    touched_ = 0;
    // Each round ends a block that holds something, or skips to the next such block.
    while (now_ < target) {
      const Tick block_last = LastTickOf(BlockOf(now_));
      if (now_ == block_last) {
        MoveNear(FarCountOfNext());
        // Stops before the next block that holds something, whose far bucket then moves.
        now_ = std::min(target, std::max(now_ + 1, FirstTickOf(NextOccupiedBlock()) - 1));
        VisitNear(now_, announce, visit);
        continue;
      }
      const Tick limit = std::min(target, block_last);
      const Tick started = now_;
      for (std::optional<Tick> tick = NextNear(now_ + 1, limit); tick;
           tick = NextNear(now_ + 1, limit)) {
        now_ = *tick;
        VisitNear(now_, announce, visit);
      }
      now_ = limit;
      const uint64_t passed = limit - started;
      const uint64_t left = block_last - started;
      MoveNear((FarCountOfNext() * passed + left - 1) / left);
    }
    return touched_;
  }

  // Drops, of the next bucket that is not empty in a fixed round of all buckets, the tickets for
  // which keep(ticket) is false. Returns how many there were; 0 at the end of the round.
  template <typename Announce, typename Keep>
  uint64_t SweepNext(const Announce& announce, const Keep& keep) {
    if (sweep_at_ < kNearBuckets) {
      if (const std::optional<size_t> bucket = near_map_.FindFrom(sweep_at_)) {
        sweep_at_ = *bucket + 1;
        const uint64_t looked = pool_.Filter(near_[*bucket], announce, keep);
        if (near_[*bucket].is_empty()) near_map_.Erase(*bucket);
        return looked;
      }
      sweep_at_ = kNearBuckets;
    }
    const std::optional<size_t> bucket = far_map_.FindFrom(sweep_at_ - kNearBuckets);
    sweep_at_ = bucket ? kNearBuckets + *bucket + 1 : 0;
    return bucket ? SweepFar(*bucket, announce, keep) : 0;
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
  // While a far bucket moves near, the wheel should be advanced this often.
  static constexpr Tick kPaceTicks = std::max<Tick>(1, (Tick{1} << Shape::kBlockBits) / 64);

  struct FarBucket {
    TicketList tickets;
    uint64_t count;
  };

  static Tick BlockOf(Tick tick) { return tick >> Shape::kBlockBits; }
  static Tick FirstTickOf(Tick block) {
    return block == kNeverTick ? kNeverTick : block << Shape::kBlockBits;
  }
  static Tick LastTickOf(Tick block) { return FirstTickOf(block + 1) - 1; }
  static uint32_t NearOf(Tick tick) { return static_cast<uint32_t>(tick % kNearBuckets); }
  static uint32_t FarOf(Tick block) { return static_cast<uint32_t>(block % kFarBuckets); }

  uint64_t FarCountOfNext() const { return far_[FarOf(BlockOf(now_) + 1)].count; }

  void LinkNear(Ticket ticket) {
    const uint32_t bucket = NearOf(TickOf(ticket));
    pool_.PushBack(near_[bucket], ticket);
    near_map_.Insert(bucket);
  }

  // Moves up to `count` tickets of the next block to near.
  void MoveNear(uint64_t count) {
    if (count == 0) return;
    const uint32_t number = FarOf(BlockOf(now_) + 1);
    FarBucket& bucket = far_[number];
    touched_ += count;
    bucket.count -= count;
    for (; count > 0; --count) LinkNear(pool_.PopFront(bucket.tickets));
    if (bucket.count == 0) far_map_.Erase(number);
  }

  template <typename Announce, typename Visit>
  void VisitNear(Tick tick, const Announce& announce, const Visit& visit) {
    const uint32_t bucket = NearOf(tick);
    if (near_[bucket].is_empty()) return;
    near_map_.Erase(bucket);
    // What `visit` links has a later tick, and the bucket's next tick is two blocks away.
    pool_.Drain(near_[bucket], announce, [&](Ticket ticket) {
      ++touched_;
      visit(ticket);
    });
  }

  template <typename Announce, typename Keep>
  uint64_t SweepFar(size_t number, const Announce& announce, const Keep& keep) {
    FarBucket& bucket = far_[number];
    const uint64_t looked = pool_.Filter(bucket.tickets, announce, [&](Ticket ticket) {
      const bool stays = keep(ticket);
      if (!stays) --bucket.count;
      return stays;
    });
    if (bucket.count == 0) far_map_.Erase(number);
    return looked;
  }

  // The first tick of [from, limit] whose bucket is not empty. The range is shorter than near.
  std::optional<Tick> NextNear(Tick from, Tick limit) const {
    if (from > limit) return std::nullopt;
    std::optional<size_t> found = near_map_.FindFrom(NearOf(from));
    if (!found) found = near_map_.FindFrom(0);
    if (!found) return std::nullopt;
    const Tick tick = from + (*found - NearOf(from)) % kNearBuckets;
    if (tick > limit) return std::nullopt;
    return tick;
  }

  // The first later block with tickets in far; kNeverTick: none.
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

  TicketPool& pool_;
  Tick now_ = 0;
  uint64_t touched_ = 0;  // Tickets that the current call of AdvanceTo moved or removed.
  size_t sweep_at_ = 0;   // The next bucket of the round: near ones first.
  std::vector<TicketList> near_;
  // Of std::atomic also in models: one thread at a time uses the buckets.
  SegmentedArray<FarBucket> far_{Shape::kHorizonBits - Shape::kBlockBits};
  OccupancyMap near_map_;
  OccupancyMap far_map_;
};

}  // namespace schedq
