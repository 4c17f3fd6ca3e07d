// Timers that any thread sets and clears without waiting, millions at a time.
//
// Purpose: delays of API calls. A timer is a number that its user chooses (small and dense). It is
// armed for a tick and a lane, and comes due at that tick. It then waits in its lane, first come
// first served, until it is popped.
// When not to use it: for actions of a Clock's own (clock.h).
//
// How it works. A timer's word says what its users want and which ticket is live. A thread may
// change what is wanted so that the old ticket would make the wheel look at the timer too late, or
// in the wrong lane. The thread then makes a new ticket, names it in the word, and pushes it to an
// inbox; the old ticket becomes stale. The *pump*, one thread at a time, empties the inbox, links
// tickets into plain buckets (tick_buckets.h) without a look at their timers, and moves due ones
// into lanes. A timer that is cleared, or set to a later tick, keeps its ticket until the pump
// visits it; the pump then drops the ticket or links it anew. So to overwrite or to cancel mostly
// costs one exchange, and so does it to come due.
//
// Threads and progress:
//   Schedule, Cancel   any thread; lock-free: an exchange fails only because another thread's
//                      succeeded, or because the pump dropped the ticket, once for each time it
//                      came due. Linearization point: the exchange of the word. A thread that is
//                      frozen between its exchange and its push delays this one timer.
//   ArmBy              any thread; lock-free. Linearization point: the exchange of the word, or the
//                      look at a word that has it due in time. A thread that is frozen here delays
//                      nothing: others that want the timer push its ticket a second time.
//   Pump               any thread; never waits: while one thread pumps, the others raise a counter
//                      and return, and the pumping thread runs another round for them.
//   PopDue, LaneIsEmpty  inside Pump only. PopDue is lock-free. Its linearization point is its
//                      exchange: a timer is either popped or cancelled, never both.
// Clocks: the wheel knows ticks only; the caller converts the time of its clock.
// Delays: any. A tick that is kHorizonTicks or more (three days) after the pump's instant cannot be
// told from others: the timer comes due at the last tick of the horizon, and its user, to whom
// the tick is known, arms it anew. So does one that is armed after three days without a pump.
//
// Invariants:
//  1. A timer has one live ticket where its word says waits, else none. Where the word says named,
//     the thread that named the ticket may not have pushed it yet. Then each thread that relies on
//     the ticket pushes it too, and any other ticket of the timer counts as live. A ticket that was
//     pushed twice, or that another one stood for, is stale when it comes.
//  2. A thread may push the first ticket of a timer that has none before it names the ticket. The
//     pump, where it drops a ticket of such a timer, changes the word, so that the thread learns of
//     it.
//  3. An armed timer's live ticket waits for a tick not after the wanted one, or is in a lane since
//     that tick.
//  4. Timers that come due in one advance enter their lane in the order of their ticks. Timers that
//     were due when they were set follow, in the order in which their tickets were pushed. A timer
//     that is set anew while it is in its lane keeps its place, unless it is set to a later tick.
// Memory: 8 bytes a number up to the largest that was used (with a payload, whole cache lines), the
// buckets (1.2 MB of address space, of which untouched pages cost nothing) and the tickets. Once
// stale tickets are more than half, each new ticket sweeps four: so there are at most four times as
// many tickets as there were ever timers armed, and a few thousand.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "dispatcher/timer_wheel/tick_buckets.h"
#include "dispatcher/timer_wheel/ticket.h"
#include "dispatcher/timer_wheel/ticket_inbox.h"
#include "dispatcher/timer_wheel/ticket_pool.h"
#include "dispatcher/timer_wheel/timer_word.h"
#include "engine/base/atom.h"
#include "engine/base/result.h"
#include "engine/base/segmented_array.h"
#include "engine/base/zeroed_memory.h"

namespace schedq {

struct NoPayload {};

// A timer has a Payload of its user beside its word, so that one cache miss fetches both. The wheel
// never touches the payload.
template <template <typename> class Atom = std::atomic, typename Shape = WheelShape,
          typename Payload = NoPayload>
class TimerWheel {
 public:
  using Timer = uint32_t;

 private:
  // Entries of a few words do not cross cache lines.
  static constexpr size_t kEntryBytes =
      std::is_empty_v<Payload>
          ? sizeof(uint64_t)
          : std::min(std::bit_ceil(sizeof(uint64_t) + sizeof(Payload)), size_t{kCacheLineBytes});

 public:
  // A timer and what its user keeps beside it.
  struct alignas(kEntryBytes) Entry {
    // The wheel's. Written by each thread that schedules, cancels or pumps. A thread that read a
    // stale value fails its exchange.
    Atom<uint64_t> word;
    // The user's.
    [[no_unique_address]] Payload payload;
  };

  static constexpr Tick kHorizonTicks = TickBuckets<Shape>::kHorizonTicks;
  static_assert(Shape::kHorizonBits < TimerWord::kTickBits, "ticks within the horizon compare");
  static_assert(kThreadsMax <= TimerWord::kTickMask, "a thread's number fits in place of a tick");

  explicit TimerWheel(uint32_t lanes = 1) : lane_count_(lanes) {
    SCHEDQ_CHECK(lanes <= TimerWord::kLanesMax, "a wheel has at most four lanes");
  }

  // Makes timers 0 to `timer` usable. Lock-free.
  void ReserveThrough(Timer timer) { entries_.ReserveThrough(timer); }

  // For a caller that uses a timer several times in a row.
  Entry& EntryOf(Timer timer) { return entries_[timer]; }
  const Entry& EntryOf(Timer timer) const { return entries_[timer]; }

  // Prefetches the timer's first and last cache lines.
  void Prefetch(Timer timer) const {
    const Entry* const entry = &entries_[timer];
    __builtin_prefetch(entry);
    __builtin_prefetch(reinterpret_cast<const char*>(entry + 1) - 1);
  }

  // Arms the timer or overwrites what it was armed for. A tick that has passed is due at once; one
  // beyond the horizon is due too early (see Delays above).
  // Returns the tick by which the caller must ensure a call of Pump; kNeverTick: one will come
  // anyway.
  Tick Schedule(Timer timer, Tick tick, uint32_t lane = 0) {
    Entry& entry = EntryOf(timer);
    const Tick now = LoadNow();
    tick = std::clamp(tick, now, now + (kHorizonTicks - 1));
    TimerWord before = LoadWord(entry);
    TimerWord after;
    bool keeps_its_ticket;
    do {
      keeps_its_ticket = before.HasTicketFor(tick, lane);
      after = keeps_its_ticket ? before.Armed(tick) : TimerWord::Waiting(tick, lane);
    } while (!ExchangeWord(entry, before, after));
    if (keeps_its_ticket) return kNeverTick;
    inbox_.Push(Ticket(timer, tick, before.place() != TimerPlace::kNowhere));
    return tick < LoadPlanned() ? tick : kNeverTick;
  }

  // Ensures that the timer comes due at `tick` or before, and in `lane` or one of a smaller number:
  // it never makes a timer come due later. So the timer's user must know what is due when, and arm
  // it anew if it came due too early. Calls wake(at), which must not arm this timer, if the caller
  // must ensure a call of Pump by the tick `at`.
  template <typename Wake>
  [[gnu::always_inline]] inline void ArmBy(Timer timer, Entry& entry, Tick tick, uint32_t lane,
                                           const Wake& wake) {
    const Tick now = LoadNow();
    tick = std::clamp(tick, now, now + (kHorizonTicks - 1));
    // Sequentially consistent: PopDue disarms the timer, and then its user looks at what is due.
    // Either that look sees what this caller wants, or this one sees that the timer is disarmed.
    TimerWord before(entry.word.load());
    if (before.ComesBy(tick, lane)) return;
    if (before.place() == TimerPlace::kNowhere) {
      PushAndWake(Ticket(timer, tick), tick, wake);
      if (ExchangeStrong(entry, before, TimerWord::Waiting(tick, lane))) return;
      // Another ticket is in its place, or the pump was faster and has dropped it.
      strays_.fetch_add(1, std::memory_order_relaxed);
    }
    ArmSlowly(timer, entry, tick, lane, wake);
  }

  // The pump's instant; may be an earlier one.
  Tick now() const { return LoadNow(); }

  // False: it was not armed, or was popped.
  bool Cancel(Timer timer) { return Cancel(EntryOf(timer)); }
  bool Cancel(Entry& entry) {
    TimerWord before = LoadWord(entry);
    do {
      if (!before.is_armed()) return false;
    } while (!ExchangeWord(entry, before, before.Disarmed()));
    return true;
  }

  // Advances to `tick` (time never goes back) and calls round(now), which may pop what is due and
  // returns the tick by which it wants the next round (kNeverTick: it needs none). Returns the tick
  // of the next necessary Pump; nullopt when another thread is pumping, which then runs another
  // round. If `round` throws, the exception leaves Pump, and a call of Pump is necessary.
  template <typename Round>
  std::optional<Tick> Pump(Tick tick, const Round& round) {
    RaiseTarget(tick);
    if (requests_.fetch_add(1) != 0) return std::nullopt;
    Turn turn(*this);
    uint32_t seen = 1;
    // Each further round answers a call to Pump or a push to the inbox that came meanwhile.
    for (;;) {
      FileInbox();
      Advance(target_.load());
      const Tick wanted = round(buckets_.now());
      Tick next = std::min(wanted, buckets_.NextTick());
      // A ticket that is claimed there and not written yet may be due.
      if (inbox_.HasHoles()) next = std::min(next, buckets_.now() + 1);
      planned_.store(next);
      if (!inbox_.IsEmpty()) continue;
      if (requests_.compare_exchange_strong(seen, 0)) {
        turn.End();
        return next;
      }
    }
  }

  // Inside Pump: the timer that is first in the lane.
  std::optional<Timer> PopDue(uint32_t lane) {
    // Each round removes a ticket from the lane.
    while (!lanes_[lane].is_empty()) {
      AnnounceFront(lanes_[lane]);
      const Ticket ticket = pool_.PopFront(lanes_[lane]);
      Entry& entry = entries_[ticket.timer()];
      TimerWord before = LoadWord(entry);
      // Each further round means that another thread's exchange succeeded.
      while (IsLive(entry, before, ticket)) {
        const bool is_armed = before.is_armed();
        if (is_armed && before.place() == TimerPlace::kWaits) {
          if (before.wanted() != before.stamp()) {
            if (FileAnew(entry, before, ticket)) break;
            continue;
          }
          if (before.lane() != lane) {
            pool_.PushBack(lanes_[before.lane()], ticket);
            break;
          }
        }
        if (!ExchangeWord(entry, before, TimerWord::Nowhere(++nowheres_))) continue;
        if (is_armed) return ticket.timer();
        break;
      }
    }
    return std::nullopt;
  }

  // Inside Pump: false may be wrong when timers were cancelled or set anew in the lane.
  bool LaneIsEmpty(uint32_t lane) const { return lanes_[lane].is_empty(); }

  // Pumps, and calls expire(timer) for every due timer. Returns what Pump returns.
  template <typename Expire>
  std::optional<Tick> ExpireUntil(Tick tick, const Expire& expire) {
    return Pump(tick, [&](Tick) {
      for (uint32_t lane = 0; lane < lane_count_; ++lane) {
        while (const std::optional<Timer> timer = PopDue(lane)) expire(*timer);
      }
      return kNeverTick;
    });
  }

  // Inside Pump: the tickets in buckets and lanes, live and stale.
  uint64_t tickets() const { return pool_.size(); }

 private:
  // Fewer stale tickets than these are not swept.
  static constexpr int64_t kStaleMin = 1000;
  // Tickets that are looked at for each that makes another stale.
  static constexpr uint64_t kSweepShare = 4;
  // How far ahead in its lane PopDue prefetches timers.
  static constexpr uint32_t kPrefetchDistance = 4;

  // Ends the pumping of a thread, also where a round throws: then each thread that arms a timer
  // asks for a call of Pump.
  class Turn {
   public:
    explicit Turn(TimerWheel& wheel) : wheel_(&wheel) {}
    ~Turn() {
      if (wheel_ == nullptr) return;
      wheel_->planned_.store(kNeverTick);
      wheel_->requests_.store(0);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    void End() { wheel_ = nullptr; }

   private:
    TimerWheel* wheel_;
  };

  template <typename Wake>
  [[gnu::always_inline]] inline void PushAndWake(Ticket ticket, Tick tick, const Wake& wake) {
    inbox_.Push(ticket);
    if (tick < LoadPlanned()) wake(tick);
  }

  // For a timer that has a ticket. A new one is named before it is pushed, because the old one
  // becomes stale.
  template <typename Wake>
  [[gnu::noinline]] void ArmSlowly(Timer timer, Entry& entry, Tick tick, uint32_t lane,
                                   const Wake& wake) {
    TimerWord before = LoadWord(entry);
    TimerWord after;
    do {
      if (before.ComesBy(tick, lane)) return;
      after = ArmedBy(before, tick, lane);
    } while (!ExchangeWord(entry, before, after));
    if (after.place() != TimerPlace::kNamed) return;
    const Ticket ticket(timer, after.stamp(), before.place() != TimerPlace::kNowhere);
    PushAndWake(ticket, TimerWord::Expand(after.stamp(), LoadNow()), wake);
    // After the wake-up, so that a thread that relies on the ticket relies on that too. If this
    // fails, the pump has found a ticket of this timer since the word was named, or another thread
    // has changed the word and sees to a ticket of its own.
    ExchangeStrong(entry, after, after.Pushed());
  }

  // The word of a timer that comes due by `tick`.
  static TimerWord ArmedBy(TimerWord before, Tick tick, uint32_t lane) {
    const bool was_armed = before.is_armed();
    const bool was_sooner = was_armed && !TimerWord::IsBefore(tick, before.wanted());
    const uint64_t wanted = was_sooner ? before.wanted() : tick & TimerWord::kTickMask;
    if (was_armed) lane = std::min(lane, before.lane());
    if (before.HasTicketFor(wanted, lane)) return before.Armed(wanted);
    // Also where another thread has named a ticket for the same tick: see TimerWord::Named.
    return TimerWord::Named(wanted, lane, Seam<Atom>::ThreadIndex());
  }

  // Relaxed: a decision by the loaded word alone (that a ticket is stale or due, that there is
  // nothing to cancel) uses a word that was there when the operation began, or later. The exchange
  // decides everything else.
  static TimerWord LoadWord(const Entry& entry) { return TimerWord(LoadRelaxed(entry.word)); }
  // Sequentially consistent: the thread that pops a timer sees what the arming thread wrote before.
  static bool ExchangeWord(Entry& entry, TimerWord& before, TimerWord after) {
    uint64_t bits = before.bits();
    if (entry.word.compare_exchange_weak(bits, after.bits())) return true;
    before = TimerWord(bits);
    return false;
  }
  static bool ExchangeStrong(Entry& entry, TimerWord before, TimerWord after) {
    uint64_t bits = before.bits();
    return entry.word.compare_exchange_strong(bits, after.bits());
  }
  // Relaxed: by an older instant a tick that has passed seems to come still, and the pump finds
  // that it is due.
  Tick LoadNow() const { return LoadRelaxed(now_); }
  // Sequentially consistent, as is the push before it. Pump stores its plan and then reads the
  // inbox: either Pump finds the ticket, or this load finds the plan.
  Tick LoadPlanned() const { return planned_.load(); }

  void RaiseTarget(Tick tick) {
    Tick target = target_.load();
    while (target < tick && !target_.compare_exchange_weak(target, tick)) {
    }
  }

  // The pump will read the word of the ticket's timer soon.
  auto Announce() const {
    return [this](Ticket ticket) { Prefetch(ticket.timer()); };
  }
  void AnnounceFront(const TicketList& lane) const {
    if (const auto ticket = pool_.PeekFront(lane, kPrefetchDistance)) Prefetch(ticket->timer());
  }

  // Links all tickets of the inbox into buckets, in the order of their coming. Due ones are visited
  // at once.
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
    // Relaxed, the first: a stray that is missed is counted the next time.
    if (LoadRelaxed(strays_) != 0) superseding += strays_.exchange(0);
    stale_ += static_cast<int64_t>(superseding);
    if (superseding != 0) Sweep(superseding * kSweepShare);
  }

  // Drops the stale ones of the next `looks` tickets, if more than half of all are stale.
  void Sweep(uint64_t looks) {
    if (stale_ < kStaleMin || static_cast<uint64_t>(stale_) * 2 < pool_.size()) return;
    const auto keep = [this](Ticket ticket) {
      Entry& entry = entries_[ticket.timer()];
      TimerWord word = LoadWord(entry);
      return IsLive(entry, word, ticket);
    };
    // Each round looks at a ticket at least, or ends.
    for (uint64_t looked = 0; looked < looks;) {
      const uint64_t in_bucket = buckets_.SweepNext(Announce(), keep);
      looked += in_bucket;
      if (in_bucket != 0) continue;
      for (TicketList& lane : lanes_) pool_.Filter(lane, Announce(), keep);
      return;
    }
  }

  // Whether the ticket is live, by `word`, which is what was seen last. If it is not, it is to be
  // dropped.
  bool IsLive(Entry& entry, TimerWord& word, Ticket ticket) {
    while (!word.Names(ticket.stamp())) {
      // A thread may have pushed this ticket of a timer that has none, and not named it yet.
      if (word.place() != TimerPlace::kNowhere ||
          ExchangeWord(entry, word, TimerWord::Nowhere(++nowheres_))) {
        --stale_;
        return false;
      }
    }
    return true;
  }

  // The ticket's tick has come, and the ticket is in no bucket any more.
  void Visit(Ticket ticket) {
    Entry& entry = entries_[ticket.timer()];
    TimerWord before = LoadWord(entry);
    // Each further round means that another thread's exchange succeeded.
    while (IsLive(entry, before, ticket)) {
      if (!before.is_armed()) {
        if (ExchangeWord(entry, before, TimerWord::Nowhere(++nowheres_))) return;
      } else if (before == TimerWord::Waiting(ticket.stamp(), before.lane())) {
        return pool_.PushBack(lanes_[before.lane()], ticket);
      } else if (FileAnew(entry, before, ticket)) {
        return;
      }
    }
  }

  // Of an armed timer. Makes a ticket for the wanted tick live and files it, in place of the one
  // that was found; false: the word has changed.
  bool FileAnew(Entry& entry, TimerWord& before, Ticket found) {
    const bool is_named = before.place() == TimerPlace::kNamed;
    const TimerWord after = is_named ? before.Pushed() : before.WaitsFor(before.wanted());
    if (!ExchangeWord(entry, before, after)) return false;
    const Ticket ticket(found.timer(), after.stamp());
    if (buckets_.TickOf(ticket) <= buckets_.now()) {
      pool_.PushBack(lanes_[after.lane()], ticket);
    } else {
      buckets_.Link(ticket);
    }
    return true;
  }

  void Advance(Tick target) {
    buckets_.AdvanceTo(target, Announce(), [this](Ticket ticket) { Visit(ticket); });
    StoreRelaxed(now_, buckets_.now());
  }

  const uint32_t lane_count_;
  SegmentedArray<Entry, Atom> entries_{Shape::kFirstTimersBits};

  TicketInbox<Atom> inbox_{Shape::kFirstTimersBits};
  // The tick of the pump's next round, as planned; written by the pump at the end of a round.
  alignas(kCacheLineBytes) Atom<Tick> planned_{kNeverTick};
  // The pump's instant, written by the pump. A stale reader sees an earlier one.
  Atom<Tick> now_{0};

  // Calls of Pump since no thread pumped; not zero: a thread pumps.
  alignas(kCacheLineBytes) Atom<uint32_t> requests_{0};
  // The latest tick that a call of Pump asked for.
  Atom<Tick> target_{0};
  // Tickets that were pushed and never named. Raised by the threads that arm timers, cleared by the
  // pump.
  Atom<uint64_t> strays_{0};

  // The pump's.
  TicketPool pool_;
  TickBuckets<Shape> buckets_{&pool_};
  std::array<TicketList, TimerWord::kLanesMax> lanes_;
  // Numbers the words of timers that have no ticket, modulo 2^58.
  uint64_t nowheres_ = 0;
  int64_t stale_ = 0;  // Tickets that were superseded and not visited since.
};

}  // namespace schedq
