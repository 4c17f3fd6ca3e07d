// The implementation of CallQueue; see call_queue.h.
#pragma once

#include <algorithm>
#include <utility>

#include "dispatcher/call_queue.h"
#include "dispatcher/timer_wheel/tick_buckets.h"
#include "engine/base/log.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"

namespace schedq {

template <template <typename> class Atom, typename Shape>
CallQueue<Atom, Shape>::CallQueue(const CallQueueOptions& options)
    : options_(options),
      epoch_(options.clock->Now()),
      metrics_(options.metrics),
      rate_(options.calls_per_second, options.burst, kTick) {}

template <template <typename> class Atom, typename Shape>
CallQueue<Atom, Shape>::~CallQueue() {
  Close();
  for (ObjectId object = 0; object < used_.load(); ++object) {
    Calls& calls = wheel_.EntryOf(object).payload.calls.Mutable();
    if (const ApiCall* call = calls.in_flight()) {
      EndExecuted(*call, Error("the call queue was destroyed while the call was in flight"));
    }
    delete std::exchange(calls.sent, nullptr);
  }
}

// --- From any thread ---

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Add(ApiCall&& call) {
  // Before the turn, while the object's lines are still being fetched.
  metrics_.CountAdded(call.type);
  const Tick due = call.delay <= Duration(0) ? 0 : TickAfter(options_.clock->Now(), call.delay);
  Do(
      EntryOf(call.object), [&](Entry& entry) { ApplyAdd(entry, call, due); },
      [&](Operation& operation) {
        operation.kind = OperationKind::kAdd;
        operation.call = std::move(call);
        operation.due = due;
      });
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Sync(ObjectId object, const PodRef& pod) {
  if (object >= used_.load()) return;
  Do(
      wheel_.EntryOf(object), [&](Entry& entry) { ApplySync(entry, pod); },
      [&](Operation& operation) {
        operation.kind = OperationKind::kSync;
        operation.pod = pod;
      });
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Cancel(ObjectId object) {
  if (object >= used_.load()) return;
  Do(
      wheel_.EntryOf(object), [&](Entry& entry) { ApplyCancel(entry); },
      [](Operation& operation) { operation.kind = OperationKind::kCancel; });
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Complete(ObjectId object, const Status& status) {
  if (object >= used_.load()) return RefuseToComplete(object);
  Do(
      wheel_.EntryOf(object), [&](Entry& entry) { ApplyComplete(object, entry, status); },
      [&](Operation& operation) {
        operation.kind = OperationKind::kComplete;
        operation.object = object;
        operation.status = status;
      });
}

// A call may be added after its object was cancelled here. It is then added in a turn that began
// after the flag was set, so it finds the flag set. The same holds for a slot that is made after
// `used_` was read here.
template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Close() {
  is_closed_.store(true);
  const uint64_t used = used_.load();
  for (uint64_t object = 0; object < used; ++object) Cancel(static_cast<ObjectId>(object));
}

// A turn that is free now began after Close handed its operation over, or ended after that. In the
// first case Close carried the operation out itself.
template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::HasSkippedAll() {
  const uint64_t used = used_.load();
  while (skipped_ < used && wheel_.EntryOf(static_cast<ObjectId>(skipped_)).payload.turn.IsFree()) {
    ++skipped_;
  }
  return skipped_ >= used;
}

// --- Turns ---

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline typename CallQueue<Atom, Shape>::Entry&
CallQueue<Atom, Shape>::EntryOf(ObjectId object) {
  uint64_t used = used_.load();
  if (object >= used) {
    wheel_.ReserveThrough(object);
    while (used <= object && !used_.compare_exchange_weak(used, uint64_t{object} + 1)) {
    }
  }
  return wheel_.EntryOf(object);
}

template <template <typename> class Atom, typename Shape>
template <typename Apply, typename FillIn>
[[gnu::always_inline]] inline void CallQueue<Atom, Shape>::Do(Entry& entry, const Apply& apply,
                                                              const FillIn& fill_in) {
  if (!entry.payload.turn.TryBegin()) return HandOver(entry, fill_in);
  apply(entry);
  EndTurn(entry);
}

template <template <typename> class Atom, typename Shape>
template <typename FillIn>
[[gnu::noinline]] void CallQueue<Atom, Shape>::HandOver(Entry& entry, const FillIn& fill_in) {
  auto operation = std::make_unique<Operation>();
  fill_in(*operation);
  if (!entry.payload.turn.BeginOrHandOver(operation)) return;
  CarryOut(entry, *operation);
  EndTurn(entry);
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline void CallQueue<Atom, Shape>::EndTurn(Entry& entry) {
  entry.payload.turn.End([&](Operation& operation) { CarryOut(entry, operation); });
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::CarryOut(Entry& entry, Operation& operation) {
  switch (operation.kind) {
    case OperationKind::kAdd:
      return ApplyAdd(entry, operation.call, operation.due);
    case OperationKind::kSync:
      return ApplySync(entry, operation.pod);
    case OperationKind::kCancel:
      return ApplyCancel(entry);
    case OperationKind::kComplete:
      return ApplyComplete(operation.object, entry, operation.status);
    case OperationKind::kStart:
      return ApplyStart(entry);
  }
}

// --- In an object's turn ---

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline void CallQueue<Atom, Shape>::ApplyAdd(Entry& entry, ApiCall& call,
                                                                    Tick due) {
  Calls& calls = entry.payload.calls.Mutable();
  WaitingCall& waiting = calls.waiting;
  const ApiCall* const in_flight = calls.in_flight();
  if (is_closed_.load()) return EndOf(call, CallEnd::kSkipped);
  if ((waiting.exists() && IsLessRelevant(call.type, waiting.type()) &&
       IsSamePod(call.pod, waiting.content().pod)) ||
      (in_flight != nullptr && IsLessRelevant(call.type, in_flight->type) &&
       IsSamePod(call.pod, in_flight->pod))) {
    return EndOutranked(call);
  }
  bool keeps_its_place = false;
  if (waiting.exists()) {
    Inherit(waiting.content(), &call);
    // An earlier deadline stays, and so does the place in its lane of a call that is due already.
    keeps_its_place = waiting.type() == call.type && waiting.due() <= std::max(due, wheel_.now());
    if (keeps_its_place) due = waiting.due();
  } else if (in_flight != nullptr && in_flight->type == call.type &&
             IsSamePod(call.pod, in_flight->pod)) {
    Merge(*in_flight, &call);
  }
  const bool is_dropped = in_flight == nullptr && IsNoOpNow(call, calls);
  if (waiting.exists()) {
    if (is_dropped) wheel_.Cancel(entry);
    EndWaiting(waiting, CallEnd::kOverwritten);
  }
  if (is_dropped) return EndOf(call, CallEnd::kSkipped);
  waiting.Put(std::move(call), due);
  if (in_flight == nullptr && !keeps_its_place) Schedule(entry);
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline void CallQueue<Atom, Shape>::ApplySync(Entry& entry,
                                                                     const PodRef& pod) {
  Calls& calls = entry.payload.calls.Mutable();
  if (calls.sent != nullptr) SyncUnseen(calls, pod);
  if (!calls.waiting.exists()) return;
  CallContent& content = calls.waiting.content();
  if (!IsSamePod(content.pod, pod)) return;
  content.pod = pod;
  // Mostly nothing was sent for an object whose call waits, and the call changes something.
  const bool is_no_op = calls.sent == nullptr
                            ? IsNoOp(content)
                            : calls.in_flight() == nullptr && IsNoOpNow(content, calls);
  if (is_no_op) SkipSynced(entry);
}

template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] void CallQueue<Atom, Shape>::SyncUnseen(Calls& calls, const PodRef& pod) {
  CallContent* const unseen = calls.unseen();
  if (unseen == nullptr) return;
  const bool is_same = IsSamePod(unseen->pod, pod);
  unseen->pod = pod;
  if (!is_same || IsNoOp(*unseen)) calls.ForgetUnseen();
}

// Apart from ApplySync, because it is rare.
template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] void CallQueue<Atom, Shape>::SkipSynced(Entry& entry) {
  SkipWaiting(entry);
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline void CallQueue<Atom, Shape>::ApplyCancel(Entry& entry) {
  Calls& calls = entry.payload.calls.Mutable();
  if (calls.sent != nullptr) calls.ForgetUnseen();
  if (calls.waiting.exists()) SkipWaiting(entry);
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::ApplyComplete(ObjectId object, Entry& entry, const Status& status) {
  Calls& calls = entry.payload.calls.Mutable();
  if (calls.in_flight() == nullptr) return RefuseToComplete(object);
  ApiCall done(std::move(*calls.sent->in_flight));
  calls.sent->in_flight.reset();
  in_flight_.fetch_sub(1);
  metrics_.CountExecution(done.type, status.ok(), options_.clock->Now() - done.started);
  if (!status.ok()) {
    SCHEDQ_LOG(kWarning, "API call {} for pod {} failed: {}", CallTypeName(done.type),
               PodNameOf(done), status.error().message());
  }
  if (calls.waiting.exists()) {
    CallContent& content = calls.waiting.content();
    const bool is_done = status.ok() && IsSamePod(done.pod, content.pod);
    // The event of a condition that it inherited from `done` went out with `done`.
    if (is_done && content.condition == done.condition) content.sends_event = false;
    const bool is_no_op = is_done ? IsNoOpAfter(done, content) : IsNoOpNow(content, calls);
    is_no_op ? SkipWaiting(entry) : Schedule(entry);
  }
  EndExecuted(done, status);
  if (status.ok()) RememberUnseen(std::move(done), calls);
  calls.Tidy();
  // Sequentially consistent, as in HasRoom: either HasRoom sees the room, or this load sees that
  // the dispatching thread waits for it.
  if (waits_for_room_.load() && waits_for_room_.exchange(false)) Wake(0);
}

// The dispatching thread took the object's timer and starts nothing.
template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::ApplyStart(Entry& entry) {
  const Calls& calls = entry.payload.calls.Read();
  if (calls.waiting.exists() && calls.in_flight() == nullptr) Schedule(entry);
}

template <template <typename> class Atom, typename Shape>
const ApiCall* CallQueue<Atom, Shape>::TakeForFlight(Calls& calls, Tick now) {
  WaitingCall& waiting = calls.waiting;
  if (!waiting.exists() || calls.in_flight() != nullptr || waiting.due() > now) return nullptr;
  ApiCall& call = calls.MutableSent().in_flight.emplace(waiting.Remove());
  call.started = options_.clock->Now();
  return &call;
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline void CallQueue<Atom, Shape>::Schedule(Entry& entry) {
  const WaitingCall& waiting = entry.payload.calls.Read().waiting;
  const ObjectId object = waiting.content().object;
  Wake(wheel_.ScheduleAlone(object, entry, waiting.due(), LaneOf(waiting.type())));
}

template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::IsNoOpNow(const CallContent& call, const Calls& calls) {
  const CallContent* const unseen = calls.unseen();
  const bool is_unseen = unseen != nullptr && IsSamePod(unseen->pod, call.pod);
  return is_unseen ? IsNoOpAfter(*unseen, call) : IsNoOp(call);
}

// Keeps what later patches are compared with. Claims are not kept: they are allocated once.
template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::RememberUnseen(ApiCall&& done, Calls& calls) {
  if (done.type != CallType::kStatusPatch) return;
  const CallContent* const unseen = calls.unseen();
  if (unseen != nullptr && IsSamePod(unseen->pod, done.pod)) Merge(*unseen, &done);
  if (done.placement.has_value()) done.placement.Mutable().claims.clear();
  Sent& sent = calls.MutableSent();
  sent.unseen.reset();
  if (!IsNoOp(done)) sent.unseen.emplace(std::move(done));
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline void CallQueue<Atom, Shape>::SkipWaiting(Entry& entry) {
  wheel_.Cancel(entry);
  EndWaiting(entry.payload.calls.Mutable().waiting, CallEnd::kSkipped);
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline void CallQueue<Atom, Shape>::EndWaiting(WaitingCall& waiting,
                                                                      CallEnd end) {
  if (waiting.content().listener != nullptr) return EndOf(ApiCall(waiting.Remove()), end);
  metrics_.CountEnd(waiting.type(), end);
  waiting.Drop();
}

template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] void CallQueue<Atom, Shape>::RefuseToComplete(ObjectId object) {
  SCHEDQ_LOG(kWarning, "an API call of object {} was answered, and none is in flight", object);
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::EndOf(const ApiCall& call, CallEnd end, const Status& status) {
  metrics_.CountEnd(call.type, end);
  if (call.listener != nullptr) call.listener->OnEnd(call, end, status);
}

template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] void CallQueue<Atom, Shape>::EndOutranked(const ApiCall& call) {
  EndOf(call, CallEnd::kSkipped, Error("a more relevant call is under way"));
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::EndExecuted(const ApiCall& call, const Status& status) {
  EndOf(call, status.ok() ? CallEnd::kSuccess : CallEnd::kError, status);
  if (!call.placement.has_value()) return;
  const auto [listener, tag] = call.placement->predecessor;
  if (listener != nullptr) listener->OnSuccessorEnd(call, tag, status);
}

// --- Dispatching ---

template <template <typename> class Atom, typename Shape>
template <typename Start>
std::optional<Instant> CallQueue<Atom, Shape>::Dispatch(Instant now, const Start& start) {
  const Tick tick = static_cast<Tick>(std::max(now - epoch_, Duration(0)) / kTick);
  const std::optional<Tick> next = wheel_.Pump(tick, [&](Tick at) { return StartDue(at, start); });
  if (!next) return std::nullopt;
  return InstantOf(*next);
}

template <template <typename> class Atom, typename Shape>
template <typename Start>
Tick CallQueue<Atom, Shape>::StartDue(Tick now, const Start& start) {
  // Each round takes a timer out of its lane.
  while (const std::optional<uint32_t> lane = ChooseLane()) {
    if (!HasRoom()) return kNeverTick;
    if (!rate_.HasToken(now)) return rate_.NextTick();
    const std::optional<uint32_t> object = wheel_.PopDue(*lane);
    if (!object || !StartOne(*object, now, start)) continue;
    rate_.SpendToken();
  }
  return kNeverTick;
}

template <template <typename> class Atom, typename Shape>
template <typename Start>
bool CallQueue<Atom, Shape>::StartOne(ObjectId object, Tick now, const Start& start) {
  Entry& entry = wheel_.EntryOf(object);
  ObjectTurn<Operation, Atom>& turn = entry.payload.turn;
  if (!turn.TryBegin()) {
    auto operation = std::make_unique<Operation>();
    operation->kind = OperationKind::kStart;
    if (!turn.BeginOrHandOver(operation)) return false;
  }
  const ApiCall* call = TakeForFlight(entry.payload.calls.Mutable(), now);
  if (call != nullptr) {
    in_flight_.fetch_add(1);
  } else {
    // A call may wait for a tick beyond the wheel's horizon. If it was added just now, this changes
    // nothing.
    ApplyStart(entry);
  }
  EndTurn(entry);
  if (call == nullptr) return false;
  starts_since_patch_ = call->type == CallType::kStatusPatch ? 0 : starts_since_patch_ + 1;
  start(*call);
  return true;
}

template <template <typename> class Atom, typename Shape>
std::optional<uint32_t> CallQueue<Atom, Shape>::ChooseLane() const {
  if (starts_since_patch_ >= options_.patch_share && !wheel_.LaneIsEmpty(kPatchLane)) {
    return kPatchLane;
  }
  for (uint32_t lane = 0; lane < kCallTypeCount; ++lane) {
    if (!wheel_.LaneIsEmpty(lane)) return lane;
  }
  return std::nullopt;
}

template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::HasRoom() {
  if (in_flight_.load() < options_.in_flight_max) return true;
  waits_for_room_.store(true);
  if (in_flight_.load() >= options_.in_flight_max) return false;
  waits_for_room_.store(false);
  return true;
}

// --- Time ---

template <template <typename> class Atom, typename Shape>
Tick CallQueue<Atom, Shape>::TickAfter(Instant now, Duration delay) const {
  const Duration passed = std::max(now - epoch_, Duration(0));
  // So that no delay is too long, none goes beyond the end of time.
  const Duration left = Duration::max() - kTick - passed;
  return static_cast<Tick>((passed + std::min(delay, left) + kTick - Duration(1)) / kTick);
}

template <template <typename> class Atom, typename Shape>
Instant CallQueue<Atom, Shape>::InstantOf(Tick tick) const {
  return tick == kNeverTick ? Instant::max() : epoch_ + static_cast<int64_t>(tick) * kTick;
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Wake(Tick tick) {
  if (tick != kNeverTick && options_.waker != nullptr) options_.waker->WakeBy(InstantOf(tick));
}

}  // namespace schedq
