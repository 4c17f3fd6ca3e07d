// API calls that wait, at most one an object: delayed, merged, prioritised, limited.
//
// Purpose: the scheduler says what it wants the API server to know and does not wait. The call
// queue decides what is sent, when, and what need not be sent at all.
// When not to use it: for calls whose answer the caller must have before its next step.
//
// How it works. Each object has a turn (object_turn.h), in which its waiting call and its call in
// flight are plain values. A waiting call's deadline is a timer of the wheel, and the timer's lane
// is the call's type. The thread that pumps the wheel takes from the lanes what the limits allow.
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
//     other calls in a row, a due patch starts first.
//  5. An object's number may pass from one pod to another. Calls of the two pods are not merged,
//     are not skipped for each other, and are not synced with the other pod's versions. A call of
//     the one pod waits while a call of the other is in flight.
//  6. Every call ends exactly once, and its listener is told. A waiting call that set a condition
//     may be overwritten by a call that sets none: the newer call inherits the condition or, being
//     more relevant, drops it. The listener of the older call is then also told how the newer call
//     ended, if it was executed.
//
// Threads and progress: Add, Sync, Cancel, Complete and Close from any thread. Each is lock-free
// and waits for no other thread: where another thread has the object's turn, that thread carries
// the operation out, which may be after the caller returned. Linearization point: in the turn. A
// thread that is frozen in a turn holds back that object's calls, and nothing else. An operation
// costs the same however many calls wait. Dispatch from any thread. While one thread dispatches,
// the others return at once, and that thread looks again on their behalf. A thread that is frozen
// while it dispatches holds back starts, and nothing else.
// Log: at warning level, each call that failed, with its pod and the reason, and each answer that
// nobody waits for.
// Memory: 128 bytes an object number up to the largest that was used: two cache lines, which hold
// the object's timer and its waiting call. On the heap: calls in flight, the last successful patch
// of an object until the object was seen with what the patch changed, and long messages.
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
#include "dispatcher/object_turn.h"
#include "dispatcher/rate_limit.h"
#include "dispatcher/timer_wheel/tick_buckets.h"
#include "dispatcher/timer_wheel/timer_wheel.h"
#include "dispatcher/waiting_call.h"
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
  // Dispatch must be called by `at` at the latest, which may have passed. Any thread; no waiting.
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

  CallQueueOptions DrivenBy(CallWaker* driver) const {
    CallQueueOptions driven = *this;
    driven.waker = driver;
    return driven;
  }
};

template <template <typename> class Atom = std::atomic, typename Shape = WheelShape>
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
  void Prefetch(ObjectId object) const {
    if (object < used_.load()) wheel_.Prefetch(object);
  }
  void Add(ApiCall&& call);
  // The object was seen with this version, which is of no interest to calls of another pod.
  void Sync(ObjectId object, const PodRef& pod);
  // What waits for the object is skipped.
  void Cancel(ObjectId object);
  // The call in flight for the object ended. Once for each start; more often changes nothing and is
  // logged.
  void Complete(ObjectId object, const Status& status);
  // What waits is skipped, and so is all that is added from now on. Where another thread has an
  // object's turn, that thread skips what waits, which may be after Close returned.
  void Close();
  // After Close: whether all that waited has been skipped, and each listener told. One thread at a
  // time.
  bool HasSkippedAll();

  // Starts what is due at `now` and allowed: start(call), which must not block and must bring about
  // one Complete, at once or later; the call stays as it is until then. Returns when to dispatch
  // next, Instant::max() if nothing waits; nullopt: another thread dispatches and will look again.
  template <typename Start>
  std::optional<Instant> Dispatch(Instant now, const Start& start);

  // May be stale.
  uint32_t InFlight() const { return in_flight_.load(); }

 private:
  enum class OperationKind : uint8_t { kAdd, kSync, kCancel, kComplete, kStart };
  // An operation on an object whose turn another thread has.
  struct Operation {
    OperationKind kind = OperationKind::kCancel;
    ApiCall call;
    Tick due = 0;
    ObjectId object = 0;
    PodRef pod;
    Status status;
    Operation* next = nullptr;
  };
  // What was sent for an object. The call in flight keeps its address.
  struct Sent {
    std::optional<ApiCall> in_flight;
    std::optional<CallContent> unseen;  // What succeeded and was not seen yet.
  };
  // Read and written in the object's turn only.
  struct Calls {
    Sent* sent = nullptr;  // Null: nothing.
    WaitingCall waiting;

    ApiCall* in_flight() const {
      return sent != nullptr && sent->in_flight ? &*sent->in_flight : nullptr;
    }
    CallContent* unseen() const {
      return sent != nullptr && sent->unseen ? &*sent->unseen : nullptr;
    }
    Sent& MutableSent() {
      if (sent == nullptr) sent = new Sent;
      return *sent;
    }
    void ForgetUnseen() {
      if (unseen() != nullptr) sent->unseen.reset();
      Tidy();
    }
    // Gives back what holds nothing.
    void Tidy() {
      if (sent != nullptr && !sent->in_flight && !sent->unseen) delete std::exchange(sent, nullptr);
    }
  };
  struct Slot {
    ObjectTurn<Operation, Atom> turn;
    typename Seam<Atom>::template Plain<Calls> calls;
  };
  using Wheel = TimerWheel<Atom, Shape, Slot>;
  using Entry = typename Wheel::Entry;
  static_assert(!std::is_same_v<Atom<uint64_t>, std::atomic<uint64_t>> ||
                    sizeof(Entry) == 2 * kCacheLineBytes,
                "an object has two cache lines");

  Entry& EntryOf(ObjectId object);
  // Calls apply(entry) in the object's turn, or hands over an operation that fill_in(operation)
  // wrote.
  template <typename Apply, typename FillIn>
  void Do(Entry& entry, const Apply& apply, const FillIn& fill_in);
  template <typename FillIn>
  void HandOver(Entry& entry, const FillIn& fill_in);
  void CarryOut(Entry& entry, Operation& operation);
  void EndTurn(Entry& entry);

  // In the object's turn.
  void ApplyAdd(Entry& entry, ApiCall& call, Tick due);
  void ApplySync(Entry& entry, const PodRef& pod);
  static void SyncUnseen(Calls& calls, const PodRef& pod);
  void SkipSynced(Entry& entry);
  void ApplyCancel(Entry& entry);
  void ApplyComplete(ObjectId object, Entry& entry, const Status& status);
  void ApplyStart(Entry& entry);
  const ApiCall* TakeForFlight(Calls& calls, Tick now);
  static bool IsNoOpNow(const CallContent& call, const Calls& calls);
  static void RememberUnseen(ApiCall&& done, Calls& calls);
  void Schedule(Entry& entry);
  void SkipWaiting(Entry& entry);
  void EndWaiting(WaitingCall& waiting, CallEnd end);
  void EndOf(const ApiCall& call, CallEnd end, const Status& status = {});
  void EndOutranked(const ApiCall& call);
  static void RefuseToComplete(ObjectId object);
  void EndExecuted(const ApiCall& call, const Status& status);

  // Inside the wheel's pump.
  template <typename Start>
  Tick StartDue(Tick now, const Start& start);
  template <typename Start>
  bool StartOne(ObjectId object, Tick now, const Start& start);
  std::optional<uint32_t> ChooseLane() const;
  bool HasRoom();

  Tick TickAfter(Instant now, Duration delay) const;
  Instant InstantOf(Tick tick) const;
  void Wake(Tick tick);

  static uint32_t LaneOf(CallType type) { return static_cast<uint32_t>(type); }
  static constexpr uint32_t kPatchLane = static_cast<uint32_t>(CallType::kStatusPatch);

  const CallQueueOptions options_;
  const Instant epoch_;  // Tick 0.
  const CallMetrics metrics_;
  Wheel wheel_{kCallTypeCount};

  // Object numbers below this have slots. Raised by each thread that uses a larger one.
  alignas(kCacheLineBytes) Atom<uint64_t> used_{0};
  // Set once by Close; read in objects' turns.
  Atom<bool> is_closed_{false};
  // Nothing waits for objects below this. Of the thread that calls HasSkippedAll.
  uint64_t skipped_ = 0;
  // Raised by the dispatching thread, lowered by each thread that completes a call.
  alignas(kCacheLineBytes) Atom<uint32_t> in_flight_{0};
  // The dispatching thread wants to be woken when a call completes.
  Atom<bool> waits_for_room_{false};

  // The dispatching thread's.
  RateLimit rate_;
  uint32_t starts_since_patch_ = 0;
};

}  // namespace schedq

#include "dispatcher/call_queue-inl.h"  // IWYU pragma: keep
