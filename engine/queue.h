// The scheduling queue: what both engines do. docs/semantics.md says what each operation means.
//
// Threads: every operation may be called from any thread at any time. An engine's own header says
// each operation's progress class and linearization point.
// Invariants:
//  1. An incarnation of a pod is in at most one of active, backoff, error-backoff and the pool.
//  2. A pod that was added and neither deleted nor bound is in a queue, in flight, or done.
//  3. An event that came while a pod was in flight is judged when the pod fails.
// Refusals: Add, Update and Nominate may be refused: a pod or a name that is new finds no room
// (docs/semantics.md, Limits). Then nothing has changed, and the Status says what was expected.
// Where a pod that is there goes is never a question of room.
// Entities: a queue holds entities: a pod, or a group with its members (engine/pod_group.h). With
// the gate GenericWorkload off each entity is a pod, and nothing is known of groups.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backoff.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue_answers.h"
#include "engine/queue_metrics.h"

namespace schedq {

struct QueueOptions {
  Clock* clock = nullptr;
  Interner* pod_names = nullptr;  // "namespace/name" to PodId; shared with the hints.
  const PreEnqueueCheck* pre_enqueue = nullptr;
  const RequeueJudge* judge = nullptr;
  std::vector<QueueObserver*> observers;
  MetricsRegistry* metrics = nullptr;
  std::vector<std::string> plugin_names;  // By PluginId, for metric labels.
  Gates gates;
  BackoffPolicy backoff;
  Duration max_in_unschedulable = std::chrono::minutes(5);
  // As many pods as `pod_names` knows at one time; further ones are refused. 0: as many as the
  // engine can hold.
  uint64_t pods_max = 0;
};

class SchedulingQueue {
 public:
  using PreCheck = std::function<bool(const Pod&)>;

  virtual ~SchedulingQueue() = default;

  // From the cluster.

  // A pod that is live already is updated instead. A pod of the same name with another uid replaces
  // the old one.
  virtual Status Add(PodRef pod) = 0;
  virtual Status Update(PodRef before, PodRef after) = 0;
  // The same, but a live pod that stands nowhere, because its attempt is done, is left as it is:
  // nullopt. Update adds it.
  virtual std::optional<Status> UpdateUnlessAway(PodRef before, PodRef after) = 0;
  virtual void Delete(const Pod& pod) = 0;
  // The pod was bound: its attempt is done, and it is not live any more.
  virtual void Bind(const PodKey& pod) = 0;
  // `pre_check` may be empty: every candidate is judged.
  virtual void Event(const ClusterEvent& event, const ObjectChange& change,
                     const PreCheck& pre_check) = 0;
  void Event(const ClusterEvent& event, const ObjectChange& change) {
    Event(event, change, PreCheck());
  }
  virtual void Activate(std::span<const PodRef> pods) = 0;
  // A group object came, or another version of it. Where pods waited for it, they join their root.
  virtual void GroupAdd(PodGroupRef group) = 0;
  // Nothing moves.
  virtual void GroupUpdate(PodGroupRef group) = 0;
  virtual void GroupDelete(const GroupKey& group) = 0;

  // From the scheduling loop.

  // Blocks until there is a pod, the timeout passes or the queue is closed and empty (both
  // nullopt).
  virtual std::optional<PoppedPod> Pop(std::optional<Duration> timeout) = 0;
  virtual std::optional<PoppedPod> TryPop() = 0;
  virtual void Done(const PodKey& pod) = 0;
  // An error when the pod is in a queue already; its attempt is done nevertheless.
  virtual Status Fail(const PodKey& pod, PluginSet unschedulable, PluginSet pending) = 0;
  // Ends the cycle that began when this root was popped; without one, nothing happens. Members that
  // failed the attempt have failed before.
  virtual void GroupDone(const GroupKey& root, GroupStatus status) = 0;

  // From time. Run() starts the tickers that call these two on the clock; Close() stops them.
  virtual void FlushBackoff() = 0;
  virtual void FlushUnschedulable() = 0;
  virtual void Run() = 0;
  // Wakes every blocked Pop and ends every in-flight pod. Queued pods can still be popped.
  virtual void Close() = 0;

  // Nominations. An empty node clears.
  virtual Status Nominate(const PodRef& pod, std::string_view node) = 0;
  virtual std::vector<PodRef> NominatedPods(std::string_view node) const = 0;
  // Empty: none.
  virtual std::string NominatedNode(const PodKey& pod) const = 0;

  // Read side.
  virtual PodKey KeyOf(const Pod& pod) const = 0;  // id is kNoPod when the name is unknown.
  virtual QueueCounts Counts() const = 0;
  virtual std::vector<PodRef> List(Place place) const = 0;
  // By "namespace/name": the queued incarnation if there is one, else the one in flight.
  virtual PodWhereabouts Where(std::string_view pod_name) const = 0;
  virtual uint64_t SchedulingCycle() const = 0;
  virtual uint64_t LoggedEvents() const = 0;  // Retained for pods in flight.
  virtual const QueueMetrics& Metrics() const = 0;
};

}  // namespace schedq
