// API calls that wait, at most one an object: delayed, merged, prioritised, limited.
//
// Purpose: the scheduler says what it wants the API server to know and does not wait. The call
// queue decides what is sent, when, and what need not be sent at all.
// When not to use it: for calls whose answer the caller must have before its next step.
//
// How it works. A word of each object names its state: which call waits, which is in flight, which
// succeeded and was not seen yet (call_state.h). A state is never changed. An operation reads it,
// makes the state that the rules ask for, and exchanges the word; if another operation was first,
// it begins anew. Mostly a call waits alone: then the word says all that an operation must know
// before it ends the call, and the state is read only by the thread that has taken it away. What
// follows from the exchange is done after it: the timer, the listeners, the metrics. A waiting
// call's deadline is a timer of the wheel, and the timer's lane is the call's type. The thread that
// pumps the wheel takes from the lanes what the limits allow. A timer is never cleared, and may
// come due too early: what starts is decided by the state.
//
// The rules (docs/semantics.md, "Dispatcher rules"):
//  1. At most one call waits and at most one is in flight for an object. A call in flight is never
//     changed. A call that is added meanwhile waits until the call in flight has ended.
//  2. A call less relevant than one that waits or is in flight is skipped; WasOutranked tells its
//     listener so. A more relevant call overwrites the waiting one. A call of the same type
//     inherits what it does not say itself from the waiting call, or else from the call in flight.
//     The older waiting call ends as overwritten. Its deadline stays, unless the new call has no
//     delay.
//  3. A call that would change nothing is skipped. This is asked when the call is added or merged,
//     or its object is synced, unless a call is in flight; it is asked again when that call ends.
//     What a patch has changed counts from the patch's success on, although the object is seen with
//     it only later, because watches are behind.
//  4. Due calls start by relevance, then first come first served. After `patch_share` starts of
//     other calls in a row, a due patch starts first. The event of a patch is a call of its own: it
//     takes a token after the patch's, but not before a binding or a deletion that is due.
//  5. An object's number may pass from one pod to another. Calls of the two pods are not merged,
//     are not skipped for each other, and are not synced with the other pod's versions. A call of
//     the one pod waits while a call of the other is in flight.
//  6. Every call ends exactly once, and its listener is told. A waiting call that set a condition
//     may be overwritten by a call that sets none: the newer call inherits the condition or, being
//     more relevant, drops it. The listener of the older call is then also told how the newer call
//     ended, if it was executed.
//
// Threads and progress: all operations from any thread, lock-free: an exchange fails only because
// another thread's succeeded. None waits for another thread.
//   Add, AddIf, Sync, Cancel, CancelIf, Complete
//             Linearization point: the exchange of the object's word; the last look at it where
//             nothing changes.
//   Close     No single moment: object by object. What is added while it runs, or later, is skipped
//             by the thread that adds it.
//   Dispatch  While one thread dispatches, the others return at once, and that thread looks again
//             on their behalf. A thread that is frozen while it dispatches holds back starts, and
//             nothing else.
// An operation that has returned has taken effect, whichever thread is frozen: an operation that
// leaves a call waiting, or relies on one, ensures that the call's timer is armed, its ticket
// pushed and the waker told, also where another thread had begun to. The thread whose exchange
// ended a call tells the call's listener; if that thread is frozen, it tells when it goes on, and
// no other call waits for that. A Complete that is frozen counts as an answer that has not come, in
// the limit of calls in flight. An operation costs the same however many calls wait.
// Log: at warning level, each call that failed, with its pod and the reason, and each answer that
// nobody waits for; at error level, what a listener or a start has thrown, if nobody else is told.
// Memory: 16 bytes an object number up to the largest that was used, and 128 bytes for each call
// that waits, is in flight, or succeeded as a patch until its object was seen with what that
// changed; as many again for each that waits and whose object was seen since. The memory of calls
// is used again; at most 64 calls for each thread are kept a while after their end. On the heap:
// long messages and placements, and copies of them where a call that was synced starts, or where
// one outlasts a flight.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "dispatcher/api_call.h"
#include "dispatcher/call_metrics.h"
#include "dispatcher/call_state.h"
#include "dispatcher/guarded_pool.h"
#include "dispatcher/rate_limit.h"
#include "dispatcher/timer_wheel/tick_buckets.h"
#include "dispatcher/timer_wheel/timer_wheel.h"
#include "engine/base/atom.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/base/zeroed_memory.h"
#include "engine/pod.h"

namespace schedq {

// Sleeps until a call may be due.
class CallWaker {
 public:
  virtual ~CallWaker() = default;
  // Dispatch must be called by `at` at the latest, which may have passed. Any thread; must neither
  // wait, nor throw, nor use the queue.
  virtual void WakeBy(Instant at) = 0;
};

struct CallQueueOptions {
  Clock* clock = nullptr;
  CallWaker* waker = nullptr;  // Null: the caller dispatches when it likes.
  MetricsRegistry* metrics = nullptr;
  uint32_t in_flight_max = 50;
  double calls_per_second = 50;  // 0: no limit.
  uint32_t burst = 100;
  uint32_t patch_share = 19;  // One start in twenty is a patch's while patches are due.
  // The events of patches go out by another client, with tokens of its own.
  bool events_have_client = false;
  // Called while what a listener or a start has thrown is handled (std::current_exception). Throws
  // nothing. Null: it is logged.
  std::function<void()> on_exception = nullptr;

  CallQueueOptions DrivenBy(CallWaker* driver) const {
    CallQueueOptions driven = *this;
    driven.waker = driver;
    return driven;
  }
};

struct CallShape : WheelShape {
  static constexpr uint32_t kCallsKept = 64;  // Ended calls that a thread keeps a while.
};

template <template <typename> class Atom = std::atomic, typename Shape = CallShape>
class CallQueue {
 public:
  static constexpr Duration kTick = std::chrono::milliseconds(1);

  explicit CallQueue(const CallQueueOptions& options);
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  // No other thread may be in the queue. Calls in flight end as errors.
  ~CallQueue();

  // The caller is about to add, sync or cancel. Prefetches what that will touch, while the caller
  // makes the call, and does nothing else.
  void Prefetch(ObjectId object) const;
  void Add(ApiCall&& call) {
    AddIf(std::move(call), [] { return true; });
  }
  // Adds the call if is_wanted(). When the call is added, no other addition and no cancellation has
  // taken effect since that was asked; so it may ask whether its caller has been overtaken. False:
  // it was unwanted. Then it counts as skipped, and its listener is not told.
  template <typename IsWanted>
  bool AddIf(ApiCall&& call, const IsWanted& is_wanted);
  // The object was seen with this version, which is of no interest to calls of another pod.
  void Sync(ObjectId object, const PodRef& pod);
  // What waits for the object is skipped.
  void Cancel(ObjectId object) {
    CancelIf(object, [] { return true; });
  }
  // Likewise, if is_wanted(), which is asked as in AddIf.
  template <typename IsWanted>
  bool CancelIf(ObjectId object, const IsWanted& is_wanted);
  // The call in flight for the object ended. Once for each start; more often changes nothing and is
  // logged.
  void Complete(ObjectId object, const Status& status);
  // What waits is skipped, and so is all that is added from now on.
  void Close();
  // After Close: whether each operation that had begun before has ended, so that each listener has
  // been told. One thread at a time, in no listener.
  bool HasSkippedAll();

  // Starts what is due at `now` and allowed: start(call), which must not block and must bring about
  // one Complete, at once or later; the call stays as it is until then. A call whose start throws
  // has failed, and nothing else may complete it. Returns when to dispatch
  // next, Instant::max() if nothing waits; nullopt: another thread dispatches and will look again.
  template <typename Start>
  std::optional<Instant> Dispatch(Instant now, const Start& start);

  // A call that the caller makes by itself, with the same client: it takes its token in the order
  // of asking, before all that waits here. Returns when it may start. On the thread of Dispatch
  // only, as is the next.
  Instant TakeToken(Instant now);
  // An event that the caller sends, with the same client: its token comes before those of patches
  // and after those of bindings and deletions.
  void TakeEventToken(Instant now);

  // May be stale.
  uint32_t InFlight() const {
    const uint32_t ended = ended_.load();
    return started_.load() - ended;
  }

 private:
  using Pool = GuardedPool<CallState, Atom, Shape::kCallsKept, kCallNotes>;
  using Operation = typename Pool::Operation;
  struct Slot {
    // A CallWord. Written by each thread whose operation changes the object's calls. A thread that
    // read a stale value fails its exchange.
    Atom<uint64_t> calls;
  };
  using Wheel = TimerWheel<Atom, Shape, Slot>;
  using Entry = typename Wheel::Entry;
  static_assert(!std::is_same_v<Atom<uint64_t>, std::atomic<uint64_t>> || sizeof(Entry) == 16,
                "four objects share a cache line");
  static_assert(sizeof(CallState) + kCallNotes * sizeof(uint64_t) <= 2 * kCacheLineBytes,
                "a call has two cache lines");

  // An object's calls as the word named them when they were read.
  struct View {
    CallWord word;
    CallNumbers calls;
    // Null: none.
    const CallState* waiting = nullptr;
    const CallState* flight = nullptr;
    const CallState* unseen = nullptr;
  };

  Entry& EntryOf(ObjectId object);
  // Reads the object's calls and guards them.
  View Look(Operation& operation, Entry& entry);
  // Likewise, as `word` names them; nullopt: they have changed.
  std::optional<View> LookAt(Operation& operation, Entry& entry, CallWord word);
  // Makes one state of a call and the pod that was seen since.
  void UniteSynced(Operation& operation, Entry& entry, CallWord word);
  CallNumbers NumbersOf(CallWord word) const;
  View ViewOf(CallWord word) const;
  // Makes `next` the object's calls in place of what `view` saw; false: they have changed. What
  // `next` has and the view has not is this thread's then as before.
  bool Replace(Operation& operation, Entry& entry, const View& view, const CallNumbers& next);
  CallWord WordOf(Operation& operation, const CallNumbers& next);
  // Changes nothing but the word's version: an addition that asked before is overtaken.
  static bool Stamp(Entry& entry, const View& view) {
    return ExchangeCalls(entry, view.word, view.word);
  }
  // Of the calls that are in the one and not in the other.
  void RetireOld(Operation& operation, const CallNumbers& before, const CallNumbers& next);
  void DiscardNew(Operation& operation, const CallNumbers& before, const CallNumbers& next);
  const CallState* StateOf(uint32_t number) const {
    return number == 0 ? nullptr : &calls_[number];
  }

  // Each carries out its operation; false: another one has changed the object's calls meanwhile.
  bool TryAdd(Operation& operation, Entry& entry, CallWord word, ApiCall& call, Tick due);
  bool TryAddAmid(Operation& operation, Entry& entry, CallWord word, ApiCall& call, Tick due);
  bool Place(Operation& operation, Entry& entry, const View& view, ApiCall& call, Tick due);
  bool Put(Operation& operation, Entry& entry, CallWord word, CallNumbers others, ApiCall& call,
           Tick due);
  void TakeBack(Operation& operation, uint32_t number, ApiCall& call);
  bool DropNoOp(Operation& operation, Entry& entry, const View& view, const ApiCall& call);
  bool TrySync(Operation& operation, ObjectId object, Entry& entry, const PodRef& pod);
  bool TrySyncAmid(Operation& operation, ObjectId object, Entry& entry, const PodRef& pod);
  bool TryCancel(Operation& operation, Entry& entry, CallWord word);
  bool TryCancelAmid(Operation& operation, Entry& entry, CallWord word);
  bool TryComplete(Operation& operation, ObjectId object, Entry& entry, const Status& status);
  bool TryCompleteAmid(Operation& operation, ObjectId object, Entry& entry, CallWord word,
                       const Status& status);

  static bool IsOutranked(const ApiCall& call, const CallState* by);
  static bool InheritsFrom(const CallState* waiting, const CallState* in_flight,
                           const ApiCall& call);
  static bool IsNoOpNow(const CallContent& call, const CallState* unseen);
  uint32_t SyncUnseen(Operation& operation, uint32_t unseen, const PodRef& pod);
  uint32_t UnseenAfter(Operation& operation, const CallNumbers& calls);
  uint32_t WaitingAfter(Operation& operation, const CallNumbers& calls, bool is_ok,
                        uint32_t unseen);
  void Arm(Entry& entry, ObjectId object, Tick due, CallType type);
  void ArmFor(Entry& entry, ObjectId object, const View& view);
  void EndWaiting(const CallState& waiting, CallEnd end);
  // Of a call that has waited alone, and has been taken out of the word.
  void EndAlone(Operation& operation, CallWord word, CallEnd end);
  void EndSynced(Operation& operation, CallWord word, CallEnd end);
  void EndOf(const ApiCall& call, CallEnd end, const Status& status = {});
  void EndOutranked(const ApiCall& call);
  // Of the call with this number, which has been taken out of the word.
  void EndInFlight(uint32_t number, const Status& status);
  static void RefuseToComplete(ObjectId object);
  void EndExecuted(const ApiCall& call, const Status& status);
  template <typename Act>
  bool Contain(const char* whose, const Act& act) const;

  // Relaxed: the exchange of the word publishes it. A thread that does not guard the call may
  // read that of a newer one; its look at the word, or its exchange, then fails.
  Tick DueOf(uint32_t number) const { return LoadRelaxed(calls_.NoteOf(number, kDueNote)); }
  // Likewise. Only the dispatching thread writes it, each time before it starts the call.
  void SetStarted(uint32_t number) {
    StoreRelaxed(calls_.NoteOf(number, kStartedNote),
                 static_cast<uint64_t>(options_.clock->Now().time_since_epoch().count()));
  }
  static constexpr uint32_t kDueNote = static_cast<uint32_t>(CallNote::kDue);
  static_assert(kDueNote == 0, "see MakeNoted");
  static constexpr uint32_t kStartedNote = static_cast<uint32_t>(CallNote::kStarted);

  // Sequentially consistent, as are the pump's exchange of the timer and the flag of Close: see
  // ArmBy and Close.
  static CallWord LoadCalls(const Entry& entry) { return CallWord(entry.payload.calls.load()); }
  static bool ExchangeCalls(Entry& entry, CallWord before, CallWord after) {
    uint64_t bits = before.bits();
    return entry.payload.calls.compare_exchange_strong(bits, after.After(before).bits());
  }

  // Inside the wheel's pump.
  template <typename Start>
  Tick StartDue(Tick now, const Start& start);
  template <typename Start>
  bool StartOne(ObjectId object, uint32_t lane, Tick now, const Start& start);
  const ApiCall* TakeForFlight(ObjectId object, uint32_t lane, Tick now);
  // The call that waits, when it is due, and as what it flies. A number of 0: none may start.
  struct Candidate {
    uint32_t number = 0;
    CallType type = CallType::kBinding;
    Tick due = 0;
    CallStage stage = CallStage::kFliesAlone;
  };
  std::optional<Candidate> CandidateOf(Entry& entry, CallWord word);
  std::optional<uint32_t> ChooseLane() const;
  bool SendsEventNext() const;
  bool HasRoom();

  Tick TickAt(Instant now) const;
  Tick TickAfter(Instant now, Duration delay) const;
  Instant InstantOf(Tick tick) const;
  void Wake(Tick tick);

  static uint32_t LaneOf(CallType type) { return static_cast<uint32_t>(type); }
  static constexpr uint32_t kPatchLane = static_cast<uint32_t>(CallType::kStatusPatch);

  const CallQueueOptions options_;
  const Instant epoch_;  // Tick 0.
  const CallMetrics metrics_;
  Wheel wheel_{kCallTypeCount};
  Pool calls_{Shape::kFirstTimersBits};

  // Object numbers below this have slots. Raised by each thread that uses a larger one.
  alignas(kCacheLineBytes) Atom<uint64_t> used_{0};
  // Set once by Close; read before a call is placed and after.
  Atom<bool> is_closed_{false};
  // Of the thread that calls HasSkippedAll: threads of smaller numbers have ended what they had
  // begun when Close came; and what the thread of this number counted when it was in an operation.
  uint32_t threads_done_ = 0;
  uint64_t operation_seen_ = 0;
  // Calls that were started and those of them that have ended, modulo 2^32. The first is the
  // dispatching thread's, the other is raised by each thread that completes a call.
  Atom<uint32_t> started_{0};
  alignas(kCacheLineBytes) Atom<uint32_t> ended_{0};
  // The dispatching thread wants to be woken when a call completes. Written by that thread.
  Atom<bool> waits_for_room_{false};

  // The dispatching thread's.
  RateLimit rate_;
  uint32_t starts_since_patch_ = 0;
  uint64_t events_owed_ = 0;  // Events without a token yet.
};

}  // namespace schedq

#include "dispatcher/call_queue-inl.h"  // IWYU pragma: keep
#include "dispatcher/call_rules-inl.h"  // IWYU pragma: keep
