// How a call queue's operations change an object's calls; see call_queue.h for the rules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "dispatcher/call_state.h"
#include "dispatcher/timer_wheel/tick_buckets.h"
#include "engine/base/atom.h"
#include "engine/base/log.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"

namespace schedq {

// --- Add ---

template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::IsOutranked(const ApiCall& call, const CallState* by) {
  return by != nullptr && IsLessRelevant(call.type, by->call.type) &&
         IsSamePod(call.pod, by->call.pod);
}

// Whether the call takes anything over.
template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::InheritsFrom(const CallState* waiting, const CallState* in_flight,
                                          const ApiCall& call) {
  if (waiting != nullptr) return !MissesNothing(waiting->call, call);
  return in_flight != nullptr && in_flight->call.type == call.type &&
         !MissesNothing(in_flight->call, call) && IsSamePod(call.pod, in_flight->call.pod);
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline bool CallQueue<Atom, Shape>::TryAdd(Operation& operation,
                                                                  Entry& entry, const View& view,
                                                                  ApiCall& call, Tick due) {
  if (is_closed_.load()) {
    EndOf(call, CallEnd::kSkipped);
    return true;
  }
  const CallState* const waiting = view.waiting;
  const CallState* const in_flight = view.flight;
  if (IsOutranked(call, waiting) || IsOutranked(call, in_flight)) {
    if (!Stamp(entry, view)) return false;
    ArmFor(entry, call.object, view);
    EndOutranked(call);
    return true;
  }
  if (!InheritsFrom(waiting, in_flight, call)) return Place(operation, entry, view, call, due);
  // A copy, because the call is as it was if this must be done again.
  ApiCall merged = call;
  if (waiting != nullptr) {
    InheritWhatIsMissing(waiting->call, &merged);
  } else {
    MergeWhatIsMissing(in_flight->call, &merged);
  }
  return Place(operation, entry, view, merged, due);
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline bool CallQueue<Atom, Shape>::Place(Operation& operation, Entry& entry,
                                                                 const View& view, ApiCall& call,
                                                                 Tick due) {
  const CallState* const waiting = view.waiting;
  if (view.flight == nullptr && IsNoOpNow(call, view.unseen)) {
    return DropNoOp(operation, entry, view, call);
  }
  if (waiting != nullptr && waiting->call.type == call.type &&
      waiting->due <= std::max(due, wheel_.now())) {
    // An earlier deadline stays, and so does the place in its lane of a call that is due already.
    due = waiting->due;
  }
  const ObjectId object = call.object;
  const CallType type = call.type;
  const bool is_plain = view.calls.flight + view.calls.unseen == 0 && call.listener == nullptr;
  const uint32_t made = operation.Make(std::move(call), due, view.calls.flight, view.calls.unseen);
  const CallWord after = is_plain ? CallWord::Plain(type, made) : CallWord(CallStage::kWaits, made);
  if (!ExchangeCalls(entry, view.word, after)) {
    call = std::move(calls_.Private(made).call);
    operation.Discard(made);
    return false;
  }
  if (view.flight == nullptr) Arm(entry, object, due, type);
  if (is_closed_.load()) Cancel(object);
  if (waiting != nullptr) {
    EndWaiting(*waiting, CallEnd::kOverwritten);
    operation.Retire(view.calls.waiting);
  }
  if (view.word.stage() == CallStage::kApart) operation.Retire(view.word.number());
  return true;
}

// The call changes nothing, so none waits any more.
template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] bool CallQueue<Atom, Shape>::DropNoOp(Operation& operation, Entry& entry,
                                                        const View& view, const ApiCall& call) {
  if (view.waiting == nullptr) {
    if (!Stamp(entry, view)) return false;
  } else {
    if (!Replace(operation, entry, view, {.unseen = view.calls.unseen})) return false;
    EndWaiting(*view.waiting, CallEnd::kOverwritten);
    operation.Retire(view.calls.waiting);
  }
  EndOf(call, CallEnd::kSkipped);
  return true;
}

// --- Sync and Cancel ---

template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::TrySync(Operation& operation, ObjectId object, Entry& entry,
                                     const PodRef& pod) {
  const View view = Look(operation, entry);
  ArmFor(entry, object, view);
  const CallState* const waiting = view.waiting;
  CallNumbers next = view.calls;
  next.unseen = SyncUnseen(operation, view.calls.unseen, pod);
  const bool is_same = waiting != nullptr && IsSamePod(waiting->call.pod, pod);
  const bool is_newer = is_same && waiting->call.pod != pod;
  bool is_no_op = false;
  if (is_newer || (waiting != nullptr && next.unseen != view.calls.unseen)) {
    CallState synced{waiting->call, waiting->due, next.flight, next.unseen};
    if (is_same) synced.call.pod = pod;
    is_no_op = is_same && next.flight == 0 && IsNoOpNow(synced.call, StateOf(next.unseen));
    next.waiting = is_no_op ? 0 : operation.Make(std::move(synced));
  }
  if (next.waiting == view.calls.waiting && next.unseen == view.calls.unseen) return true;
  if (!Replace(operation, entry, view, next)) {
    DiscardNew(operation, view.calls, next);
    return false;
  }
  if (is_no_op) EndWaiting(*waiting, CallEnd::kSkipped);
  RetireOld(operation, view.calls, next);
  return true;
}

// What succeeded, as the object was seen with it; none if there is nothing left that was not seen.
template <template <typename> class Atom, typename Shape>
uint32_t CallQueue<Atom, Shape>::SyncUnseen(Operation& operation, uint32_t unseen,
                                            const PodRef& pod) {
  const CallState* const before = StateOf(unseen);
  if (before == nullptr) return 0;
  if (before->call.pod == pod) return unseen;
  if (!IsSamePod(before->call.pod, pod)) return 0;
  CallState synced{before->call, 0, 0, 0};
  synced.call.pod = pod;
  return IsNoOp(synced.call) ? 0 : operation.Make(std::move(synced));
}

template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::TryCancel(Operation& operation, Entry& entry, CallWord word) {
  // Also if there is nothing to skip the word changes: an addition that asked before is overtaken.
  if (word.stage() == CallStage::kNone) return ExchangeCalls(entry, word, CallWord());
  if (word.is_plain()) {
    // All is said, so the call need not be read. If another call has the number meanwhile and its
    // word is the same, that one is skipped.
    if (!ExchangeCalls(entry, word, CallWord())) return false;
    metrics_.CountEnd(word.type(), CallEnd::kSkipped);
    calls_.Prefetch(word.number());  // It is destroyed some calls later.
    operation.Retire(word.number());
    return true;
  }
  const View view = Look(operation, entry);
  if (view.word != word) return false;
  const CallNumbers next = {.flight = view.calls.flight};
  if (!Replace(operation, entry, view, next)) return false;
  if (view.calls.waiting != 0) EndWaiting(calls_[view.calls.waiting], CallEnd::kSkipped);
  RetireOld(operation, view.calls, next);
  return true;
}

// --- Complete ---

template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::TryComplete(Operation& operation, ObjectId object, Entry& entry,
                                         const Status& status) {
  const View view = Look(operation, entry);
  if (view.calls.flight == 0) {
    ArmFor(entry, object, view);
    RefuseToComplete(object);
    return true;
  }
  CallNumbers next;
  next.unseen = status.ok() ? UnseenAfter(operation, view.calls) : view.calls.unseen;
  if (view.calls.waiting != 0) {
    next.waiting = WaitingAfter(operation, view.calls, status.ok(), next.unseen);
  }
  if (!Replace(operation, entry, view, next)) {
    DiscardNew(operation, view.calls, next);
    return false;
  }
  in_flight_.fetch_sub(1);
  // Sequentially consistent, as in HasRoom: either HasRoom sees the room, or this load sees that
  // the dispatching thread waits for it. That thread takes the wish back, so that each thread that
  // makes room wakes it.
  if (waits_for_room_.load()) Wake(0);
  if (next.waiting != 0) {
    const CallState& waiting = calls_[view.calls.waiting];
    Arm(entry, object, waiting.due, waiting.call.type);
  } else if (view.calls.waiting != 0) {
    EndWaiting(calls_[view.calls.waiting], CallEnd::kSkipped);
  }
  const Instant started{Duration(LoadRelaxed(calls_.NoteOf(view.calls.flight)))};
  EndInFlight(calls_[view.calls.flight], started, status);
  RetireOld(operation, view.calls, next);
  return true;
}

// What later patches are compared with. Claims are not kept: they are allocated once.
template <template <typename> class Atom, typename Shape>
uint32_t CallQueue<Atom, Shape>::UnseenAfter(Operation& operation, const CallNumbers& calls) {
  const ApiCall& done = calls_[calls.flight].call;
  if (done.type != CallType::kStatusPatch) return calls.unseen;
  CallState kept{done, 0, 0, 0};
  const CallState* const unseen = StateOf(calls.unseen);
  if (unseen != nullptr && IsSamePod(unseen->call.pod, done.pod)) Merge(unseen->call, &kept.call);
  if (kept.call.placement.has_value()) kept.call.placement.Mutable().claims.clear();
  return IsNoOp(kept.call) ? 0 : operation.Make(std::move(kept));
}

// The waiting call after the end of the one in flight; none if it changes nothing any more.
template <template <typename> class Atom, typename Shape>
uint32_t CallQueue<Atom, Shape>::WaitingAfter(Operation& operation, const CallNumbers& calls,
                                              bool is_ok, uint32_t unseen) {
  const ApiCall& done = calls_[calls.flight].call;
  const CallState& before = calls_[calls.waiting];
  CallState after{before.call, before.due, 0, unseen};
  const bool is_done = is_ok && IsSamePod(done.pod, after.call.pod);
  // The event of a condition that it inherited from `done` went out with `done`.
  if (is_done && after.call.condition == done.condition) after.call.sends_event = false;
  const bool is_no_op =
      is_done ? IsNoOpAfter(done, after.call) : IsNoOpNow(after.call, StateOf(calls.unseen));
  return is_no_op ? 0 : operation.Make(std::move(after));
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::EndInFlight(const CallState& done, Instant started,
                                         const Status& status) {
  const CallType type = done.call.type;
  metrics_.CountExecution(type, status.ok(), options_.clock->Now() - started);
  if (!status.ok()) {
    SCHEDQ_LOG(kWarning, "API call {} for pod {} failed: {}", CallTypeName(type),
               PodNameOf(done.call), status.error().message());
  }
  EndExecuted(done.call, status);
}

}  // namespace schedq
