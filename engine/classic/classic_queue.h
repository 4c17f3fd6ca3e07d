// The baseline engine: one mutex, binary heaps, a hash map of pooled pods with a full scan per
// event that is not narrowed, one list of in-flight events. This is kube-scheduler's way, in C++.
// The lock-free engine is compared with it, and differential tests use it as the judge.
//
// When not to use it: to measure what the product can do.
// Threads: every operation from any thread; every operation is blocking (one mutex), linearizes
// while it holds the mutex, and calls the ports under it.
// Memory bound: one entity per pod that is live, queued or in flight; the in-flight list as in
// in_flight_log.h.
#pragma once

#include <folly/container/F14Map.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/classic/entity.h"
#include "engine/classic/entity_heap.h"
#include "engine/classic/entity_table.h"
#include "engine/classic/in_flight_log.h"
#include "engine/classic/nominator.h"
#include "engine/event.h"
#include "engine/flush_tickers.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "engine/queue_metrics.h"

namespace schedq {

class ClassicQueue final : public SchedulingQueue {
 public:
  explicit ClassicQueue(QueueOptions options);
  ~ClassicQueue() override;

  Status Add(PodRef pod) override;
  Status Update(PodRef before, PodRef after) override;
  void Delete(const Pod& pod) override;
  void Bind(const PodKey& pod) override;
  using SchedulingQueue::Event;
  void Event(const ClusterEvent& event, const ObjectChange& change,
             const PreCheck& pre_check) override;
  void Activate(std::span<const PodRef> pods) override;
  void GroupAdd(PodGroupRef) override {}
  void GroupUpdate(PodGroupRef) override {}
  void GroupDelete(const GroupKey&) override {}

  std::optional<PoppedPod> Pop(std::optional<Duration> timeout) override;
  std::optional<PoppedPod> TryPop() override;
  void Done(const PodKey& pod) override;
  Status Fail(const PodKey& pod, PluginSet unschedulable, PluginSet pending) override;
  void GroupDone(const GroupKey&, GroupStatus) override {}

  void FlushBackoff() override;
  void FlushUnschedulable() override;
  void Run() override;
  void Close() override;

  Status Nominate(const PodRef& pod, std::string_view node) override;
  std::vector<PodRef> NominatedPods(std::string_view node) const override;
  std::string NominatedNode(const PodKey& pod) const override;

  PodKey KeyOf(const Pod& pod) const override;
  QueueCounts Counts() const override;
  std::vector<PodRef> List(Place place) const override;
  PodWhereabouts Where(std::string_view pod_name) const override;
  uint64_t SchedulingCycle() const override;
  uint64_t LoggedEvents() const override;
  const QueueMetrics& Metrics() const override { return metrics_; }

 private:
  // Higher priority first, then older.
  struct ActiveOrder {
    bool operator()(const Entity& a, const Entity& b) const {
      if (a.sorted_priority != b.sorted_priority) return a.sorted_priority > b.sorted_priority;
      return a.fields.timestamp < b.fields.timestamp;
    }
  };
  // Earlier expiration first; inside one window, with the gate on, as active orders.
  struct BackoffOrder {
    bool windows;
    bool operator()(const Entity& a, const Entity& b) const {
      const auto& first = a.fields.backoff_expiration;
      const auto& second = b.fields.backoff_expiration;
      if (first != second || !windows) return first < second;
      return ActiveOrder()(a, b);
    }
  };
  using Backoff = EntityHeap<BackoffOrder>;

  // Every function below is called with mutex_ held.

  // Entering and leaving (classic_requeue.cc).
  bool PassesPreEnqueue(Entity& entity);
  bool IsBackingOff(Entity& entity) const;
  void MoveToActive(Entity& entity, EventLabel label, bool skip_pre_enqueue);
  void MoveToBackoff(Entity& entity, EventLabel label);
  void PutInPool(Entity& entity, EventLabel label);
  void RemoveFromPool(Entity& entity);
  void Requeue(Entity& entity, Verdict verdict, EventLabel label);
  void RemoveFromQueue(Entity& entity);
  Backoff& BackoffOf(const Entity& entity);
  void TellMoved(const Entity& entity, Place from, EventLabel label) const;

  // Operations that the public ones consist of (classic_queue.cc).
  Status AddLocked(const PodRef& pod);
  bool HasRoomFor(const Pod& pod) const;
  Status Refused(std::string_view operation, const Pod& pod, std::string_view node) const;
  void DeleteLocked(Entity& entity);
  void UpdateQueued(Entity& entity, const PodRef& before, const PodRef& after);
  void UpdatePooled(Entity& entity, const PodRef& before, const PodRef& after);
  void UpdateNomination(const PodKey& key, const Pod& before, const Pod& after);
  PodKey FindKey(const Pod& pod) const;

  // Attempts (classic_attempt.cc).
  std::optional<PoppedPod> PopLocked();
  std::optional<PoppedPod> MoveToInFlight(Entity& entity);
  void EndInFlight(Entity& entity);
  void ReturnToQueue(Entity& entity, PluginSet unschedulable, PluginSet pending);
  Verdict JudgeLoggedEvents(const Entity& entity) const;

  // Events (classic_events.cc).
  void LogIfAnyInFlight(const ClusterEvent& event, const ObjectChange& change);
  void CollectCandidates(const ClusterEvent& event, const ObjectChange& change,
                         const PreCheck& pre_check);
  void AddCandidate(Entity& entity, RegistrationMask asked, const ClusterEvent& event,
                    PluginSet registered, const PreCheck& pre_check);
  void JudgeAndRequeue(const ClusterEvent& event, const ObjectChange& change);
  void Flush(Backoff& backoff);
  void NotifyPoppers();

  const QueueOptions options_;
  QueueMetrics metrics_;

  mutable std::mutex mutex_;
  std::condition_variable poppable_;
  EntityTable entities_;
  EntityHeap<ActiveOrder> active_;
  Backoff backoff_;
  Backoff error_backoff_;
  folly::F14VectorMap<PodId, Entity*> pool_;
  InFlightLog in_flight_;
  Nominator nominator_;
  uint64_t scheduling_cycle_ = 0;
  uint64_t gated_ = 0;
  bool closed_ = false;

  // Reused between events.
  std::vector<Entity*> candidates_;
  std::vector<JudgedPod> judged_;
  std::vector<Verdict> verdicts_;
  Narrowing narrowing_;

  // Outside the mutex, which a tick takes.
  FlushTickers tickers_;
};

}  // namespace schedq
