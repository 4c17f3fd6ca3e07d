// Timers that any thread sets and clears without waiting, millions at a time.
//
// Purpose: delays of API calls. A timer is a number that its user chooses (small and dense); it is
// armed for a tick and a lane, comes due at that tick, and then waits in its lane, first come first
// served, until somebody takes it. When not to use it: for actions of a Clock's own (clock.h), or
// for delays beyond three days.
//
// How it works. A timer's word says what its users want and where its node is. Who changes the wish
// leaves the node alone; if the wheel would look at the node too late, or in the wrong place, he
// puts it into an inbox, once. The *pump*, one thread at a time, empties the inbox, files nodes
// into plain buckets (tick_buckets.h), and moves what comes due into lanes. A timer that is
// cleared, or set to a later tick, stays where it is until the pump meets it there, and is then
// dropped or filed anew: overwriting and cancelling cost one exchange, and no timer has more than
// one node.
//
// Threads and progress:
//   Schedule, Cancel   any thread; lock-free: an exchange fails only because another's succeeded,
//                      or because the pump filed the node, once for each time it was put in.
//                      Linearization point: the exchange of the word. A thread that is frozen
//                      between its exchange and its push holds back this one timer.
//   Pump               any thread; never waits: while one thread pumps, others raise a counter and
//                      leave, and the pumping thread goes round again for them.
//   Take, LaneIsEmpty  inside Pump only. Take is lock-free; its linearization point is its
//                      exchange: a timer is either taken or cancelled, never both.
// Clocks: it knows ticks only; the caller converts the time of whatever clock he has.
//
// Invariants:
//  1. A node is in the inbox exactly while its word says queued.
//  2. An armed timer is in the inbox, or in the buckets for a tick not after the wanted one, or in
//     its lane and due.
//  3. Timers that come due in one advance enter their lane in the order of their ticks; those that
//     were due when they were set follow in the order in which they were first put in.
// Memory: 32 bytes a number up to the largest that was used (64 with a payload), and the buckets
// (0.6 MB of address space, of which untouched pages cost nothing). Nothing else is ever allocated.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "dispatcher/timer_wheel/linked_list.h"
#include "dispatcher/timer_wheel/tick_buckets.h"
#include "dispatcher/timer_wheel/timer_word.h"
#include "engine/base/atom.h"
#include "engine/base/result.h"
#include "engine/base/segmented_array.h"

namespace schedq {

struct NoPayload {};

// A timer carries a Payload of its user beside its own words, so that both come with one cache
// miss. The wheel never touches it.
template <template <typename> class Atom = std::atomic, typename Shape = WheelShape,
          typename Payload = NoPayload>
class TimerWheel {
 public:
  using Timer = uint32_t;

  static constexpr Tick kHorizonTicks = TickBuckets<Shape>::kHorizonTicks;
  static_assert(Shape::kHorizonBits < TimerWord::kTickBits, "ticks within the horizon compare");

  explicit TimerWheel(uint32_t lanes = 1) : lane_count_(lanes) {
    SCHEDQ_CHECK(lanes <= TimerWord::kLanesMax, "a wheel has at most four lanes");
  }

  // Makes timers 0 to `timer` usable, given that those of all smaller segments were. Lock-free.
  void Reserve(Timer timer) { nodes_.Reserve(timer + 1); }

  Payload& PayloadOf(Timer timer) { return nodes_[timer + 1].payload; }

  // Arms the timer or overwrites what it was armed for. A tick that has passed is due at once.
  // Returns by when the caller must see to it that somebody pumps; kNeverTick: somebody will
  // anyway.
  Tick Schedule(Timer timer, Tick tick, uint32_t lane = 0) {
    Node& node = nodes_[timer + 1];
    const Tick now = LoadNow();
    if (tick < now) tick = now;
    SCHEDQ_CHECK(tick - now < kHorizonTicks, "the delay is within the wheel's horizon");
    TimerWord before = LoadWord(node);
    TimerWord after;
    bool is_linked_in_time;
    do {
      after = before.Armed(tick, lane);
      is_linked_in_time = !before.is_queued() && before.place() == TimerPlace::kBuckets &&
                          !TimerWord::IsBefore(after.wanted(), before.visit());
      if (!is_linked_in_time) after = after.Queued(true);
    } while (!ExchangeWord(node, before, after));
    if (is_linked_in_time) return kNeverTick;
    if (!before.is_queued()) {
      PushInbox(timer + 1, node);
      // Another thread may have set an earlier tick before the node was in the inbox, and then
      // somebody has pumped in vain. Sequentially consistent, as are all four: that exchange, the
      // look at the plan after it, the pump's plan, and the push.
      const TimerWord current(node.word.load());
      if (current.is_armed()) tick = std::min(tick, TimerWord::Expand(current.wanted(), now));
    }
    return tick < LoadPlanned() ? tick : kNeverTick;
  }

  // The pump's instant; may be an earlier one.
  Tick now() const { return LoadNow(); }

  // False: it was not armed, or has been taken.
  bool Cancel(Timer timer) {
    Node& node = nodes_[timer + 1];
    TimerWord before = LoadWord(node);
    do {
      if (!before.is_armed()) return false;
    } while (!ExchangeWord(node, before, before.Disarmed()));
    return true;
  }

  // Advances to `tick` (it never goes back) and calls round(now), which may take what is due and
  // returns by when it wants the next round (kNeverTick: it does not care). Returns when somebody
  // must pump next; nothing when another thread is pumping, which then goes round again.
  template <typename Round>
  std::optional<Tick> Pump(Tick tick, const Round& round) {
    RaiseTarget(tick);
    if (requests_.fetch_add(1) != 0) return std::nullopt;
    uint32_t seen = 1;
    // Each further round answers a call to Pump or a push to the inbox that came meanwhile.
    for (;;) {
      FileInbox();
      Advance(target_.load());
      const Tick wanted = round(buckets_.now());
      const Tick next = std::min(wanted, buckets_.NextTick());
      planned_.store(next);
      if (inbox_.load() != kNoNode) continue;
      if (requests_.compare_exchange_strong(seen, 0)) return next;
    }
  }

  // Inside Pump: the timer that is first in the lane.
  std::optional<Timer> Take(uint32_t lane) {
    // Each round removes a node.
    while (!lanes_[lane].is_empty()) {
      const uint32_t number = lanes_[lane].first;
      Remove(lanes_[lane], number, Links());
      Node& node = nodes_[number];
      TimerWord before = LoadWord(node);
      bool is_taken;
      TimerWord after;
      do {
        // What is queued as well has a newer wish, which the inbox will bring.
        is_taken = before.is_armed() && !before.is_queued();
        after = before.Nowhere();
        if (is_taken) after = after.Disarmed();
      } while (!ExchangeWord(node, before, after));
      if (is_taken) return number - 1;
    }
    return std::nullopt;
  }

  // Inside Pump: false may be wrong when timers were cancelled in the lane.
  bool LaneIsEmpty(uint32_t lane) const { return lanes_[lane].is_empty(); }

  // Pumps, and gives every timer that is due to expire(timer). Returns what Pump does.
  template <typename Expire>
  std::optional<Tick> ExpireUntil(Tick tick, const Expire& expire) {
    return Pump(tick, [&](Tick) {
      for (uint32_t lane = 0; lane < lane_count_; ++lane) {
        while (const std::optional<Timer> timer = Take(lane)) expire(*timer);
      }
      return kNeverTick;
    });
  }

 private:
  struct alignas(std::is_empty_v<Payload> ? 32 : 64) Node {
    // Written by whoever schedules, cancels or pumps; stale readers fail their exchange.
    Atom<uint64_t> word;
    // The node below in the inbox. Written by who put the node in, before he publishes it; read by
    // the pump, which took the inbox.
    Atom<uint32_t> below;
    // The pump's.
    typename Seam<Atom>::template Plain<ListLink> link;
    // The user's.
    [[no_unique_address]] Payload payload;
  };
  static_assert(!std::is_same_v<Atom<uint64_t>, std::atomic<uint64_t>> || sizeof(Node) <= 64,
                "a timer and its payload share a cache line");

  static constexpr uint32_t kFirstLaneHome = TickBuckets<Shape>::kHomes + 1;

  auto Links() {
    return [this](uint32_t number) -> ListLink& { return nodes_[number].link.Mutable(); };
  }

  // Acquire pairs with the exchange: a timer's taker sees what the thread that armed it wrote
  // before.
  static TimerWord LoadWord(const Node& node) { return TimerWord(LoadAcquire(node.word)); }
  static bool ExchangeWord(Node& node, TimerWord& before, TimerWord after) {
    uint64_t bits = before.bits();
    if (node.word.compare_exchange_weak(bits, after.bits())) return true;
    before = TimerWord(bits);
    return false;
  }
  // Relaxed: an older instant makes a tick that has passed look like one that comes, which the pump
  // finds due all the same.
  Tick LoadNow() const { return LoadRelaxed(now_); }
  // Sequentially consistent, as is the push before it: see Pump, which stores its plan and then
  // looks into the inbox. Either it finds the node or this finds the plan.
  Tick LoadPlanned() const { return planned_.load(); }

  void PushInbox(uint32_t number, Node& node) {
    uint32_t top = LoadRelaxed(inbox_);
    do {
      // Relaxed: published by the exchange.
      StoreRelaxed(node.below, top);
    } while (!inbox_.compare_exchange_weak(top, number));
  }

  void RaiseTarget(Tick tick) {
    Tick target = target_.load();
    while (target < tick && !target_.compare_exchange_weak(target, tick)) {
    }
  }

  // Takes all that was put in, and files it in the order in which it came.
  void FileInbox() {
    if (inbox_.load() == kNoNode) return;
    uint32_t top = inbox_.exchange(kNoNode);
    uint32_t oldest = kNoNode;
    while (top != kNoNode) {
      const uint32_t below = LoadRelaxed(nodes_[top].below);
      StoreRelaxed(nodes_[top].below, oldest);
      oldest = std::exchange(top, below);
    }
    while (oldest != kNoNode) {
      const uint32_t number = oldest;
      // Before File, which lets others put the node in again.
      oldest = LoadRelaxed(nodes_[number].below);
      File(number);
    }
  }

  void File(uint32_t number) {
    Node& node = nodes_[number];
    TimerWord before = LoadWord(node);
    TimerWord after;
    do {
      after = before.Queued(false);
      if (!before.is_armed()) continue;
      const bool stays = before.place() == TimerPlace::kBuckets &&
                         !TimerWord::IsBefore(before.wanted(), before.visit());
      if (!stays) after = Placed(after);
    } while (!ExchangeWord(node, before, after));
    Move(number, before, after);
  }

  // Where an armed timer's node belongs.
  TimerWord Placed(TimerWord word) const {
    const Tick tick = TimerWord::Expand(word.wanted(), buckets_.now());
    return tick <= buckets_.now() ? word.InLane() : word.InBuckets(tick);
  }

  // The node's link follows its word. A node that was and is in a lane goes to the lane's end.
  void Move(uint32_t number, TimerWord before, TimerWord after) {
    const bool is_in_buckets = before.place() == TimerPlace::kBuckets;
    if (before.place() == after.place() && (!is_in_buckets || before.visit() == after.visit()) &&
        (is_in_buckets || !after.is_armed())) {
      return;
    }
    if (is_in_buckets) buckets_.Unlink(number, Links());
    if (before.place() == TimerPlace::kLane) {
      Remove(lanes_[nodes_[number].link.Read().home - kFirstLaneHome], number, Links());
    }
    Join(number, after);
  }

  void Join(uint32_t number, TimerWord word) {
    if (word.place() == TimerPlace::kBuckets) {
      buckets_.Link(number, TimerWord::Expand(word.visit(), buckets_.now()), Links());
    } else if (word.place() == TimerPlace::kLane) {
      PushBack(lanes_[word.lane()], number, kFirstLaneHome + word.lane(), Links());
    }
  }

  // The node's tick has come, and it is in no bucket any more.
  void Visit(uint32_t number) {
    Node& node = nodes_[number];
    TimerWord before = LoadWord(node);
    TimerWord after;
    do {
      // What is queued as well is filed when the inbox is.
      after = before.is_armed() && !before.is_queued() ? Placed(before) : before.Nowhere();
    } while (!ExchangeWord(node, before, after));
    Join(number, after);
  }

  void Advance(Tick target) {
    const auto tick_of = [this](uint32_t number, Tick now) {
      return TimerWord::Expand(LoadWord(nodes_[number]).visit(), now);
    };
    buckets_.AdvanceTo(target, Links(), tick_of, [this](uint32_t number) { Visit(number); });
    StoreRelaxed(now_, buckets_.now());
  }

  const uint32_t lane_count_;
  SegmentedArray<Node, Atom> nodes_{Shape::kFirstTimersBits};

  // The node that was put in last; written by whoever puts one in, emptied by the pump.
  alignas(kCacheLineBytes) Atom<uint32_t> inbox_{kNoNode};
  // When the pump means to look next; written by the pump at the end of a round.
  Atom<Tick> planned_{kNeverTick};
  // The pump's instant, for everybody; stale readers see an earlier one.
  Atom<Tick> now_{0};

  // Calls of Pump since it was last idle; not zero: somebody pumps.
  alignas(kCacheLineBytes) Atom<uint32_t> requests_{0};
  // The latest tick that anybody asked for.
  Atom<Tick> target_{0};

  // The pump's.
  TickBuckets<Shape> buckets_;
  std::array<LinkedList, TimerWord::kLanesMax> lanes_;
};

}  // namespace schedq
