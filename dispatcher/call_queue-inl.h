// The implementation of CallQueue; see call_queue.h.
#pragma once

#include <algorithm>
#include <utility>

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
    Calls& calls = wheel_.PayloadOf(object).calls.Mutable();
    delete std::exchange(calls.unseen, nullptr);
    if (calls.in_flight == nullptr) continue;
    const CallHolder call(std::exchange(calls.in_flight, nullptr));
    EndOf(*call, CallEnd::kError,
          Error("the call queue was destroyed while the call was in flight"));
  }
}

// --- From any thread ---

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Add(CallHolder call) {
  const ObjectId object = call->object;
  metrics_.AddPending(call->type, 1);
  Do(
      object, [&] { ApplyAdd(object, std::move(call)); },
      [&] {
        auto note = std::make_unique<Note>();
        note->kind = NoteKind::kAdd;
        note->call = std::move(call);
        return note;
      });
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Sync(ObjectId object, const PodRef& pod) {
  if (object >= used_.load()) return;
  Do(
      object, [&] { ApplySync(object, pod); },
      [&] {
        auto note = std::make_unique<Note>();
        note->kind = NoteKind::kSync;
        note->pod = pod;
        return note;
      });
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Cancel(ObjectId object) {
  if (object >= used_.load()) return;
  Do(
      object, [&] { ApplyCancel(object); }, [] { return std::make_unique<Note>(); });
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Complete(ObjectId object, const Status& status) {
  Do(
      object, [&] { ApplyComplete(object, status); },
      [&] {
        auto note = std::make_unique<Note>();
        note->kind = NoteKind::kComplete;
        note->status = status;
        return note;
      });
}

// A call that is put in after its object was passed here was put in behind the door after the flag
// was set, and finds it. A slot that is made after `used_` was read here likewise.
template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Close() {
  is_closed_.store(true);
  const uint64_t used = used_.load();
  for (uint64_t object = 0; object < used; ++object) Cancel(static_cast<ObjectId>(object));
}

// --- Doors ---

template <template <typename> class Atom, typename Shape>
typename CallQueue<Atom, Shape>::Slot& CallQueue<Atom, Shape>::SlotOf(ObjectId object) {
  uint64_t used = used_.load();
  if (object >= used) {
    // Segments have to be reserved in turn, and numbers are dense.
    for (uint64_t number = used; number <= object; number = 2 * number + 1) {
      wheel_.Reserve(static_cast<uint32_t>(number));
    }
    wheel_.Reserve(object);
    while (used <= object && !used_.compare_exchange_weak(used, uint64_t{object} + 1)) {
    }
  }
  return wheel_.PayloadOf(object);
}

template <template <typename> class Atom, typename Shape>
template <typename Apply, typename MakeNote>
void CallQueue<Atom, Shape>::Do(ObjectId object, const Apply& apply, const MakeNote& make_note) {
  Slot& slot = SlotOf(object);
  if (slot.door.TryEnter()) {
    apply();
  } else {
    std::unique_ptr<Note> note = make_note();
    if (!slot.door.EnterOrLeave(note)) return;
    CarryOut(object, *note);
  }
  LeaveDoor(object, slot);
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::LeaveDoor(ObjectId object, Slot& slot) {
  slot.door.Leave([&](Note& note) { CarryOut(object, note); });
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::CarryOut(ObjectId object, Note& note) {
  switch (note.kind) {
    case NoteKind::kAdd:
      return ApplyAdd(object, std::move(note.call));
    case NoteKind::kSync:
      return ApplySync(object, note.pod);
    case NoteKind::kCancel:
      return ApplyCancel(object);
    case NoteKind::kComplete:
      return ApplyComplete(object, note.status);
    case NoteKind::kStart:
      return ApplyStart(object);
  }
}

// --- Behind the door ---

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::ApplyAdd(ObjectId object, CallHolder call) {
  Slot& slot = wheel_.PayloadOf(object);
  Calls& calls = slot.calls.Mutable();
  ApiCall* const waiting = calls.waiting;
  ApiCall* const in_flight = calls.in_flight;
  if (is_closed_.load() || (waiting != nullptr && IsLessRelevant(call->type, waiting->type)) ||
      (in_flight != nullptr && IsLessRelevant(call->type, in_flight->type))) {
    return EndOf(*call, CallEnd::kSkipped);
  }
  Tick due = call->delay <= Duration(0) ? 0 : TickAfter(options_.clock->Now() + call->delay);
  const bool is_same_type = waiting != nullptr && waiting->type == call->type;
  bool keeps_its_place = false;
  if (is_same_type) {
    Merge(*waiting, call.get());
    // An earlier deadline stays, and so does the turn of a call that was due anyway.
    keeps_its_place = slot.due.Read() <= std::max(due, wheel_.now());
    if (keeps_its_place) due = slot.due.Read();
  } else if (waiting == nullptr && in_flight != nullptr && in_flight->type == call->type) {
    Merge(*in_flight, call.get());
  }
  calls.waiting = call.release();
  slot.due.Write(due);
  if (waiting != nullptr) EndOf(*CallHolder(waiting), CallEnd::kOverwritten);
  if (in_flight != nullptr) return;
  if (WaitingIsNoOp(calls)) return SkipWaiting(object, calls);
  if (!keeps_its_place) Schedule(object, slot);
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::ApplySync(ObjectId object, const PodRef& pod) {
  Calls& calls = wheel_.PayloadOf(object).calls.Mutable();
  if (calls.unseen != nullptr) {
    calls.unseen->pod = pod;
    if (IsNoOp(*calls.unseen)) delete std::exchange(calls.unseen, nullptr);
  }
  if (calls.waiting == nullptr) return;
  calls.waiting->pod = pod;
  if (calls.in_flight == nullptr && WaitingIsNoOp(calls)) SkipWaiting(object, calls);
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::ApplyCancel(ObjectId object) {
  Calls& calls = wheel_.PayloadOf(object).calls.Mutable();
  delete std::exchange(calls.unseen, nullptr);
  if (calls.waiting != nullptr) SkipWaiting(object, calls);
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::ApplyComplete(ObjectId object, const Status& status) {
  Slot& slot = wheel_.PayloadOf(object);
  Calls& calls = slot.calls.Mutable();
  SCHEDQ_CHECK(calls.in_flight != nullptr, "only what is in flight can complete");
  CallHolder done(std::exchange(calls.in_flight, nullptr));
  in_flight_.fetch_sub(1);
  metrics_.CountExecution(done->type, status.ok(), options_.clock->Now() - done->started);
  if (calls.waiting != nullptr) {
    const bool is_no_op = status.ok() ? IsNoOpAfter(*done, *calls.waiting) : WaitingIsNoOp(calls);
    if (is_no_op) {
      SkipWaiting(object, calls);
    } else {
      Schedule(object, slot);
    }
  }
  EndOf(*done, status.ok() ? CallEnd::kSuccess : CallEnd::kError, status);
  if (status.ok()) RememberUnseen(std::move(done), calls);
  // Sequentially consistent, as in HasRoom: either that sees the room, or this sees the wish.
  if (waits_for_room_.load() && waits_for_room_.exchange(false)) Wake(0);
}

// The dispatching thread took the object's timer while another thread was here.
template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::ApplyStart(ObjectId object) {
  const Slot& slot = wheel_.PayloadOf(object);
  const Calls& calls = slot.calls.Read();
  if (calls.waiting != nullptr && calls.in_flight == nullptr) Schedule(object, slot);
}

template <template <typename> class Atom, typename Shape>
ApiCall* CallQueue<Atom, Shape>::TakeForFlight(Slot& slot, Tick now) {
  Calls& calls = slot.calls.Mutable();
  if (calls.waiting == nullptr || calls.in_flight != nullptr || slot.due.Read() > now) {
    return nullptr;
  }
  calls.in_flight = std::exchange(calls.waiting, nullptr);
  calls.in_flight->started = options_.clock->Now();
  return calls.in_flight;
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::SkipWaiting(ObjectId object, Calls& calls) {
  wheel_.Cancel(object);
  EndOf(*CallHolder(std::exchange(calls.waiting, nullptr)), CallEnd::kSkipped);
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Schedule(ObjectId object, const Slot& slot) {
  Wake(wheel_.Schedule(object, slot.due.Read(), LaneOf(slot.calls.Read().waiting->type)));
}

template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::WaitingIsNoOp(const Calls& calls) {
  return calls.unseen == nullptr ? IsNoOp(*calls.waiting)
                                 : IsNoOpAfter(*calls.unseen, *calls.waiting);
}

// Keeps what later patches are compared with. Claims are not: they are allocated once.
template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::RememberUnseen(CallHolder done, Calls& calls) {
  if (done->type != CallType::kStatusPatch) return;
  if (calls.unseen != nullptr) Merge(*calls.unseen, done.get());
  if (done->placement.has_value()) done->placement.Mutable().claims.clear();
  delete std::exchange(calls.unseen, nullptr);
  if (!IsNoOp(*done)) calls.unseen = done.release();
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::EndOf(const ApiCall& call, CallEnd end, const Status& status) {
  metrics_.AddPending(call.type, -1);
  metrics_.CountEnd(call.type, end);
  if (call.listener != nullptr) call.listener->OnEnd(call, end, status);
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
    if (!rate_.MayTake(now)) return rate_.NextTick();
    const std::optional<uint32_t> object = wheel_.Take(*lane);
    if (!object || !StartOne(*object, now, start)) continue;
    rate_.Take();
  }
  return kNeverTick;
}

template <template <typename> class Atom, typename Shape>
template <typename Start>
bool CallQueue<Atom, Shape>::StartOne(ObjectId object, Tick now, const Start& start) {
  Slot& slot = wheel_.PayloadOf(object);
  if (!slot.door.TryEnter()) {
    auto note = std::make_unique<Note>();
    note->kind = NoteKind::kStart;
    if (!slot.door.EnterOrLeave(note)) return false;
  }
  const ApiCall* call = TakeForFlight(slot, now);
  if (call != nullptr) in_flight_.fetch_add(1);
  LeaveDoor(object, slot);
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
Tick CallQueue<Atom, Shape>::TickAfter(Instant instant) const {
  return static_cast<Tick>((std::max(instant - epoch_, Duration(0)) + kTick - Duration(1)) / kTick);
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
