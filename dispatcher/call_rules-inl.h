// How a call queue's operations change an object's calls; see call_queue.h for the rules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
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
                                                                  Entry& entry, CallWord word,
                                                                  ApiCall& call, Tick due) {
  // A call that waits alone, and is not more relevant, has nothing that this one could inherit.
  const bool is_first = word.stage() == CallStage::kNone;
  const bool overwrites = word.waits_alone() && !IsLessRelevant(call.type, word.type()) &&
                          call.condition.kind != ConditionPatch::Kind::kKeep;
  if (!(is_first || overwrites) || is_closed_.load() || IsNoOp(call)) {
    return TryAddAmid(operation, entry, word, call, due);
  }
  if (overwrites && word.type() == call.type) {
    const Tick was_due = DueOf(word.number());
    if (was_due <= std::max(due, wheel_.now())) due = was_due;
  }
  if (!Put(operation, entry, word, {}, call, due)) return false;
  if (overwrites) EndAlone(operation, word, CallEnd::kOverwritten);
  return true;
}

// Whatever the object's calls are.
template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] bool CallQueue<Atom, Shape>::TryAddAmid(Operation& operation, Entry& entry,
                                                          CallWord word, ApiCall& call, Tick due) {
  if (is_closed_.load()) {
    EndOf(call, CallEnd::kSkipped);
    return true;
  }
  const std::optional<View> view = LookAt(operation, entry, word);
  if (!view) return false;
  const CallState* const waiting = view->waiting;
  const CallState* const in_flight = view->flight;
  if (IsOutranked(call, waiting) || IsOutranked(call, in_flight)) {
    if (!Stamp(entry, *view)) return false;
    ArmFor(entry, call.object, *view);
    EndOutranked(call);
    return true;
  }
  if (!InheritsFrom(waiting, in_flight, call)) return Place(operation, entry, *view, call, due);
  // A copy, because the call is as it was if this must be done again.
  ApiCall merged = call;
  if (waiting != nullptr) {
    InheritWhatIsMissing(waiting->call, &merged);
  } else {
    MergeWhatIsMissing(in_flight->call, &merged);
  }
  return Place(operation, entry, *view, merged, due);
}

template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::Place(Operation& operation, Entry& entry, const View& view,
                                   ApiCall& call, Tick due) {
  const CallState* const waiting = view.waiting;
  if (view.flight == nullptr && IsNoOpNow(call, view.unseen)) {
    return DropNoOp(operation, entry, view, call);
  }
  if (waiting != nullptr && waiting->call.type == call.type) {
    // An earlier deadline stays, and so does the place in its lane of a call that is due already.
    const Tick was_due = DueOf(view.calls.waiting);
    if (was_due <= std::max(due, wheel_.now())) due = was_due;
  }
  const CallNumbers others = {.flight = view.calls.flight, .unseen = view.calls.unseen};
  if (!Put(operation, entry, view.word, others, call, due)) return false;
  if (waiting != nullptr) {
    EndWaiting(*waiting, CallEnd::kOverwritten);
    operation.Retire(view.calls.waiting);
  }
  if (view.word.stage() == CallStage::kApart) operation.Retire(view.word.number());
  return true;
}

// Makes the call wait in place of what waited. If it does not, the call is as it was.
template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline bool CallQueue<Atom, Shape>::Put(Operation& operation, Entry& entry,
                                                               CallWord word, CallNumbers others,
                                                               ApiCall& call, Tick due) {
  const ObjectId object = call.object;
  const CallType type = call.type;
  const CallWord after(CallWord::StageOf(call, others.flight | others.unseen), 0, type);
  const uint32_t made =
      operation.MakeNoted(due, std::move(call), uint32_t{others.flight}, uint32_t{others.unseen});
  if (!ExchangeCalls(entry, word, after.WithNumber(made))) {
    TakeBack(operation, made, call);
    return false;
  }
  if (others.flight == 0) Arm(entry, object, due, type);
  if (is_closed_.load()) Cancel(object);
  return true;
}

template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] void CallQueue<Atom, Shape>::TakeBack(Operation& operation, uint32_t number,
                                                        ApiCall& call) {
  call = std::move(calls_.Private(number).call);
  operation.Discard(number);
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

// A call that waits alone is not copied: a state that only says what was seen leads to it.
template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline bool CallQueue<Atom, Shape>::TrySync(Operation& operation,
                                                                   ObjectId object, Entry& entry,
                                                                   const PodRef& pod) {
  const CallWord word = LoadCalls(entry);
  if (!word.waits_alone() || pod == nullptr) return TrySyncAmid(operation, object, entry, pod);
  operation.Guard(0, word.number());
  if (LoadCalls(entry) != word) return false;
  const CallState& named = calls_[word.number()];
  uint32_t number = word.number();
  if (word.is_synced()) {
    number = named.flight;
    operation.Guard(1, number);
    if (LoadCalls(entry) != word) return false;
  }
  const Tick due = DueOf(word.number());
  Arm(entry, object, due, word.type());
  if (named.call.pod == pod || !IsSamePodByUid(named.call.pod, pod)) return true;
  const bool is_patch = word.type() == CallType::kStatusPatch;
  if (is_patch && ConditionIsNoOp(calls_[number].call.condition, *pod)) {
    if (!ExchangeCalls(entry, word, CallWord())) return false;
    EndAlone(operation, word, CallEnd::kSkipped);
    return true;
  }
  const uint32_t made = operation.MakeNoted(due, pod, number);
  if (!ExchangeCalls(entry, word, word.Synced(made))) {
    operation.Discard(made);
    return false;
  }
  if (word.is_synced()) operation.Retire(word.number());
  return true;
}

// Whatever the object's calls are.
template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] bool CallQueue<Atom, Shape>::TrySyncAmid(Operation& operation, ObjectId object,
                                                           Entry& entry, const PodRef& pod) {
  const View view = Look(operation, entry);
  ArmFor(entry, object, view);
  const CallState* const waiting = view.waiting;
  CallNumbers next = view.calls;
  next.unseen = SyncUnseen(operation, view.calls.unseen, pod);
  const bool is_same = waiting != nullptr && IsSamePod(waiting->call.pod, pod);
  const bool is_newer = is_same && waiting->call.pod != pod;
  bool is_no_op = false;
  if (is_newer || (waiting != nullptr && next.unseen != view.calls.unseen)) {
    ApiCall synced = waiting->call;
    if (is_same) synced.pod = pod;
    is_no_op = is_same && next.flight == 0 && IsNoOpNow(synced, StateOf(next.unseen));
    const Tick due = DueOf(view.calls.waiting);
    next.waiting =
        is_no_op ? 0 : operation.MakeNoted(due, std::move(synced), next.flight, next.unseen);
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
  ApiCall synced = before->call;
  synced.pod = pod;
  return IsNoOp(synced) ? 0 : operation.Make(std::move(synced), 0u, 0u);
}

template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::TryCancel(Operation& operation, Entry& entry, CallWord word) {
  // Also if there is nothing to skip the word changes: an addition that asked before is overtaken.
  if (word.stage() == CallStage::kNone) return ExchangeCalls(entry, word, CallWord());
  if (!word.waits_alone()) return TryCancelAmid(operation, entry, word);
  if (!ExchangeCalls(entry, word, CallWord())) return false;
  calls_.Prefetch(word.number());  // It is destroyed some calls later.
  EndAlone(operation, word, CallEnd::kSkipped);
  return true;
}

// Whatever the object's calls are.
template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] bool CallQueue<Atom, Shape>::TryCancelAmid(Operation& operation, Entry& entry,
                                                             CallWord word) {
  const std::optional<View> view = LookAt(operation, entry, word);
  if (!view) return false;
  const CallNumbers next = {.flight = view->calls.flight};
  if (!Replace(operation, entry, *view, next)) return false;
  if (view->calls.waiting != 0) EndWaiting(calls_[view->calls.waiting], CallEnd::kSkipped);
  RetireOld(operation, view->calls, next);
  return true;
}

// --- Complete ---

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline bool CallQueue<Atom, Shape>::TryComplete(Operation& operation,
                                                                       ObjectId object,
                                                                       Entry& entry,
                                                                       const Status& status) {
  const CallWord word = LoadCalls(entry);
  // What a patch has changed is to be remembered.
  if (word.stage() != CallStage::kFliesAlone || status.ok()) {
    return TryCompleteAmid(operation, object, entry, word, status);
  }
  if (!ExchangeCalls(entry, word, CallWord())) return false;
  EndInFlight(word.number(), status);
  operation.Retire(word.number());
  return true;
}

// Whatever the object's calls are.
template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] bool CallQueue<Atom, Shape>::TryCompleteAmid(Operation& operation,
                                                               ObjectId object, Entry& entry,
                                                               CallWord word,
                                                               const Status& status) {
  const std::optional<View> view = LookAt(operation, entry, word);
  if (!view) return false;
  if (view->calls.flight == 0) {
    ArmFor(entry, object, *view);
    RefuseToComplete(object);
    return true;
  }
  const CallNumbers& calls = view->calls;
  CallNumbers next;
  next.unseen = status.ok() ? UnseenAfter(operation, calls) : calls.unseen;
  if (calls.waiting != 0) next.waiting = WaitingAfter(operation, calls, status.ok(), next.unseen);
  if (!Replace(operation, entry, *view, next)) {
    DiscardNew(operation, calls, next);
    return false;
  }
  const CallState* const waiting = StateOf(calls.waiting);
  if (next.waiting != 0) Arm(entry, object, DueOf(calls.waiting), waiting->call.type);
  if (waiting != nullptr && next.waiting == 0) EndWaiting(*waiting, CallEnd::kSkipped);
  EndInFlight(calls.flight, status);
  RetireOld(operation, calls, next);
  return true;
}

// What later patches are compared with. Claims are not kept: they are allocated once.
template <template <typename> class Atom, typename Shape>
uint32_t CallQueue<Atom, Shape>::UnseenAfter(Operation& operation, const CallNumbers& calls) {
  const ApiCall& done = calls_[calls.flight].call;
  if (done.type != CallType::kStatusPatch) return calls.unseen;
  ApiCall kept = done;
  const CallState* const unseen = StateOf(calls.unseen);
  if (unseen != nullptr && IsSamePod(unseen->call.pod, done.pod)) Merge(unseen->call, &kept);
  if (kept.placement.has_value()) kept.placement.Mutable().claims.clear();
  return IsNoOp(kept) ? 0 : operation.Make(std::move(kept), 0u, 0u);
}

// The waiting call after the end of the one in flight; none if it changes nothing any more.
template <template <typename> class Atom, typename Shape>
uint32_t CallQueue<Atom, Shape>::WaitingAfter(Operation& operation, const CallNumbers& calls,
                                              bool is_ok, uint32_t unseen) {
  const ApiCall& done = calls_[calls.flight].call;
  const CallState& before = calls_[calls.waiting];
  ApiCall after = before.call;
  const bool is_done = is_ok && IsSamePod(done.pod, after.pod);
  // The event of a condition that it inherited from `done` went out with `done`.
  if (is_done && after.condition == done.condition) after.sends_event = false;
  const bool is_no_op =
      is_done ? IsNoOpAfter(done, after) : IsNoOpNow(after, StateOf(calls.unseen));
  if (is_no_op) return 0;
  return operation.MakeNoted(DueOf(calls.waiting), std::move(after), 0u, unseen);
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::EndInFlight(uint32_t number, const Status& status) {
  ended_.fetch_add(1);
  // Sequentially consistent, as in HasRoom: either HasRoom sees the room, or this load sees that
  // the dispatching thread waits for it. That thread takes the wish back, so that each thread that
  // makes room wakes it.
  if (waits_for_room_.load()) Wake(0);
  const ApiCall& done = calls_[number].call;
  const Instant started{Duration(LoadRelaxed(calls_.NoteOf(number, kStartedNote)))};
  metrics_.CountExecution(done.type, status.ok(), options_.clock->Now() - started);
  if (!status.ok()) {
    SCHEDQ_LOG(kWarning, "API call {} for pod {} failed: {}", CallTypeName(done.type),
               PodNameOf(done), status.error().message());
  }
  EndExecuted(done, status);
}

}  // namespace schedq
