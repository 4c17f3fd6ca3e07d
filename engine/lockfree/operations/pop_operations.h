// How a pop takes the entity that goes first.
//
// Purpose: TryPop takes the pod, or the group, of the best ticket of active; where active is empty
// and the gate says so, that of the window that ends first. Pop sleeps until there is something.
// Threads: all operations from any thread. TryPop is lock-free; Pop blocks while there is nothing.
// Linearization: the moment at which no better ticket was in active; the exchange of the slot's
// word comes after it, on a slot that has not changed. Of a pop that finds nothing: a moment at
// which no ticket was there.
//
// Invariants:
//  1. A pop takes a pod by the exchange of its slot; its ticket goes after that. So a thread that
//     is stopped has either popped the pod or left it to others.
//  2. An attempt has its place in the log before its pod can be seen in flight.
//  3. A pop that finds nothing has finished the moves that other threads have begun.
// Parts: QueueParts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"
#include "engine/lockfree/backoff/backoff_windows.h"
#include "engine/lockfree/groups/group_change.h"
#include "engine/lockfree/groups/group_publisher.h"
#include "engine/lockfree/groups/group_state.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/lockfree/moves/move_finisher.h"
#include "engine/lockfree/operations/fail_operations.h"
#include "engine/lockfree/operations/flights.h"
#include "engine/lockfree/operations/group_operations.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/lockfree/pods/pod_table.h"
#include "engine/lockfree/tickets/queue_ticket.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue_answers.h"
#include "engine/queueing_fields.h"
#include "engine/told.h"

namespace schedq {

template <typename Parts>
class PopOperations {
 public:
  using Pinned = typename Parts::Pinned;

  PopOperations(Parts* parts, MoveFinisher<Parts>* finisher, Flights<Parts>* flights,
                FailOperations<Parts>* fails, GroupOperations<Parts>* groups,
                GroupPublisher<Parts>* publisher)
      : parts_(*parts),
        finisher_(*finisher),
        flights_(*flights),
        fails_(*fails),
        groups_(*groups),
        publisher_(*publisher) {}
  PopOperations(const PopOperations&) = delete;
  PopOperations& operator=(const PopOperations&) = delete;

  std::optional<PoppedPod> TryPop();
  std::optional<PoppedPod> Pop(std::optional<Duration> timeout);

 private:
  class Popper;

  // Code of its own, which keeps the frame of TryPop small.
  template <typename IsUnchanged>
  [[gnu::noinline]] std::optional<PoppedPod> TryPopEarly(const IsUnchanged& is_unchanged);
  std::optional<PoppedPod> Popped(const PodFacts& facts, Place from);
  [[gnu::noinline, gnu::cold]] void TellPopped(const PoppedPod& popped, Place from);
  void Discard(PodId id, const Pinned& pinned);
  void CountEarlyPop() const {
    const EventLabel label = LabelOf(SpecialLabel::kPopFromBackoffQ);
    parts_.metrics.AddIncoming(Place::kActive, label);
    parts_.metrics.AddIncomingEntity(Place::kActive, label, EntityType::kPod);
  }

  Parts& parts_;
  MoveFinisher<Parts>& finisher_;
  Flights<Parts>& flights_;
  // For a pop that an observer leaves without an answer.
  FailOperations<Parts>& fails_;
  GroupOperations<Parts>& groups_;
  GroupPublisher<Parts>& publisher_;
};

// What a pop asks and does about the entry that goes first (invariant 1).
template <typename Parts>
class PopOperations<Parts>::Popper {
 public:
  // What active and backoff ask of a taker (ActiveQueue::TryTake).
  static constexpr bool kDropsToTake = false;
  static constexpr uint32_t kAhead = Parts::Shape::kPrefetchAhead;

  Popper(PopOperations& pops, Place from) : pops_(pops), parts_(pops.parts_), from_(from) {}
  Popper(const Popper&) = delete;
  Popper& operator=(const Popper&) = delete;
  ~Popper() { GiveUpFlight(); }

  Consent Ask(const ActiveEntry& first) {
    GiveUpFlight();
    if (IsOfGroup(first.ticket)) [[unlikely]]
      return AskGroup(first.ticket);
    pinned_ = parts_.table.Pin(PodIn(first.ticket));
    if (!pinned_ || !IsTicketOf(first.ticket, from_, pinned_.word())) {
      // A pod that stands elsewhere by now has a ticket there, or its move is to be finished before
      // this pop may take another pod (Settle).
      const bool is_elsewhere = pinned_ && pinned_.word().queued != Place::kAbsent;
      if (!is_elsewhere || settled_ == first.ticket) return Consent::kDrop;
      unsettled_ = first.ticket;
      return Consent::kLeave;
    }
    if (parts_.groups != nullptr && IsMemberToo(PodIn(first.ticket))) [[unlikely]]
      return Consent::kLeave;
    is_twice_ = pops_.flights_.Of(pinned_, pinned_.facts().key()) != nullptr;
    if (is_twice_) return Consent::kLeave;
    // Before the exchange: a thread that sees the pod in flight finds its place in the log. And
    // before the instant at which the pod went first: each event from then on is judged when the
    // pod fails.
    flight_ = parts_.log.Begin();
    return Consent::kTake;
  }

  bool Claim() {
    if (has_group()) [[unlikely]]
      return ClaimGroup();
    SlotWord after = pinned_.word();
    after.queued = Place::kAbsent;
    after.attempt = AttemptState::kUnderWay;
    after.version_or_position = flight_.node_plus_one;
    if (!parts_.table.Exchange(pinned_.facts().id, pinned_, after)) return false;
    flight_ = {};
    return true;
  }

  // Which pods come next is known before they are popped: what will be read is prefetched.
  void PrefetchAhead(uint64_t further, uint64_t near) const {
    if (IsOfGroup(further) || IsOfGroup(near)) return;
    parts_.table.PrefetchRecord(PodIn(further));
    parts_.table.PrefetchPod(PodIn(near));
  }

  // What the queue knows of the pod that was taken.
  const PodFacts& facts() const { return pinned_.facts(); }
  // A group was taken instead of a pod.
  bool has_group() const { return group_ != nullptr; }
  // What follows from that. Nothing: no member of it could be popped.
  std::optional<PoppedPod> TellGroup();

  // Nothing was taken: does what the pop met and could not do while it looked.
  void Settle() {
    if (is_twice_) pops_.Discard(pinned_.facts().id, pinned_);
    is_twice_ = false;
    if (twice_named_ != kNoPod) pops_.groups_.SettleName(std::exchange(twice_named_, kNoPod));
    if (unsettled_ == 0) return;
    if (IsOfGroup(unsettled_)) {
      pops_.publisher_.FinishOwed();
    } else {
      pops_.finisher_.PinFinished(PodIn(unsettled_));
    }
    settled_ = std::exchange(unsettled_, 0);
  }

 private:
  void GiveUpFlight() {
    if (flight_.IsSet()) pops_.flights_.EndInLog(std::exchange(flight_, {}));
    if (has_group()) [[unlikely]]
      group_.reset();
  }
  Consent AskGroup(uint64_t ticket);
  bool ClaimGroup();
  bool IsMemberToo(PodId id);
  bool HasSingleToo(const RootState& root);

  PopOperations& pops_;
  Parts& parts_;
  const Place from_;
  Pinned pinned_;
  FlightPosition flight_;  // Of an attempt that is not claimed yet.
  bool is_twice_ = false;  // The pod is in flight already.
  // A member and a single pod have this name; see GroupOperations::SettleName.
  PodId twice_named_ = kNoPod;
  // Tickets of pods that stand elsewhere: to be looked at, and looked at. No ticket is 0.
  uint64_t unsettled_ = 0;
  uint64_t settled_ = 0;
  // Null: no group is to be taken. Apart, so that a pop of a pod makes and ends one pointer.
  struct GroupTaking {
    GroupChange change;
    std::shared_ptr<PoppedGroup> group = nullptr;
    QueueingFields fields = {};
  };
  std::unique_ptr<GroupTaking> group_;
};

// Each round without an answer met a stale ticket, or a push of another thread.
template <typename Parts>
std::optional<PoppedPod> PopOperations<Parts>::TryPop() {
  Popper active(*this, Place::kActive);
  for (;;) {
    const uint64_t pushes = parts_.pushes.load();
    const Taking taking = parts_.active.TryTake(active);
    if (taking == Taking::kTaken) {
      if (!active.has_group()) [[likely]]
        return Popped(active.facts(), Place::kActive);
      if (std::optional<PoppedPod> group = active.TellGroup()) return group;
      continue;
    }
    if (taking != Taking::kEmpty) {
      active.Settle();
      continue;
    }
    const auto is_unchanged = [&] { return parts_.pushes.load() == pushes; };
    if (parts_.options.gates.PopFromBackoffQ()) {
      if (std::optional<PoppedPod> early = TryPopEarly(is_unchanged)) return early;
    }
    if (is_unchanged() && !finisher_.FinishAll()) return std::nullopt;
  }
}

// Active was empty. It still is where `is_unchanged` is asked, unless a thread has pushed. Nothing:
// there was nothing, or something has changed.
template <typename Parts>
template <typename IsUnchanged>
std::optional<PoppedPod> PopOperations<Parts>::TryPopEarly(const IsUnchanged& is_unchanged) {
  Popper early(*this, Place::kBackoff);
  for (;;) {
    switch (parts_.windows.TryTakeFirst(is_unchanged, early)) {
      case EarlyPop::kTaken:
        return Popped(early.facts(), Place::kBackoff);
      case EarlyPop::kEmpty:
        return std::nullopt;
      case EarlyPop::kChanged:
        early.Settle();
        if (!is_unchanged()) return std::nullopt;
    }
  }
}

template <typename Parts>
std::optional<PoppedPod> PopOperations<Parts>::Pop(std::optional<Duration> timeout) {
  std::optional<MonotonicTime> deadline;
  if (timeout) deadline = After(SteadyNow(), *timeout);
  for (;;) {
    if (std::optional<PoppedPod> popped = TryPop()) return popped;
    const auto ticket = parts_.poppable.PrepareWait();
    // Asked before the look: what came before Close is popped before a Pop returns nothing.
    const bool is_closed = parts_.is_closed.load();
    std::optional<PoppedPod> popped = TryPop();
    if (popped || is_closed) {
      parts_.poppable.CancelWait();
      return popped;
    }
    if (!parts_.poppable.CommitWait(ticket, deadline)) return TryPop();
  }
}

// The pod was taken: what follows from that. What a pop gives is made here, where it is returned:
// to make an empty one first and to fill it later would write all of it twice.
template <typename Parts>
std::optional<PoppedPod> PopOperations<Parts>::Popped(const PodFacts& facts, Place from) {
  std::optional<PoppedPod> popped(std::in_place);
  popped->pod = facts.pod;
  popped->key = facts.key();
  popped->cycle = parts_.cycle.fetch_add(1) + 1;
  popped->fields = facts.fields;
  ++popped->fields.attempts;
  parts_.counts.Move(from, Place::kInFlight);
  if (from == Place::kBackoff) {
    CountEarlyPop();
  }
  parts_.metrics.AddInFlight(LabelOf(SpecialLabel::kPodPopped), 1);
  popped->fields.Rejectors().ForEach(
      [&](PluginId plugin) { parts_.metrics.AddRejected(plugin, -1); });
  if (parts_.is_observed) [[unlikely]]
    TellPopped(*popped, from);
  return popped;
}

// No caller would end the attempt if an observer throws: the pop has no answer then. So it fails as
// an error does.
template <typename Parts>
void PopOperations<Parts>::TellPopped(const PoppedPod& popped, Place from) {
  const std::array<Told, 2> told = {{{.what = Told::What::kMoved,
                                      .pod = popped.pod,
                                      .move = {},
                                      .from = from,
                                      .to = Place::kInFlight,
                                      .label = LabelOf(SpecialLabel::kPodPopped)},
                                     {.what = Told::What::kPopped,
                                      .pod = popped.pod,
                                      .move = {},
                                      .attempts = popped.fields.attempts}}};
  try {
    TellAll(told, *parts_.options.pre_enqueue, parts_.options.observers);
  } catch (...) {
    try {
      static_cast<void>(fails_.Fail(popped.key, {}, {}));
    } catch (...) {
      // An observer again; the pod is back.
    }
    throw;
  }
}

template <typename Parts>
void PopOperations<Parts>::Discard(PodId id, const Pinned& pinned) {
  const SlotWord before = pinned.word();
  SlotWord after = before;
  after.queued = Place::kAbsent;
  const PodRef pod = pinned.facts().pod;
  const PluginSet rejectors = pinned.facts().fields.Rejectors();
  if (!parts_.table.Exchange(id, pinned, after)) return;
  parts_.counts.Move(before.queued, Place::kAbsent);
  if (before.queued == Place::kBackoff) {
    CountEarlyPop();
  }
  rejectors.ForEach([&](PluginId plugin) { parts_.metrics.AddRejected(plugin, -1); });
  for (QueueObserver* observer : parts_.options.observers) {
    observer->OnMoved(pod, before.queued, Place::kInFlight, LabelOf(SpecialLabel::kPodPopped));
  }
}

// As a pod: its attempts begin in the log before the instant at which the group goes first.
template <typename Parts>
Consent PopOperations<Parts>::Popper::AskGroup(uint64_t ticket) {
  auto& groups = *parts_.groups;
  const auto state = groups.state.load();
  const RootState* const root = state->roots.Get(GroupIn(ticket));
  const auto version = static_cast<uint32_t>(ticket);
  if (root == nullptr || root->place != from_ || root->version != version) {
    if (root == nullptr || settled_ == ticket) return Consent::kDrop;
    unsettled_ = ticket;
    return Consent::kLeave;
  }
  if (HasSingleToo(*root)) return Consent::kLeave;
  group_.reset(new GroupTaking{{parts_.options, &groups.ports, &groups.names, state}});
  group_->change.Pop(GroupIn(ticket), version, &group_->group, &group_->fields);
  return Consent::kTake;
}

// The thread that brought one of them has stopped before it looked for the other.
template <typename Parts>
[[gnu::noinline]] bool PopOperations<Parts>::Popper::IsMemberToo(PodId id) {
  const auto state = parts_.groups->state.load();
  const MemberState* const member = state->members.Get(id);
  const bool is_too = member != nullptr && member->live;
  if (is_too) twice_named_ = id;
  return is_too;
}
template <typename Parts>
bool PopOperations<Parts>::Popper::HasSingleToo(const RootState& root) {
  const PodId limit = parts_.table.limit();
  for (const PodId id : root.members) {
    if (id >= limit || !parts_.table.Peek(id).live) continue;
    twice_named_ = id;
    return true;
  }
  return false;
}

template <typename Parts>
bool PopOperations<Parts>::Popper::ClaimGroup() {
  return pops_.publisher_.Publish(&group_->change);
}

template <typename Parts>
std::optional<PoppedPod> PopOperations<Parts>::Popper::TellGroup() {
  std::optional<PoppedPod> popped;
  const std::unique_ptr<GroupTaking> taken = std::exchange(group_, nullptr);
  std::shared_ptr<PoppedGroup> group = std::move(taken->group);
  if (group != nullptr) {
    PoppedPod& entity = popped.emplace();
    entity.cycle = parts_.cycle.fetch_add(1) + 1;
    entity.fields = taken->fields;
    for (PoppedPod& member : group->members) member.cycle = entity.cycle;
    entity.group = std::move(group);
  }
  try {
    pops_.publisher_.Apply(taken->change.effects());
  } catch (...) {
    // An observer: no caller would end the cycle.
    if (popped) pops_.groups_.GiveBack(*popped->group);
    throw;
  }
  return popped;
}

}  // namespace schedq
