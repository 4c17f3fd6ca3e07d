// The implementation of CallQueue; see call_queue.h.
#pragma once

#include <algorithm>
#include <exception>
#include <utility>

#include "dispatcher/call_queue.h"
#include "dispatcher/timer_wheel/tick_buckets.h"
#include "engine/base/atom.h"
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
  Operation operation(calls_);
  for (ObjectId object = 0; object < used_.load(); ++object) {
    Entry& entry = wheel_.EntryOf(object);
    const CallWord word = LoadCalls(entry);
    const CallNumbers calls = NumbersOf(word);
    // Before the listener is told, because it may use the queue.
    SCHEDQ_CHECK(ExchangeCalls(entry, word, CallWord()), "no other thread is in the queue");
    if (calls.flight != 0) {
      EndExecuted(calls_[calls.flight].call,
                  Error("the call queue was destroyed while the call was in flight"));
    }
    DiscardNew(operation, {}, calls);
    if (word.stage() == CallStage::kApart) operation.Discard(word.number());
  }
}

// --- From any thread ---

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Prefetch(ObjectId object) const {
  if (object >= used_.load()) return;
  // Relaxed: a number that is stale prefetches in vain.
  const CallWord word(LoadRelaxed(wheel_.EntryOf(object).payload.calls));
  if (word.number() != 0) calls_.Prefetch(word.number());
}

template <template <typename> class Atom, typename Shape>
template <typename IsWanted>
[[gnu::always_inline]] inline bool CallQueue<Atom, Shape>::AddIf(ApiCall&& call,
                                                                 const IsWanted& is_wanted) {
  // First, while the object's lines are still being fetched.
  metrics_.CountAdded(call.type);
  const Tick due = call.delay <= Duration(0) ? 0 : TickAfter(options_.clock->Now(), call.delay);
  Entry& entry = EntryOf(call.object);
  Operation operation(calls_);
  // Each further round means that another thread's exchange succeeded.
  for (;;) {
    const CallWord word = LoadCalls(entry);
    if (!is_wanted()) {
      metrics_.CountEnd(call.type, CallEnd::kSkipped);
      return false;
    }
    if (TryAdd(operation, entry, word, call, due)) return true;
  }
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Sync(ObjectId object, const PodRef& pod) {
  if (object >= used_.load()) return;
  Entry& entry = wheel_.EntryOf(object);
  if (LoadCalls(entry).stage() == CallStage::kNone) return;
  Operation operation(calls_);
  while (!TrySync(operation, object, entry, pod)) {
  }
}

template <template <typename> class Atom, typename Shape>
template <typename IsWanted>
bool CallQueue<Atom, Shape>::CancelIf(ObjectId object, const IsWanted& is_wanted) {
  if (object >= used_.load()) return true;
  Entry& entry = wheel_.EntryOf(object);
  Operation operation(calls_);
  for (;;) {
    const CallWord word = LoadCalls(entry);
    if (!is_wanted()) return false;
    if (TryCancel(operation, entry, word)) return true;
  }
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Complete(ObjectId object, const Status& status) {
  if (object >= used_.load()) return RefuseToComplete(object);
  Entry& entry = wheel_.EntryOf(object);
  Operation operation(calls_);
  while (!TryComplete(operation, object, entry, status)) {
  }
}

// A thread that places a call looks at the flag afterwards, and this one looks at the object after
// it has set the flag: at least one of them sees what the other did, and skips the call. A call
// whose thread is frozen in between is skipped by the dispatching thread. The same holds for a slot
// that is made after `used_` was read here.
template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::Close() {
  is_closed_.store(true);
  const uint64_t used = used_.load();
  for (uint64_t object = 0; object < used; ++object) {
    const CallWord word = LoadCalls(wheel_.EntryOf(static_cast<ObjectId>(object)));
    if (word.stage() != CallStage::kNone) Cancel(static_cast<ObjectId>(object));
  }
}

// A thread whose exchange this thread has seen was in its operation then, or has ended it.
template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::HasSkippedAll() {
  const uint32_t threads = calls_.Threads();
  for (; threads_done_ < threads; ++threads_done_) {
    const uint64_t seen = std::exchange(operation_seen_, calls_.OperationsOf(threads_done_));
    const bool is_in_one = operation_seen_ % 2 != 0;
    // Another count than before: that operation has ended.
    if (is_in_one && (seen == 0 || seen == operation_seen_)) return false;
    operation_seen_ = 0;
  }
  return true;
}

// --- An object's calls ---

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
typename CallQueue<Atom, Shape>::View CallQueue<Atom, Shape>::Look(Operation& operation,
                                                                   Entry& entry) {
  // Each further round means that another thread's exchange succeeded.
  for (;;) {
    const std::optional<View> view = LookAt(operation, entry, LoadCalls(entry));
    if (view) return *view;
  }
}

template <template <typename> class Atom, typename Shape>
std::optional<typename CallQueue<Atom, Shape>::View> CallQueue<Atom, Shape>::LookAt(
    Operation& operation, Entry& entry, CallWord word) {
  if (word.stage() == CallStage::kNone) return ViewOf(word);
  operation.Guard(0, word.number());
  if (LoadCalls(entry) != word) return std::nullopt;
  if (word.is_synced()) {
    UniteSynced(operation, entry, word);
    return std::nullopt;
  }
  if (word.is_alone()) return ViewOf(word);
  const CallNumbers calls = NumbersOf(word);
  if (calls.flight != 0) operation.Guard(1, calls.flight);
  if (calls.unseen != 0) operation.Guard(2, calls.unseen);
  if (LoadCalls(entry) != word) return std::nullopt;
  return ViewOf(word);
}

// Its state is guarded.
template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::UniteSynced(Operation& operation, Entry& entry, CallWord word) {
  const CallState& seen = calls_[word.number()];
  const uint32_t number = seen.flight;
  operation.Guard(1, number);
  if (LoadCalls(entry) != word) return;
  ApiCall united = calls_[number].call;
  united.pod = seen.call.pod;
  const CallWord waits(CallWord::StageOf(united, 0), 0, united.type);
  const uint32_t made = operation.MakeNoted(DueOf(word.number()), std::move(united), 0u, 0u);
  if (!ExchangeCalls(entry, word, waits.WithNumber(made))) return operation.Discard(made);
  operation.Retire(number);
  operation.Retire(word.number());
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline typename CallQueue<Atom, Shape>::View CallQueue<Atom, Shape>::ViewOf(
    CallWord word) const {
  const CallNumbers calls = NumbersOf(word);
  return {word, calls, StateOf(calls.waiting), StateOf(calls.flight), StateOf(calls.unseen)};
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline CallNumbers CallQueue<Atom, Shape>::NumbersOf(CallWord word) const {
  const uint32_t number = word.number();
  switch (word.stage()) {
    case CallStage::kNone:
    case CallStage::kWaitsSynced:
    case CallStage::kWaitsSyncedTold:
      break;
    case CallStage::kWaitsAlone:
    case CallStage::kWaitsAloneTold:
      return {.waiting = number};
    case CallStage::kWaits:
      return {number, calls_[number].flight, calls_[number].unseen};
    case CallStage::kFliesAlone:
      return {.flight = number};
    case CallStage::kInFlight:
      return {0, number, calls_[number].unseen};
    case CallStage::kUnseen:
      return {0, 0, number};
    case CallStage::kApart:
      return {0, calls_[number].flight, calls_[number].unseen};
  }
  return {};
}

// A waiting call was made with the numbers of the others.
template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline CallWord CallQueue<Atom, Shape>::WordOf(Operation& operation,
                                                                      const CallNumbers& next) {
  if (next.waiting != 0) {
    const ApiCall& waiting = calls_[next.waiting].call;
    const CallStage stage = CallWord::StageOf(waiting, next.flight | next.unseen);
    return {stage, next.waiting, waiting.type};
  }
  if (next.flight == 0) {
    return next.unseen == 0 ? CallWord() : CallWord(CallStage::kUnseen, next.unseen);
  }
  if (calls_[next.flight].unseen == next.unseen) {
    const CallStage stage = next.unseen == 0 ? CallStage::kFliesAlone : CallStage::kInFlight;
    return {stage, next.flight};
  }
  const uint32_t apart = operation.Make(ApiCall(), next.flight, next.unseen);
  return {CallStage::kApart, apart};
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline bool CallQueue<Atom, Shape>::Replace(Operation& operation,
                                                                   Entry& entry, const View& view,
                                                                   const CallNumbers& next) {
  const CallWord after = WordOf(operation, next);
  const bool is_replaced = ExchangeCalls(entry, view.word, after);
  if (is_replaced && view.word.stage() == CallStage::kApart) operation.Retire(view.word.number());
  if (!is_replaced && after.stage() == CallStage::kApart) operation.Discard(after.number());
  return is_replaced;
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::RetireOld(Operation& operation, const CallNumbers& before,
                                       const CallNumbers& next) {
  for (const uint32_t number : {before.waiting, before.flight, before.unseen}) {
    if (number != 0 && !next.Has(number)) operation.Retire(number);
  }
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::DiscardNew(Operation& operation, const CallNumbers& before,
                                        const CallNumbers& next) {
  for (const uint32_t number : {next.waiting, next.flight, next.unseen}) {
    if (number != 0 && !before.Has(number)) operation.Discard(number);
  }
}

// --- What follows ---

// The wake-up is part of it: see ArmBy.
template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline void CallQueue<Atom, Shape>::Arm(Entry& entry, ObjectId object,
                                                               Tick due, CallType type) {
  wheel_.ArmBy(object, entry, due, LaneOf(type), [this](Tick tick) { Wake(tick); });
}

// For an operation that relies on the call that waits: the thread that made it wait may be stopped.
template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::ArmFor(Entry& entry, ObjectId object, const View& view) {
  if (view.waiting == nullptr || view.flight != nullptr) return;
  Arm(entry, object, DueOf(view.calls.waiting), view.waiting->call.type);
}

template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::IsNoOpNow(const CallContent& call, const CallState* unseen) {
  const bool is_unseen = unseen != nullptr && IsSamePod(unseen->call.pod, call.pod);
  return is_unseen ? IsNoOpAfter(unseen->call, call) : IsNoOp(call);
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline void CallQueue<Atom, Shape>::EndWaiting(const CallState& waiting,
                                                                      CallEnd end) {
  if (waiting.call.listener != nullptr) return EndOf(waiting.call, end);
  metrics_.CountEnd(waiting.call.type, end);
}

template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline void CallQueue<Atom, Shape>::EndAlone(Operation& operation,
                                                                    CallWord word, CallEnd end) {
  if (word.is_synced()) return EndSynced(operation, word, end);
  if (word.is_told()) {
    EndOf(calls_[word.number()].call, end);
  } else {
    metrics_.CountEnd(word.type(), end);
  }
  operation.Retire(word.number());
}

template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] void CallQueue<Atom, Shape>::EndSynced(Operation& operation, CallWord word,
                                                         CallEnd end) {
  const CallState& seen = calls_[word.number()];
  if (word.is_told()) {
    ApiCall call = calls_[seen.flight].call;
    call.pod = seen.call.pod;
    EndOf(call, end);
  } else {
    metrics_.CountEnd(word.type(), end);
  }
  operation.Retire(seen.flight);
  operation.Retire(word.number());
}

template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] void CallQueue<Atom, Shape>::RefuseToComplete(ObjectId object) {
  SCHEDQ_LOG(kWarning, "an API call of object {} was answered, and none is in flight", object);
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::EndOf(const ApiCall& call, CallEnd end, const Status& status) {
  metrics_.CountEnd(call.type, end);
  if (call.listener == nullptr) return;
  Contain("a listener", [&] { call.listener->OnEnd(call, end, status); });
}

template <template <typename> class Atom, typename Shape>
[[gnu::noinline]] void CallQueue<Atom, Shape>::EndOutranked(const ApiCall& call) {
  EndOf(call, CallEnd::kSkipped, Error("a more relevant call is under way"));
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::EndExecuted(const ApiCall& call, const Status& status) {
  EndOf(call, status.ok() ? CallEnd::kSuccess : CallEnd::kError, status);
  if (!call.placement.has_value()) return;
  const Predecessor& before = call.placement->predecessor;
  if (before.listener == nullptr) return;
  Contain("a listener", [&] { before.listener->OnSuccessorEnd(call, before.tag, status); });
}

// An exception that left an operation halfway would leave undone what others rely on. False: there
// was one.
template <template <typename> class Atom, typename Shape>
template <typename Act>
bool CallQueue<Atom, Shape>::Contain(const char* whose, const Act& act) const {
  try {
    act();
    return true;
  } catch (const std::exception& error) {
    if (options_.on_exception) {
      options_.on_exception();
    } else {
      SCHEDQ_LOG(kError, "{} of an API call threw an exception: {}", whose, error.what());
    }
  } catch (...) {
    if (options_.on_exception) {
      options_.on_exception();
    } else {
      SCHEDQ_LOG(kError, "{} of an API call threw an exception", whose);
    }
  }
  return false;
}

// --- Dispatching ---

template <template <typename> class Atom, typename Shape>
template <typename Start>
std::optional<Instant> CallQueue<Atom, Shape>::Dispatch(Instant now, const Start& start) {
  const std::optional<Tick> next =
      wheel_.Pump(TickAt(now), [&](Tick at) { return StartDue(at, start); });
  if (!next) return std::nullopt;
  return InstantOf(*next);
}

template <template <typename> class Atom, typename Shape>
template <typename Start>
Tick CallQueue<Atom, Shape>::StartDue(Tick now, const Start& start) {
  // Each round takes a timer out of its lane, or an event off those that are owed.
  for (;;) {
    if (SendsEventNext()) {
      if (!rate_.HasToken(now)) return rate_.NextTick();
      rate_.SpendToken();
      --events_owed_;
      continue;
    }
    const std::optional<uint32_t> lane = ChooseLane();
    if (!lane || !HasRoom()) return kNeverTick;
    if (!rate_.HasToken(now)) return rate_.NextTick();
    const std::optional<uint32_t> object = wheel_.PopDue(*lane);
    if (!object || !StartOne(*object, *lane, now, start)) continue;
    rate_.SpendToken();
  }
}

template <template <typename> class Atom, typename Shape>
bool CallQueue<Atom, Shape>::SendsEventNext() const {
  if (events_owed_ == 0) return false;
  for (uint32_t lane = 0; lane < kPatchLane; ++lane) {
    if (!wheel_.LaneIsEmpty(lane)) return false;
  }
  return true;
}

template <template <typename> class Atom, typename Shape>
Instant CallQueue<Atom, Shape>::TakeToken(Instant now) {
  const Tick tick = TickAt(now);
  const Tick at = rate_.Reserve(tick);
  return at <= tick ? now : InstantOf(at);
}

template <template <typename> class Atom, typename Shape>
void CallQueue<Atom, Shape>::TakeEventToken(Instant now) {
  if (events_owed_ != 0 || !rate_.HasToken(TickAt(now))) {
    ++events_owed_;
  } else {
    rate_.SpendToken();
  }
}

template <template <typename> class Atom, typename Shape>
template <typename Start>
bool CallQueue<Atom, Shape>::StartOne(ObjectId object, uint32_t lane, Tick now,
                                      const Start& start) {
  const ApiCall* const call = TakeForFlight(object, lane, now);
  if (call == nullptr) return false;
  starts_since_patch_ = call->type == CallType::kStatusPatch ? 0 : starts_since_patch_ + 1;
  if (call->sends_event && !options_.events_have_client) ++events_owed_;
  if (!Contain("the start", [&] { start(*call); })) {
    Complete(object, Error("the call could not be started"));
  }
  return true;
}

// The object's timer was in this lane and came due. Its call may be due later, or in another lane,
// or beyond the wheel's horizon; or it has gone.
template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline const ApiCall* CallQueue<Atom, Shape>::TakeForFlight(ObjectId object,
                                                                                   uint32_t lane,
                                                                                   Tick now) {
  Entry& entry = wheel_.EntryOf(object);
  // Relaxed: only this thread writes it.
  const uint32_t started = LoadRelaxed(started_);
  // Each further round means that another thread's exchange succeeded.
  for (;;) {
    const CallWord word = LoadCalls(entry);
    const std::optional<Candidate> candidate = CandidateOf(entry, word);
    if (!candidate) continue;
    const uint32_t number = candidate->number;
    if (number == 0) return nullptr;
    if (candidate->due > now || lane != LaneOf(candidate->type)) {
      Arm(entry, object, candidate->due, candidate->type);
      return nullptr;
    }
    if (is_closed_.load()) {
      Cancel(object);
      return nullptr;
    }
    SetStarted(number);
    // Before the exchange, so that none has ended that has not started. Relaxed: see InFlight,
    // which other threads may find stale.
    StoreRelaxed(started_, started + 1);
    if (ExchangeCalls(entry, word, {candidate->stage, number})) return &calls_[number].call;
    StoreRelaxed(started_, started);
  }
}

// Nullopt: the calls have changed.
template <template <typename> class Atom, typename Shape>
[[gnu::always_inline]] inline std::optional<typename CallQueue<Atom, Shape>::Candidate>
CallQueue<Atom, Shape>::CandidateOf(Entry& entry, CallWord word) {
  if (word.waits_alone() && !word.is_synced()) {
    const Tick due = DueOf(word.number());
    // Another look, so that the tick is not that of a newer call.
    if (LoadCalls(entry) != word) return std::nullopt;
    return Candidate{word.number(), word.type(), due};
  }
  Operation operation(calls_);
  const std::optional<View> view = LookAt(operation, entry, word);
  if (!view) return std::nullopt;
  if (view->waiting == nullptr || view->flight != nullptr) return Candidate{};
  const CallStage stage = view->unseen == nullptr ? CallStage::kFliesAlone : CallStage::kInFlight;
  const uint32_t number = view->calls.waiting;
  return Candidate{number, view->waiting->call.type, DueOf(number), stage};
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
  if (InFlight() >= options_.in_flight_max) {
    waits_for_room_.store(true);
    if (InFlight() >= options_.in_flight_max) return false;
  }
  // Relaxed: only this thread writes it.
  if (LoadRelaxed(waits_for_room_)) waits_for_room_.store(false);
  return true;
}

// --- Time ---

template <template <typename> class Atom, typename Shape>
Tick CallQueue<Atom, Shape>::TickAt(Instant now) const {
  return static_cast<Tick>(std::max(now - epoch_, Duration(0)) / kTick);
}

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
