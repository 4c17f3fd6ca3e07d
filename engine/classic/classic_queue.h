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
#include <folly/container/F14Set.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
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
#include "engine/classic/group_tree.h"
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
#include "engine/told.h"

namespace schedq {

class ClassicQueue final : public SchedulingQueue {
 public:
  explicit ClassicQueue(QueueOptions options);
  ~ClassicQueue() override;

  Status Add(PodRef pod) override;
  Status Update(PodRef before, PodRef after) override;
  std::optional<Status> UpdateUnlessAway(PodRef before, PodRef after) override;
  void Delete(const Pod& pod) override;
  void Bind(const PodKey& pod) override;
  using SchedulingQueue::Event;
  void Event(const ClusterEvent& event, const ObjectChange& change,
             const PreCheck& pre_check) override;
  void Activate(std::span<const PodRef> pods) override;
  void GroupAdd(PodGroupRef group) override;
  void GroupUpdate(PodGroupRef group) override;
  void GroupDelete(const GroupKey& group) override;

  std::optional<PoppedPod> Pop(std::optional<Duration> timeout) override;
  std::optional<PoppedPod> TryPop() override;
  void Done(const PodKey& pod) override;
  Status Fail(const PodKey& pod, PluginSet unschedulable, PluginSet pending) override;
  void GroupDone(const GroupKey& root, GroupStatus status) override;

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
  PluginId AskPreEnqueue(const PodEntity& pod) const;
  PluginId Follow(PluginId rejected, PodEntity& pod);
  bool IsBackingOff(Entity& entity) const;
  int32_t PriorityOf(const Entity& entity) const;
  // `named` is the place that a verdict has named, if there is one: entities that come to it are
  // not counted.
  void MoveToActive(Entity& entity, EventLabel label, bool skip_pre_enqueue,
                    Place named = Place::kAbsent);
  void MoveToBackoff(Entity& entity, EventLabel label, Place named = Place::kAbsent);
  void PutIn(Entity& entity, Place place);
  void PutInPool(Entity& entity, EventLabel label, Place named = Place::kAbsent);
  void PutGated(Entity& entity, EventLabel label, Place named);
  void RemoveFromPool(Entity& entity);
  void Requeue(Entity& entity, Verdict verdict, EventLabel label);
  void RemoveFromQueue(Entity& entity);
  Backoff& BackoffOf(const Entity& entity);
  void CountIncoming(const Entity& entity, Place place, EventLabel label, Place named);
  struct HeldCount;
  void Count(const HeldCount& count);
  void TellMoved(Entity& entity, Place from, EventLabel label);
  void TellPodMoved(const PodEntity& pod, Place from, EventLabel label);
  void Tell(Told told);
  void TellObservers();

  // Operations that the public ones consist of (classic_queue.cc).
  Status AddLocked(const PodRef& pod);
  bool HasRoomFor(const Pod& pod) const;
  Status Refused(std::string_view operation, const Pod& pod, std::string_view node) const;
  Status UpdateLocked(PodRef before, const PodRef& after);
  UpdateAnswer TryUpdateLocked(PodRef before, const PodRef& after);
  void DeleteLocked(PodEntity& pod);
  void TakeAway(PodEntity& pod);
  void Gone(PodEntity& pod, bool was_queued);
  void GoneButKept(PodEntity& pod, bool was_queued);
  class Replacement;
  PodEntity* ReplacedBy(PodEntity& entity, const Pod& pod) const;
  void ActivateLocked(const Pod& named);
  void Enter(PodEntity& pod);
  void UpdateQueued(PodEntity& pod, const PodRef& before, const PodRef& after);
  void JudgeUpdate(Entity& entity, const PodRef& before, const PodRef& after);
  void UpdateNomination(const PodKey& key, const Pod& before, const Pod& after);
  void ActivateEntity(Entity& entity);
  PodKey FindKey(const Pod& pod) const;
  static void CountGroup(const GroupEntity& group, QueueCounts* counts);

  // Groups (classic_groups.cc).
  bool IsMember(const Pod& pod) const {
    return options_.gates.GenericWorkload() && !pod.group_name.empty();
  }
  std::optional<GroupKey> RootOf(const Pod& member) const;
  GroupEntity* FindGroup(const GroupKey& root) const;
  void Join(PodEntity& member) { Join(member, member.Shown()); }
  void Join(PodEntity& member, Place from);
  class Retreat;
  void Leave(PodEntity& member);
  void StartGroup(const GroupKey& root, PodEntity& first);
  void WaitIncomplete(PodEntity& member);
  void WaitPending(GroupEntity& group, PodEntity& member);
  Place TakeOut(GroupEntity& group);
  // `except` tells of its move itself.
  void RequeueRest(GroupEntity& group, Place from, EventLabel label,
                   const PodEntity* except = nullptr);
  void Forget(const GroupEntity& group);
  void AddGroupLocked(PodGroupRef group);
  void JoinWaiting(const GroupKey& root);
  void TakeBack(PodEntity& joined);
  void DeleteGroupLocked(const GroupKey& key);
  void GroupDoneLocked(const GroupKey& root, GroupStatus status);
  void ReturnFromCycle(GroupEntity& group, GroupStatus status);
  void SortMembers(GroupEntity* group) const;

  // Attempts (classic_attempt.cc).
  std::optional<PoppedPod> PopLocked();
  std::optional<PoppedPod> PopAndTell();
  void GiveBack(const PoppedPod& popped);
  Status FailLocked(const PodKey& key, PluginSet unschedulable, PluginSet pending);
  bool BeginAttempt(PodEntity& pod, Place from);
  std::optional<PoppedPod> PopPod(PodEntity& pod);
  std::optional<PoppedPod> PopGroup(GroupEntity& group);
  void EndInFlight(PodEntity& pod);
  void SetRejectors(PodEntity& pod, PluginSet unschedulable, PluginSet pending);
  void ReturnToQueue(PodEntity& pod, PluginSet unschedulable, PluginSet pending);
  void ReturnToGroup(PodEntity& member, PluginSet unschedulable, PluginSet pending);
  Verdict JudgeLoggedEvents(const PodEntity& pod) const;

  // Events (classic_events.cc).
  void LogIfAnyInFlight(const ClusterEvent& event, const ObjectChange& change);
  void CollectCandidates(const ClusterEvent& event, const ObjectChange& change,
                         const PreCheck& pre_check);
  // The registrations that list a pod, by the pod.
  using Listed = folly::F14FastMap<PodId, RegistrationMask>;
  Listed ListedPods() const;
  RegistrationMask AskedOf(PodId id, const Listed& listed) const;
  void CollectGroups(const ClusterEvent& event, PluginSet registered, const PreCheck& pre_check,
                     const Listed& listed);
  void AddCandidate(Entity& entity, RegistrationMask asked, const ClusterEvent& event,
                    PluginSet registered, const PreCheck& pre_check);
  void JudgeAndRequeue(const ClusterEvent& event, const ObjectChange& change);
  void ClearCandidates();
  void Rescue(Entity& entity, Instant now);
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
  folly::F14VectorMap<PodId, PodEntity*> pool_;
  GroupTree tree_;
  std::map<GroupKey, std::unique_ptr<GroupEntity>> groups_;  // By root.
  std::map<GroupKey, std::vector<PodEntity*>> incomplete_;   // By the pods' own group.
  folly::F14VectorSet<GroupEntity*> pooled_groups_;
  InFlightLog in_flight_;
  Nominator nominator_;
  uint64_t scheduling_cycle_ = 0;
  uint64_t gated_ = 0;
  bool closed_ = false;

  // Of the operation under way; told when it is over.
  std::vector<Told> told_;
  // What is to be counted if the replacement under way is not undone; null: count at once.
  std::vector<HeldCount>* held_counts_ = nullptr;

  // Reused between events.
  struct Candidate {
    Entity* entity;
    size_t first;  // Of its pods in judged_.
    size_t pods;
  };
  std::vector<Candidate> candidates_;
  std::vector<JudgedPod> judged_;
  std::vector<Verdict> verdicts_;
  Narrowing narrowing_;

  // Outside the mutex, which a tick takes.
  FlushTickers tickers_;
};

}  // namespace schedq
