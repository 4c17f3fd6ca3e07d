// Timers that any thread sets and clears without waiting, millions at a time.
//
// Purpose: delays of API calls. A timer is a number that its user chooses (small and dense); it is
// armed for a tick and a lane, comes due at that tick, and then waits in its lane, first come first
// served, until somebody takes it. When not to use it: for actions of a Clock's own (clock.h), or
// for delays beyond three days.
//
// How it works. A timer's word says what its users want and where its ticket is. Who changes the
// wish so that the wheel would look at the timer too late, or in the wrong place, makes a new
// ticket for it, names that in the word, and leaves it in an inbox; the old ticket goes stale. The
// *pump*, one thread at a time, empties the inbox, files tickets into plain buckets
// (tick_buckets.h) without a look at their timers, and moves what comes due into lanes. A timer
// that is cleared, or set to a later tick, keeps its ticket until the pump meets it, and is then
// dropped or filed anew: overwriting and cancelling mostly cost one exchange.
//
// Threads and progress:
//   Schedule, Cancel   any thread; lock-free: an exchange fails only because another's succeeded,
//                      or because the pump moved the ticket, once for each time it came due.
//                      Linearization point: the exchange of the word. A thread that is frozen
//                      between its exchange and its push holds back this one timer.
//   ScheduleAlone      likewise, for one thread a timer at a time; a store where it has no ticket.
//   Pump               any thread; never waits: while one thread pumps, others raise a counter and
//                      leave, and the pumping thread goes round again for them.
//   Take, LaneIsEmpty  inside Pump only. Take is lock-free; its linearization point is its
//                      exchange: a timer is either taken or cancelled, never both.
// Clocks: it knows ticks only; the caller converts the time of whatever clock he has.
//
// Invariants:
//  1. A timer has one live ticket where its word says waits or lane, else none; whoever named it
//     leaves it in the inbox.
//  2. An armed timer's live ticket waits for a tick not after the wanted one, or is in its lane.
//  3. Timers that come due in one advance enter their lane in the order of their ticks; those that
//     were due when they were set follow in the order in which they were first put in.
// Memory: 8 bytes a number up to the largest that was used (with a payload, whole cache lines), the
// buckets (1.2 MB of address space, of which untouched pages cost nothing) and the tickets. Stale
// ones are swept away when they are more than half, four for each that comes: so there are at most
// four times as many tickets as there were ever timers armed, and a few thousand.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "dispatcher/timer_wheel/tick_buckets.h"
#include "dispatcher/timer_wheel/ticket_inbox.h"
#include "dispatcher/timer_wheel/ticket_pool.h"
#include "dispatcher/timer_wheel/timer_word.h"
#include "engine/base/atom.h"
#include "engine/base/result.h"
#include "engine/base/segmented_array.h"

namespace schedq {

struct NoPayload {};

// A timer carries a Payload of its user beside its own word, so that both come with one cache miss.
// The wheel never touches it.
template <template <typename> class Atom = std::atomic, typename Shape = WheelShape,
          typename Payload = NoPayload>
class TimerWheel {
 public:
  using Timer = uint32_t;

  // A timer and what its user keeps beside it.
  struct alignas(std::is_empty_v<Payload> ? sizeof(uint64_t) : kCacheLineBytes) Entry {
    // The wheel's. Written by whoever schedules, cancels or pumps; stale readers fail their
    // exchange.
    Atom<uint64_t> word;
    // The user's.
    [[no_unique_address]] Payload payload;
  };

  static constexpr Tick kHorizonTicks = TickBuckets<Shape>::kHorizonTicks;
  static_assert(Shape::kHorizonBits < TimerWord::kTickBits, "ticks within the horizon compare");

  explicit TimerWheel(uint32_t lanes = 1) : lane_count_(lanes) {
    SCHEDQ_CHECK(lanes <= TimerWord::kLanesMax, "a wheel has at most four lanes");
  }

  // Makes timers 0 to `timer` usable. Lock-free.
  void ReserveThrough(Timer timer) { entries_.ReserveThrough(timer); }

  // For who uses a timer several times in a row.
  Entry& EntryOf(Timer timer) { return entries_[timer]; }

  // Asks memory for the timer's first and last lines, and waits for neither.
  void Fetch(Timer timer) const {
    const Entry* const entry = &entries_[timer];
    __builtin_prefetch(entry);
    __builtin_prefetch(reinterpret_cast<const char*>(entry + 1) - 1);
  }

  // Arms the timer or overwrites what it was armed for. A tick that has passed is due at once.
  // Returns by when the caller must see to it that somebody pumps; kNeverTick: somebody will
  // anyway.
  Tick Schedule(Timer timer, Tick tick, uint32_t lane = 0) {
    return ScheduleBy<&TimerWheel::ExchangeWord>(timer, EntryOf(timer), tick, lane);
  }
  // The same for who is the only one that arms and clears the timer now.
  Tick ScheduleAlone(Timer timer, Entry& entry, Tick tick, uint32_t lane) {
    return ScheduleBy<&TimerWheel::ExchangeWordAlone>(timer, entry, tick, lane);
  }

  // The pump's instant; may be an earlier one.
  Tick now() const { return LoadNow(); }

  // False: it was not armed, or has been taken.
  bool Cancel(Timer timer) { return Cancel(EntryOf(timer)); }
  bool Cancel(Entry& entry) {
    TimerWord before = LoadWord(entry);
    do {
      if (!before.is_armed()) return false;
    } while (!ExchangeWord(entry, before, before.Disarmed()));
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
      Tick next = std::min(wanted, buckets_.NextTick());
      // What is still to be written there may be due.
      if (inbox_.HasHoles()) next = std::min(next, buckets_.now() + 1);
      planned_.store(next);
      if (!inbox_.IsEmpty()) continue;
      if (requests_.compare_exchange_strong(seen, 0)) return next;
    }
  }

  // Inside Pump: the timer that is first in the lane.
  std::optional<Timer> Take(uint32_t lane) {
    // Each round removes a ticket.
    while (!lanes_[lane].is_empty()) {
      AnnounceFront(lanes_[lane]);
      const Ticket ticket = pool_.PopFront(lanes_[lane]);
      Entry& entry = entries_[ticket.timer()];
      TimerWord before = LoadWord(entry);
      bool is_live;
      do {
        is_live = before.Names(TimerPlace::kLane, ticket.stamp());
      } while (is_live && !ExchangeWord(entry, before, before.Nowhere().Disarmed()));
      if (!is_live) --stale_;
      if (is_live && before.is_armed()) return ticket.timer();
    }
    return std::nullopt;
  }

  // Inside Pump: false may be wrong when timers were cancelled or set anew in the lane.
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

  // Inside Pump: tickets that it holds, live and stale.
  uint64_t tickets() const { return pool_.size(); }

 private:
  // Fewer stale tickets than these are not worth a look.
  static constexpr int64_t kStaleMin = 1000;
  // Tickets that are looked at for each that makes another stale.
  static constexpr uint64_t kSweepShare = 4;
  // How far ahead in its lane Take fetches timers.
  static constexpr uint32_t kFetchDistance = 4;

  template <bool (*Exchange)(Entry&, TimerWord&, TimerWord)>
  Tick ScheduleBy(Timer timer, Entry& entry, Tick tick, uint32_t lane) {
    const Tick now = LoadNow();
    if (tick < now) tick = now;
    SCHEDQ_CHECK(tick - now < kHorizonTicks, "the delay is within the wheel's horizon");
    TimerWord before = LoadWord(entry);
    TimerWord after;
    bool is_looked_at_in_time;
    do {
      is_looked_at_in_time =
          before.place() == TimerPlace::kWaits && !TimerWord::IsBefore(tick, before.stamp());
      after =
          is_looked_at_in_time ? before.Armed(tick, lane) : TimerWord::WithNewTicket(tick, lane);
    } while (!Exchange(entry, before, after));
    if (is_looked_at_in_time) return kNeverTick;
    inbox_.Push(Ticket(timer, tick, before.place() != TimerPlace::kNowhere));
    return tick < LoadPlanned() ? tick : kNeverTick;
  }

  // Relaxed: who decides by a stale word alone (that a ticket is stale, that there is nothing to
  // cancel) has read one that was there when it was asked, or later. All else is decided by the
  // exchange.
  static TimerWord LoadWord(const Entry& entry) { return TimerWord(LoadRelaxed(entry.word)); }
  // Acquire and release, and more: a timer's taker sees what the thread that armed it wrote before.
  static bool ExchangeWord(Entry& entry, TimerWord& before, TimerWord after) {
    uint64_t bits = before.bits();
    if (entry.word.compare_exchange_weak(bits, after.bits())) return true;
    before = TimerWord(bits);
    return false;
  }
  // For who alone arms and clears the timer: where it has no live ticket, the pump does not write
  // its word either, so a store does it. Relaxed: the addition that puts the ticket into the inbox
  // publishes it.
  static bool ExchangeWordAlone(Entry& entry, TimerWord& before, TimerWord after) {
    if (before.place() != TimerPlace::kNowhere) return ExchangeWord(entry, before, after);
    StoreRelaxed(entry.word, after.bits());
    return true;
  }
  // Relaxed: an older instant makes a tick that has passed look like one that comes, which the pump
  // finds due all the same.
  Tick LoadNow() const { return LoadRelaxed(now_); }
  // Sequentially consistent, as is the push before it: see Pump, which stores its plan and then
  // looks into the inbox. Either it finds the ticket or this finds the plan.
  Tick LoadPlanned() const { return planned_.load(); }

  void RaiseTarget(Tick tick) {
    Tick target = target_.load();
    while (target < tick && !target_.compare_exchange_weak(target, tick)) {
    }
  }

  // The pump will look at the ticket's timer soon.
  auto Announce() const {
    return [this](Ticket ticket) { Fetch(ticket.timer()); };
  }
  void AnnounceFront(const TicketList& lane) const {
    if (const auto ticket = pool_.PeekFront(lane, kFetchDistance)) Fetch(ticket->timer());
  }

  // Files all that was put in, in the order in which it came. What is due is looked at at once.
  void FileInbox() {
    uint64_t superseding = 0;
    TicketList due;
    inbox_.TakeAll([&](Ticket ticket) {
      if (ticket.supersedes()) ++superseding;
      if (buckets_.TickOf(ticket) <= buckets_.now()) {
        pool_.PushBack(due, ticket);
      } else {
        buckets_.Link(ticket);
      }
    });
    pool_.Drain(due, Announce(), [this](Ticket ticket) { Visit(ticket); });
    stale_ += static_cast<int64_t>(superseding);
    if (superseding != 0) Sweep(superseding * kSweepShare);
  }

  // Drops stale tickets among the next `looks`, should they have become more than half of all.
  void Sweep(uint64_t looks) {
    if (stale_ < kStaleMin || static_cast<uint64_t>(stale_) * 2 < pool_.size()) return;
    const auto keep_in = [this](TimerPlace place) {
      return [this, place](Ticket ticket) {
        const bool is_live = LoadWord(entries_[ticket.timer()]).Names(place, ticket.stamp());
        if (!is_live) --stale_;
        return is_live;
      };
    };
    // Each round looks at a ticket at least, or ends.
    for (uint64_t looked = 0; looked < looks;) {
      const uint64_t in_bucket = buckets_.SweepNext(Announce(), keep_in(TimerPlace::kWaits));
      looked += in_bucket;
      if (in_bucket != 0) continue;
      for (TicketList& lane : lanes_) pool_.Filter(lane, Announce(), keep_in(TimerPlace::kLane));
      return;
    }
  }

  // The ticket's tick has come, and it is in no bucket any more.
  void Visit(Ticket ticket) {
    Entry& entry = entries_[ticket.timer()];
    const Tick now = buckets_.now();
    TimerWord before = LoadWord(entry);
    TimerWord after;
    do {
      if (!before.Names(TimerPlace::kWaits, ticket.stamp())) {
        --stale_;
        return;
      }
      after = before.Nowhere();
      if (!before.is_armed()) continue;
      const Tick wanted = TimerWord::Expand(before.wanted(), now);
      after = wanted <= now ? before.InLane(lane_number_) : before.WaitsFor(wanted);
    } while (!ExchangeWord(entry, before, after));
    if (after.place() == TimerPlace::kWaits) {
      buckets_.Link(Ticket(ticket.timer(), after.stamp()));
    } else if (after.place() == TimerPlace::kLane) {
      pool_.PushBack(lanes_[after.lane()], Ticket(ticket.timer(), lane_number_++));
    }
  }

  void Advance(Tick target) {
    buckets_.AdvanceTo(target, Announce(), [this](Ticket ticket) { Visit(ticket); });
    StoreRelaxed(now_, buckets_.now());
  }

  const uint32_t lane_count_;
  SegmentedArray<Entry, Atom> entries_{Shape::kFirstTimersBits};

  TicketInbox<Atom> inbox_{Shape::kFirstTimersBits};
  // When the pump means to look next; written by the pump at the end of a round.
  alignas(kCacheLineBytes) Atom<Tick> planned_{kNeverTick};
  // The pump's instant, for everybody; stale readers see an earlier one.
  Atom<Tick> now_{0};

  // Calls of Pump since it was last idle; not zero: somebody pumps.
  alignas(kCacheLineBytes) Atom<uint32_t> requests_{0};
  // The latest tick that anybody asked for.
  Atom<Tick> target_{0};

  // The pump's.
  TicketPool pool_;
  TickBuckets<Shape> buckets_{&pool_};
  std::array<TicketList, TimerWord::kLanesMax> lanes_;
  // Numbers tickets in lanes. It comes round after half a billion, and should a stale one have lain
  // in its lane for that long, its timer may have its turn.
  uint64_t lane_number_ = 0;
  int64_t stale_ = 0;  // Tickets that were superseded and not met since.
};

}  // namespace schedq
