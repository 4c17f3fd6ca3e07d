// Judges a pod of the pool for an event, and moves it if the event is worth an attempt.
//
// Threads: all operations from any thread, lock-free if the judge's hints are.
// Parts: QueueParts.
#pragma once

#include "engine/event.h"
#include "engine/lockfree/moves/move_cause.h"
#include "engine/lockfree/moves/place_decision.h"
#include "engine/lockfree/moves/pod_mover.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/lockfree/pods/pod_table.h"
#include "engine/logged_event.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue.h"

namespace schedq {

// An event as pods of the pool are judged for it.
struct PoolEvent {
  const ClusterEvent& event;
  const ObjectChange& change;
  const PluginSet registered;  // Plugins that registered for it.
  const SchedulingQueue::PreCheck& pre_check;
};

inline bool IsInPool(const SlotWord& word) { return InPool(word.queued); }

// What a record says of a pod that is to be judged; its number and what is asked are there already.
inline void FillIn(const PodFacts& facts, JudgedPod* judged) {
  const PluginSet unschedulable = facts.fields.unschedulable_plugins;
  const PluginSet pending = facts.fields.pending_plugins;
  judged->pod = facts.pod.get();
  judged->unschedulable = unschedulable;
  judged->pending = pending;
}

inline JudgedPod ToJudge(const PodFacts& facts, RegistrationMask asked = kEveryRegistration) {
  JudgedPod judged;
  judged.id = facts.id;
  judged.asked = asked;
  FillIn(facts, &judged);
  return judged;
}

template <typename Parts>
class PoolJudge {
 public:
  using Pinned = typename Parts::Pinned;
  using Change = typename Parts::Change;

  PoolJudge(Parts* parts, PodMover<Parts>* mover) : parts_(*parts), mover_(*mover) {}
  PoolJudge(const PoolJudge&) = delete;
  PoolJudge& operator=(const PoolJudge&) = delete;

  // Whether an event may concern a pod of the pool.
  static bool Concerns(const PoolEvent& pool_event, const Pinned& pinned);
  // Looks at one pod of the pool for an event, as often as others change the pod meanwhile.
  void React(PodId id, RegistrationMask asked, const PoolEvent& pool_event);
  void ReadLogAgain(PodId id, typename Parts::Log::Reader* reader);

 private:
  static bool IsCandidate(const Pinned& pinned, const PoolEvent& pool_event);

  Parts& parts_;
  PodMover<Parts>& mover_;
};

// What does not interest the gating plugin never lets the pod through. What none of its rejectors
// registered for cannot help a pod either; the judge says so without asking a plugin.
template <typename Parts>
bool PoolJudge<Parts>::IsCandidate(const Pinned& pinned, const PoolEvent& pool_event) {
  return pinned && InPool(pinned.word().queued) && Concerns(pool_event, pinned);
}

template <typename Parts>
bool PoolJudge<Parts>::Concerns(const PoolEvent& pool_event, const Pinned& pinned) {
  if (SlotWord::IsGatedIn(pinned.bits()) && !pool_event.event.IsWildcard() &&
      !pool_event.registered.Has(pinned.facts().fields.gating_plugin)) {
    return false;
  }
  return !pool_event.pre_check || pool_event.pre_check(*pinned.facts().pod);
}

template <typename Parts>
void PoolJudge<Parts>::React(PodId id, RegistrationMask asked, const PoolEvent& pool_event) {
  // A retry means that another thread changed this very pod.
  for (;;) {
    Change change(&parts_.table.records(), parts_.epochs.Begun());
    const Pinned pinned = parts_.table.Pin(id);
    if (!IsCandidate(pinned, pool_event)) return;
    pinned.PrefetchPod();
    const JudgedPod judged = ToJudge(pinned.facts(), asked);
    Verdict verdict = Verdict::kSkip;
    parts_.options.judge->Judge({&judged, 1}, pool_event.event, pool_event.change, {&verdict, 1});
    if (verdict == Verdict::kSkip) return;
    change.StartFrom(pinned);
    DecidePlace(parts_.options, &change, verdict, /*skip_pre_enqueue=*/false);
    if (mover_.Commit(id, pinned, &change,
                      MoveCause{pool_event.event.label, true, PlaceNamedBy(verdict)}))
      return;
  }
}

// What was logged after the pod judged the log and before it was in the pool: as if these events
// found it there. What can't be read, or judged, is taken for an event that helps.
template <typename Parts>
void PoolJudge<Parts>::ReadLogAgain(PodId id, typename Parts::Log::Reader* reader) {
  const SchedulingQueue::PreCheck none;
  const auto react_to_anything = [&] {
    const ClusterEvent anything{.label = LabelOf(SpecialLabel::kScheduleAttemptFailure)};
    React(id, kEveryRegistration, {anything, {}, parts_.all_plugins, none});
  };
  try {
    while (const LoggedEvent* const logged = reader->Next()) {
      const PluginSet registered = parts_.options.judge->RegisteredFor(logged->event);
      React(id, kEveryRegistration, {logged->event, logged->change, registered, none});
    }
  } catch (...) {
    react_to_anything();
    throw;
  }
  if (reader->HasMissed()) react_to_anything();
}

}  // namespace schedq
