// What an event does: which pods it concerns, what they are judged for, and where they go.
//
// Threads: all operations from any thread, lock-free if the judge's hints are.
// Linearization: no single moment; an event looks at pod by pod.
//
// Invariants:
//  1. An event is logged, then counted, then the pool is looked at. So a pod that fails meanwhile
//     is found in the pool or finds the event in the log, and a pod that PreEnqueue rejected
//     meanwhile is asked about again.
//  2. When an event has returned, the pods that it found worth an attempt can be popped, also those
//     that another thread has begun to move.
// Parts: QueueParts.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/lockfree/moves/move_cause.h"
#include "engine/lockfree/moves/move_finisher.h"
#include "engine/lockfree/moves/place_decision.h"
#include "engine/lockfree/moves/pod_mover.h"
#include "engine/lockfree/moves/pool_judge.h"
#include "engine/lockfree/operations/group_events.h"
#include "engine/lockfree/operations/log_event.h"
#include "engine/narrowing.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"
#include "engine/ports.h"

namespace schedq {

template <typename Parts>
class EventOperations {
 public:
  using Pinned = typename Parts::Pinned;
  using Change = typename Parts::Change;
  using Scan = typename Parts::Scan;

  EventOperations(Parts* parts, PodMover<Parts>* mover, PoolJudge<Parts>* pool,
                  MoveFinisher<Parts>* finisher, GroupEvents<Parts>* groups)
      : parts_(*parts), mover_(*mover), pool_(*pool), finisher_(*finisher), groups_(*groups) {}
  EventOperations(const EventOperations&) = delete;
  EventOperations& operator=(const EventOperations&) = delete;

  void Event(const ClusterEvent& event, const ObjectChange& change,
             const SchedulingQueue::PreCheck& pre_check);

 private:
  // A batch costs two looks at the clock, and what is known of its pods has to stay near.
  static constexpr size_t kBatch = 256;
  // Up to so many narrowed pods are judged one by one, without a batch's memory.
  static constexpr size_t kFewPods = 4;

  // Pods that are looked at together: while one is judged, the next ones' memory comes.
  struct Batch {
    // What it holds is written before it is read: to clear all of it would be felt where an event
    // concerns few pods.
    Batch(const typename Parts::Table& table, uint64_t epoch) : scan(table), epoch(epoch) {}

    Scan scan;
    const uint64_t epoch;  // From before the first of the pods was looked at.
    size_t size = 0;
    std::array<typename Scan::Glance, kBatch> glances;
    // First only which pod was seen and what is asked; what is judged then moves together.
    union {
      std::array<JudgedPod, kBatch> judged;
    };
    std::array<Verdict, kBatch> verdicts;
  };

  static bool IsForFew(const Narrowing& narrowing) {
    return narrowing.plugins_of_all.empty() && narrowing.pods.size() <= kFewPods;
  }
  void JudgePool(const PoolEvent& pool_event, const Narrowing& narrowing);
  size_t CollectCandidates(const PoolEvent& pool_event, Batch* batch);
  void JudgeBatch(const PoolEvent& pool_event, Batch* batch);

  Parts& parts_;
  PodMover<Parts>& mover_;
  PoolJudge<Parts>& pool_;
  MoveFinisher<Parts>& finisher_;
  GroupEvents<Parts>& groups_;
};

// Logged before the pool is looked at: a pod that fails meanwhile is found in the pool, or finds
// the event in the log.
template <typename Parts>
void EventOperations<Parts>::Event(const ClusterEvent& event, const ObjectChange& change,
                                   const SchedulingQueue::PreCheck& pre_check) {
  const PluginSet registered = parts_.options.judge->RegisteredFor(event);
  if (!event.IsWildcard() && registered.empty()) return;
  finisher_.FinishLeft();
  const bool is_sampled = parts_.short_event.IsDue();
  MonotonicTime started = is_sampled ? std::chrono::steady_clock::now() : MonotonicTime();
  LogIfAnyInFlight(&parts_, event, change);
  parts_.epochs.Count(event.IsWildcard() ? parts_.all_plugins : registered);
  Narrowing narrowing;
  if (IsNarrowed(parts_.options.gates, event, change)) {
    parts_.options.judge->Narrow(event, change, &narrowing);
  } else {
    narrowing.asked_of_all = kEveryRegistration;
    narrowing.plugins_of_all = event.IsWildcard() ? parts_.all_plugins : registered;
  }
  const bool is_short = IsForFew(narrowing);
  // Up to here any event takes as long.
  if (!is_short && !is_sampled) started = std::chrono::steady_clock::now();
  const PoolEvent pool_event{event, change, registered, pre_check};
  JudgePool(pool_event, narrowing);
  if (parts_.groups != nullptr) [[unlikely]]
    groups_.Judge(pool_event, narrowing);
  // Pods that others have moved out of the pool for an event of theirs can be popped from here on.
  finisher_.FinishAll();
  const bool is_timed = !is_short || is_sampled;
  const Duration duration =
      is_timed ? std::chrono::steady_clock::now() - started : parts_.short_event.Latest().duration;
  if (is_short && is_sampled) parts_.short_event.Set({duration});
  parts_.metrics.ObserveEventHandling(event.label, duration);
}

template <typename Parts>
void EventOperations<Parts>::JudgePool(const PoolEvent& pool_event, const Narrowing& narrowing) {
  if (IsForFew(narrowing)) {
    for (const auto& [id, asked] : narrowing.pods) pool_.React(id, asked, pool_event);
    return;
  }
  Batch batch(parts_.table, parts_.epochs.Begun());
  const auto consider = [&](PodId id, RegistrationMask asked) {
    if (!batch.scan.GlanceIf(id, IsInPool, &batch.glances[batch.size])) return;
    batch.judged[batch.size].asked = asked;
    batch.judged[batch.size++].id = id;
    if (batch.size == kBatch) JudgeBatch(pool_event, &batch);
  };
  if (narrowing.plugins_of_all.empty()) {
    for (const auto& [id, asked] : narrowing.pods) consider(id, asked);
  } else if (narrowing.pods.empty()) {
    const auto look = [&](PodId first, uint64_t slots) {
      auto* glance = &batch.glances[batch.size];
      JudgedPod* judged = &batch.judged[batch.size];
      batch.scan.GlanceAtPool(first, slots, [&](PodId id, const auto& seen) {
        *glance++ = seen;
        judged->id = id;
        (judged++)->asked = narrowing.asked_of_all;
      });
      const size_t before = std::exchange(batch.size, glance - batch.glances.data());
      const size_t in_pool = batch.size - before;
      if (batch.size > kBatch - parts_.rejectors.kSlotsPerBlock) JudgeBatch(pool_event, &batch);
      return in_pool;
    };
    const auto is_in_pool = [&](PodId id) { return IsInPool(parts_.table.Peek(id)); };
    const bool may_clear = batch.epoch % Parts::Shape::kEventsPerClear == 0;
    parts_.rejectors.ForEachBlock(narrowing.plugins_of_all, parts_.table.limit(), may_clear, look,
                                  is_in_pool);
  } else {
    Narrowing::Pods listed = narrowing.pods;
    std::sort(listed.begin(), listed.end(),
              [](const auto& a, const auto& b) { return a.pod < b.pod; });
    auto next = listed.begin();
    // Both in ascending order, so that each pod is considered once, with all that ask about it.
    parts_.rejectors.ForEach(narrowing.plugins_of_all, parts_.table.limit(), [&](PodId id) {
      for (; next != listed.end() && next->pod < id; ++next) consider(next->pod, next->asked);
      RegistrationMask asked = narrowing.asked_of_all;
      if (next != listed.end() && next->pod == id) asked |= (next++)->asked;
      consider(id, asked);
    });
    for (; next != listed.end(); ++next) consider(next->pod, next->asked);
  }
  JudgeBatch(pool_event, &batch);
}

// The common case, found out for many at once.
inline bool AreAllSkipped(std::span<const Verdict> verdicts) {
  static_assert(static_cast<uint8_t>(Verdict::kSkip) == 0, "what is not to skip has a bit set");
  uint8_t bits = 0;
  for (const Verdict verdict : verdicts) bits |= static_cast<uint8_t>(verdict);
  return bits == 0;
}

// Fills in those of the batch's pods that are to be judged, and returns how many they are. Does not
// prefetch the pods: that gains 2 to 4 % amid 100,000 of them, and costs as much amid 1,000.
template <typename Parts>
size_t EventOperations<Parts>::CollectCandidates(const PoolEvent& pool_event, Batch* batch) {
  const uint64_t era = batch->scan.era();
  const size_t size = batch->size;
  size_t dropped = 0;
  for (size_t i = 0; i < size; ++i) {
    const auto& glance = batch->glances[i];
    JudgedPod& seen = batch->judged[i];
    if (!glance.IsHeldIn(era)) {
      // It came while this event was under way; such pods are few.
      pool_.React(seen.id, seen.asked, pool_event);
      ++dropped;
      continue;
    }
    const Pinned state = glance.State();
    if (!PoolJudge<Parts>::Concerns(pool_event, state)) {
      ++dropped;
      continue;
    }
    FillIn(state.facts(), &seen);
    if (dropped > 0) {
      batch->judged[i - dropped] = seen;
      batch->glances[i - dropped] = glance;
    }
  }
  return size - dropped;
}

// Judges the batch, requeues those worth it, and leaves the batch empty.
template <typename Parts>
void EventOperations<Parts>::JudgeBatch(const PoolEvent& pool_event, Batch* batch) {
  const size_t count = CollectCandidates(pool_event, batch);
  batch->size = 0;
  if (count == 0) return;
  const std::span<const JudgedPod> judged(batch->judged.data(), count);
  const std::span<Verdict> verdicts(batch->verdicts.data(), count);
  parts_.options.judge->Judge(judged, pool_event.event, pool_event.change, verdicts);
  for (size_t i = AreAllSkipped(verdicts) ? count : 0; i < count; ++i) {
    if (verdicts[i] == Verdict::kSkip) continue;
    const Pinned pinned = parts_.table.Pin(judged[i].id);
    Change change(&parts_.table.records(), batch->epoch);
    bool is_done = false;
    if (pinned.bits() == batch->glances[i].bits()) {
      change.StartFrom(pinned);
      DecidePlace(parts_.options, &change, verdicts[i], /*skip_pre_enqueue=*/false);
      is_done = mover_.Commit(judged[i].id, pinned, &change,
                              MoveCause{pool_event.event.label, true, PlaceNamedBy(verdicts[i])});
    }
    if (!is_done) pool_.React(judged[i].id, judged[i].asked, pool_event);
  }
  batch->scan.Renew();
}

}  // namespace schedq
