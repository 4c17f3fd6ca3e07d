// Publishes a change of the groups' state, and does what follows: an operation on groups is one
// exchange (group_state.h).
//
// What an exchange owes others stands in the state itself: tickets to be published, and gated
// groups that an event may have overtaken. A thread that meets a debt in a state pays it before its
// own operation, so what has returned has taken effect, whichever thread is stopped. Metrics and
// observers are told by the thread that made the change, as with pods.
// Threads: all operations from any thread, lock-free if PreEnqueue is.
// Parts: QueueParts.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "engine/event.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/groups/group_change.h"
#include "engine/lockfree/groups/group_state.h"
#include "engine/lockfree/tickets/queue_ticket.h"
#include "engine/lockfree/tickets/ticket_publisher.h"
#include "engine/place.h"
#include "engine/told.h"

namespace schedq {

template <typename Parts>
class GroupPublisher {
 public:
  GroupPublisher(Parts* parts, TicketPublisher<Parts>* tickets)
      : parts_(*parts), tickets_(*tickets) {}
  GroupPublisher(const GroupPublisher&) = delete;
  GroupPublisher& operator=(const GroupPublisher&) = delete;

  // False: another thread has changed the groups, and nothing happened.
  bool Publish(GroupChange* change);
  // What follows from a change that was published.
  void Apply(const GroupEffects& effects) const;
  bool FinishOwed() {
    std::exception_ptr thrown;
    const bool was_owed = FinishOwed(&thrown);
    if (thrown != nullptr) std::rethrow_exception(thrown);
    return was_owed;
  }
  bool FinishOwed(std::exception_ptr* thrown);

 private:
  void FinishOwed(const std::shared_ptr<const GroupState>& state, const GroupState::Owed& owed,
                  std::exception_ptr* thrown);
  bool IsGroupOvertaken(const RootState& root) const;

  Parts& parts_;
  TicketPublisher<Parts>& tickets_;
};

// Sequentially consistent, as the exchange of a pod's slot is: an event that is counted after it
// finds what it made true. Numbers are raised before it: a single pod that takes a member's name
// goes on from there.
template <typename Parts>
bool GroupPublisher<Parts>::Publish(GroupChange* change) {
  for (const Told& told : change->effects().told) {
    parts_.groups->told_numbers.Raise(told.move.pod.id, told.move.number);
  }
  std::shared_ptr<const GroupState> expected = change->from();
  if (!parts_.groups->state.compare_exchange_strong(expected, change->TakeNext())) return false;
  change->Published();
  return true;
}

template <typename Parts>
void GroupPublisher<Parts>::Apply(const GroupEffects& effects) const {
  for (const auto& [place, label, pods, counts_entity] : effects.incoming) {
    parts_.metrics.AddIncoming(place, label, pods);
    if (counts_entity) parts_.metrics.AddIncomingEntity(place, label, EntityType::kPodGroup);
  }
  for (const auto& [plugin, amount] : effects.rejected) parts_.metrics.AddRejected(plugin, amount);
  if (effects.in_flight != 0) {
    parts_.metrics.AddInFlight(LabelOf(SpecialLabel::kPodPopped), effects.in_flight);
  }
  for (uint64_t i = 0; i < effects.scheduled_after_flush; ++i)
    parts_.metrics.AddScheduledAfterFlush();
  if (!effects.told.empty()) {
    TellAll(effects.told, *parts_.options.pre_enqueue, parts_.options.observers);
  }
}

// Returns whether there was something to finish. Each round ends one debt, unless another thread
// has changed the groups. What an observer throws does not end that: the last is kept in `thrown`.
template <typename Parts>
bool GroupPublisher<Parts>::FinishOwed(std::exception_ptr* thrown) {
  for (bool was_owed = false;; was_owed = true) {
    const std::shared_ptr<const GroupState> state = parts_.groups->state.load();
    if (state->owed.empty()) return was_owed;
    FinishOwed(state, state->owed.front(), thrown);
  }
}

// As IsOvertaken of a pod (pod_mover.h).
template <typename Parts>
bool GroupPublisher<Parts>::IsGroupOvertaken(const RootState& root) const {
  return parts_.epochs.LastOf(root.fields.gating_plugin) > root.epoch;
}

// A ticket that stands twice counts once. A gated group is asked about once more if an event that
// its gating plugin registered for began after PreEnqueue was asked: that event may have looked at
// the pool before the group was in it. Events that begin from here on find it there.
template <typename Parts>
void GroupPublisher<Parts>::FinishOwed(const std::shared_ptr<const GroupState>& state,
                                       const GroupState::Owed& owed, std::exception_ptr* thrown) {
  const RootState* const root = state->roots.Get(owed.root);
  GroupChange change(parts_.options, &parts_.groups->ports, &parts_.groups->names, state);
  const bool is_there = root != nullptr && root->version == owed.version;
  const bool is_overtaken = is_there && root->place == Place::kGated && IsGroupOvertaken(*root);
  if (is_overtaken) {
    try {
      change.AskAgain(owed);
    } catch (...) {
      // A plugin that throws keeps its group gated until the next event, and no other group.
      GroupChange settled(parts_.options, &parts_.groups->ports, &parts_.groups->names, state);
      settled.Settle(owed.root);
      Publish(&settled);
      return;
    }
  } else {
    if (is_there && !InPool(root->place)) {
      const ActiveEntry entry{root->priority, root->fields.timestamp.time_since_epoch().count(),
                              uint64_t{owed.root | kGroupBit} << 32 | owed.version};
      tickets_.Push(root->place, {entry, root->fields.backoff_expiration});
    }
    change.Settle(owed.root);
  }
  if (!Publish(&change)) return;
  try {
    Apply(change.effects());
  } catch (...) {
    *thrown = std::current_exception();
  }
}

}  // namespace schedq
