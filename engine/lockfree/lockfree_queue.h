// The product: the scheduling queue without locks. README.md in this folder says what concurrency
// means here, and which files to read.
//
// Purpose: what SchedulingQueue promises, callable from any thread at any time, where no operation
// takes a lock or waits for another thread, but for a Pop that sleeps because there is nothing.
// This class owns the structures (queue_parts.h) and the classes that work on them, and says which
// of these an operation is for.
// When not to use it: as the judge of what is right; that is the classic engine.
// Progress: every operation is lock-free except Pop, which blocks while there is nothing to pop,
// and Run and Close, which take a mutex of their own around the tickers.
// Linearization: each operation on a pod linearizes at the exchange of the pod's slot word that
// makes its change true (pod_mover.h); a pop at the moment before its exchange at which no better
// ticket was there. What follows from an exchange is announced, and others finish it
// (unfinished_moves.h).
//
// Invariants:
//  1. A ticket is published only after the exchange that gave the pod its place, and counts only
//     while the slot's version and place are the ticket's. So a queue may hold stale tickets, or a
//     ticket twice, and no pod twice.
//  2. No lost wake-up. An event is logged, then the pool is looked at. A failing pod enters the
//     pool, then reads the log on. A pod that PreEnqueue rejects enters the pool, and if an event
//     that the gating plugin registered for began meanwhile PreEnqueue is asked again.
//  3. Observers hear of a move after it happened and before its ticket is published, unless another
//     thread finishes the move.
// Memory: README.md has the sum; nothing grows but with the most pods there were at one time. Stale
// tickets end when they are popped, flushed, or so many that they are looked for.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/flush_tickers.h"
#include "engine/lockfree/groups/group_publisher.h"
#include "engine/lockfree/moves/move_finisher.h"
#include "engine/lockfree/moves/pod_mover.h"
#include "engine/lockfree/moves/pool_judge.h"
#include "engine/lockfree/operations/cluster_operations.h"
#include "engine/lockfree/operations/event_operations.h"
#include "engine/lockfree/operations/fail_operations.h"
#include "engine/lockfree/operations/flights.h"
#include "engine/lockfree/operations/flush_operations.h"
#include "engine/lockfree/operations/group_events.h"
#include "engine/lockfree/operations/group_operations.h"
#include "engine/lockfree/operations/pop_operations.h"
#include "engine/lockfree/operations/read_operations.h"
#include "engine/lockfree/queue_parts.h"
#include "engine/lockfree/queue_shape.h"
#include "engine/lockfree/tickets/ticket_publisher.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "engine/queue_metrics.h"

namespace schedq {

template <template <typename> class Atom, typename Shape = LockfreeQueueShape>
class BasicLockfreeQueue final : public SchedulingQueue {
 public:
  explicit BasicLockfreeQueue(QueueOptions options);
  ~BasicLockfreeQueue() override;

  // What the cluster tells.
  Status Add(PodRef pod) override {
    if (parts_.groups != nullptr) [[unlikely]]
      return AddAmidGroups(pod);
    return pods_.Add(std::move(pod));
  }
  Status Update(PodRef before, PodRef after) override {
    const UpdateAnswer answer = TryUpdate(before, after);
    return answer.status ? *answer.status : Add(std::move(after));
  }
  std::optional<Status> UpdateUnlessAway(PodRef before, PodRef after) override {
    const UpdateAnswer answer = TryUpdate(before, after);
    if (answer.is_away) return std::nullopt;
    return answer.status ? *answer.status : Add(std::move(after));
  }
  void Delete(const Pod& pod) override {
    if (parts_.IsMember(pod)) [[unlikely]]
      return groups_.Delete(pod);
    pods_.Delete(pod);
  }
  void Bind(const PodKey& pod) override {
    if (parts_.groups != nullptr) [[unlikely]]
      return BindAmidGroups(pod);
    pods_.Bind(pod);
  }
  using SchedulingQueue::Event;
  void Event(const ClusterEvent& event, const ObjectChange& change,
             const PreCheck& pre_check) override {
    events_.Event(event, change, pre_check);
  }
  void Activate(std::span<const PodRef> pods) override {
    finisher_.FinishLeft();
    for (const PodRef& pod : pods) {
      parts_.IsMember(*pod) ? groups_.Activate(*pod) : pods_.Activate(*pod);
    }
  }
  Status Nominate(const PodRef& pod, std::string_view node) override {
    return parts_.IsMember(*pod) ? groups_.Nominate(*pod, node) : pods_.Nominate(*pod, node);
  }
  void GroupAdd(PodGroupRef group) override { groups_.GroupAdd(group); }
  void GroupUpdate(PodGroupRef group) override { groups_.GroupUpdate(group); }
  void GroupDelete(const GroupKey& group) override { groups_.GroupDelete(group); }

  // Attempts.
  std::optional<PoppedPod> TryPop() override { return pops_.TryPop(); }
  std::optional<PoppedPod> Pop(std::optional<Duration> timeout) override {
    return pops_.Pop(timeout);
  }
  void Done(const PodKey& pod) override {
    if (parts_.groups != nullptr) [[unlikely]]
      return DoneAmidGroups(pod);
    flights_.End(pod);
  }
  Status Fail(const PodKey& pod, PluginSet unschedulable, PluginSet pending) override {
    if (parts_.groups != nullptr) [[unlikely]]
      return FailAmidGroups(pod, unschedulable, pending);
    return fails_.Fail(pod, unschedulable, pending);
  }
  void GroupDone(const GroupKey& root, GroupStatus status) override {
    groups_.GroupDone(root, status);
  }

  // Time.
  void FlushBackoff() override { flushes_.FlushBackoff(); }
  void FlushUnschedulable() override { flushes_.FlushUnschedulable(); }
  void Run() override;
  void Close() override;

  // The read side.
  PodKey KeyOf(const Pod& pod) const override { return parts_.FindKey(pod); }
  QueueCounts Counts() const override { return reads_.Counts(); }
  std::vector<PodRef> List(Place place) const override { return reads_.List(place); }
  PodWhereabouts Where(std::string_view pod_name) const override { return reads_.Where(pod_name); }
  std::vector<PodRef> NominatedPods(std::string_view node) const override {
    return reads_.NominatedPods(node);
  }
  std::string NominatedNode(const PodKey& pod) const override { return reads_.NominatedNode(pod); }
  uint64_t SchedulingCycle() const override { return parts_.cycle.load(); }
  uint64_t LoggedEvents() const override { return parts_.log.events(); }
  const QueueMetrics& Metrics() const override { return parts_.metrics; }
  // How many tickets the active queue holds, stale ones among them. May be off by what is pushed
  // and popped meanwhile.
  uint64_t ActiveTickets() const { return parts_.active.Size(); }

 private:
  using Parts = QueueParts<Atom, Shape>;

  // Where the gate GenericWorkload is on: whether it is an operation of a member or a single pod.
  // Code of its own, so that without groups an operation looks at one pointer, and no more.
  [[gnu::noinline]] Status AddAmidGroups(const PodRef& pod) {
    return parts_.IsMember(*pod) ? groups_.Add(pod) : groups_.AddSingle(pod);
  }
  [[gnu::noinline]] void BindAmidGroups(const PodKey& pod) {
    parts_.HasMember(pod) ? groups_.Bind(pod) : pods_.Bind(pod);
  }
  [[gnu::noinline]] void DoneAmidGroups(const PodKey& pod) {
    if (parts_.HasMember(pod)) return groups_.Done(pod);
    flights_.End(pod);
  }
  [[gnu::noinline]] Status FailAmidGroups(const PodKey& pod, PluginSet unschedulable,
                                          PluginSet pending) {
    return parts_.HasMember(pod) ? groups_.Fail(pod, unschedulable, pending)
                                 : fails_.Fail(pod, unschedulable, pending);
  }
  UpdateAnswer TryUpdate(const PodRef& before, const PodRef& after) {
    if (parts_.IsMember(*after)) [[unlikely]]
      return groups_.Update(before, after);
    return pods_.Update(before, after);
  }

  Parts parts_;
  // What moves pods and groups.
  TicketPublisher<Parts> tickets_{&parts_};
  GroupPublisher<Parts> group_publisher_{&parts_, &tickets_};
  PodMover<Parts> mover_{&parts_, &tickets_};
  PoolJudge<Parts> pool_{&parts_, &mover_};
  MoveFinisher<Parts> finisher_{&parts_, &tickets_, &mover_, &pool_, &group_publisher_};
  Flights<Parts> flights_{&parts_};
  // What the operations do, by subject.
  ClusterOperations<Parts> pods_{&parts_, &mover_, &finisher_, &flights_};
  GroupOperations<Parts> groups_{&parts_, &finisher_, &group_publisher_, &pods_};
  GroupEvents<Parts> group_events_{&parts_, &groups_};
  FailOperations<Parts> fails_{&parts_, &mover_, &pool_, &finisher_, &flights_};
  PopOperations<Parts> pops_{&parts_, &finisher_, &flights_, &fails_, &groups_, &group_publisher_};
  EventOperations<Parts> events_{&parts_, &mover_, &pool_, &finisher_, &group_events_};
  FlushOperations<Parts> flushes_{&parts_, &tickets_, &mover_, &finisher_, &group_events_};
  ReadOperations<Parts> reads_{&parts_, flights_};

  FlushTickers tickers_;
};

template <template <typename> class Atom, typename Shape>
BasicLockfreeQueue<Atom, Shape>::BasicLockfreeQueue(QueueOptions options)
    : parts_(std::move(options), [this] { return Counts(); }), tickers_(parts_.options.clock) {}

template <template <typename> class Atom, typename Shape>
BasicLockfreeQueue<Atom, Shape>::~BasicLockfreeQueue() {
  Close();
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Run() {
  tickers_.Start(parts_.options.gates.PopFromBackoffQ(),
                 {[this] { FlushBackoff(); }, [this] { FlushUnschedulable(); }});
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Close() {
  parts_.is_closed.store(true);
  tickers_.Stop();
  flights_.EndAll();
  if (parts_.groups != nullptr) groups_.EndAllFlights();
  finisher_.FinishAll();
  parts_.poppable.NotifyAll();
}

using LockfreeQueue = BasicLockfreeQueue<std::atomic>;
extern template class BasicLockfreeQueue<std::atomic>;

}  // namespace schedq
