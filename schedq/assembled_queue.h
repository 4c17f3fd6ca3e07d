// The product, assembled: a scheduling queue with its plugins, their world, metrics, and the
// dispatcher if there is one.
//
// Purpose: a program that embeds schedq makes one of these and tells it once what happened in the
// cluster. It tells the plugins' world first and the queue then, so that PreEnqueue functions and
// hints see the state after the operation, and the dispatcher what makes its waiting calls vain.
// When not to use it: there is no other way to wire an engine in this project.
// Example: examples/first_queue.cc.
//
// Threads: Create and the destructor by one thread. Every other function from any thread at any
// time; two changes of one pod, one claim or one group must come in their order. With the lock-free
// engine no function but Pop, Run and Close waits for another thread.
// Invariants:
//  1. A pod that was told of as added, and neither as deleted nor as bound, is queued, in flight in
//     an attempt that is open, or on its way to a node.
//  2. The world is told before the queue.
//  3. What is refused has changed nothing: a pod that is new and finds no room, or a name that is
//     too long (docs/semantics.md, Limits). The caller may tell of it again later.
// Memory: the engine's, the world's and the dispatcher's; see their headers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/names/interner_forward.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/queue_answers.h"
#include "schedq/assembly_options.h"
#include "schedq/attempt.h"

namespace schedq {

class ApiCalls;
class MetricsRegistry;
class PluginPreEnqueue;
class PluginRegistry;
class SchedulingQueue;
class World;

class AssembledQueue {
 public:
  // May the event concern this pod? Filters candidates before they are judged.
  using PreCheck = std::function<bool(const Pod&)>;

  // An error says which option is missing or wrong.
  static Result<std::unique_ptr<AssembledQueue>> Create(AssemblyOptions options);
  ~AssembledQueue();
  AssembledQueue(const AssembledQueue&) = delete;
  AssembledQueue& operator=(const AssembledQueue&) = delete;

  // --- What happened in the cluster, as informers tell it: both versions of the object. No
  // `before` for one that came, no `after` for one that went.

  // Any change of a pod, assigned to a node or not: it is added, updated, deleted or bound, and the
  // events that follow are sent. With the gate GenericWorkload on a pod that is added is an event
  // too.
  Status PodChanged(const PodRef& before, const PodRef& after);
  void NodeChanged(const ObjectRef& before, const ObjectRef& after);
  void ClaimChanged(const ObjectRef& before, const ObjectRef& after);
  // A PodGroup or a CompositePodGroup came, changed or went, and the event that follows is sent.
  // Nothing happens where the gate is off that makes its kind known: GenericWorkload, for a
  // composite CompositePodGroup.
  void GroupChanged(const PodGroupRef& before, const PodGroupRef& after);
  // Any other event. Of a ResourceClaim too: the world follows. False: no plugin registered for it.
  bool Event(const ClusterEvent& event, const ObjectChange& change);
  bool Event(const ClusterEvent& event, const ObjectChange& change, const PreCheck& pre_check);

  // --- The steps of PodChanged and GroupChanged, for a caller that sends their events itself.

  Status PodAdded(PodRef pod);
  Status PodUpdated(const PodRef& before, const PodRef& after);
  void PodDeleted(const PodRef& pod);
  // `pod` is the last version that was told of.
  void PodBound(const PodRef& pod);
  void GroupAdded(const PodGroupRef& group);
  void GroupUpdated(const PodGroupRef& group);
  void GroupDeleted(const GroupKey& group);

  // --- Scheduling.

  // Waits until there is a pod, the time is over, or the queue is closed and empty (nullopt).
  std::optional<Attempt> Pop(std::optional<Duration> timeout = std::nullopt);
  std::optional<Attempt> TryPop();
  // Ends the cycle of a group that was popped (engine/queue.h).
  void GroupDone(const GroupKey& root, GroupStatus status);
  void Activate(std::span<const PodRef> pods);
  // In memory only. An empty node clears.
  Status Nominate(const PodRef& pod, std::string_view node);
  // The same for a pod in a queue whose nomination a preemption overrules: the API server is told.
  void ClearNomination(const PodRef& pod);
  std::vector<PodRef> NominatedPods(std::string_view node) const;
  std::string NominatedNode(const Pod& pod) const;  // Empty: none.

  // --- Time. Run starts the tickers that flush; without them the caller flushes. Close wakes every
  // Pop that waits, ends every attempt that is open, and ends the calls that wait.

  void Run();
  void FlushBackoff();
  void FlushUnschedulable();
  void Close();

  // --- To look at.

  QueueCounts Counts() const;
  // By "namespace/name".
  PodWhereabouts Where(std::string_view pod_name) const;
  std::vector<PodRef> List(Place place) const;
  // The plugins' numbers by their names. An error names the plugin that there is not.
  Result<PluginSet> Plugins(std::span<const std::string_view> names) const;
  // In the order of their numbers.
  std::vector<std::string> PluginNames() const;
  // All metrics in Prometheus' text format.
  std::string MetricsText() const;

  // --- The parts, for measurements and tests; their headers are the project's own.

  // The engine itself. A caller that changes it keeps the order of world and queue.
  SchedulingQueue& queue();
  const SchedulingQueue& queue() const;
  World& world();
  Interner& pod_names();
  MetricsRegistry& metrics();
  const MetricsRegistry& metrics() const;
  const PluginRegistry& plugins() const;
  const PluginPreEnqueue& pre_enqueue() const;
  ApiCalls* api_calls();  // Null: there are none.

 private:
  friend class Attempt;
  class BindingCall;
  struct Parts;
  explicit AssembledQueue(std::unique_ptr<Parts> parts);

  // An attempt's ways to end; see attempt.h.
  Status FailAttempt(const PoppedPod& popped, PluginSet unschedulable, PluginSet pending);
  // Where there is a dispatcher. Apart, so that reporting costs a queue without one nothing.
  [[gnu::noinline]] Status FailAndReport(const PoppedPod& popped, PluginSet unschedulable,
                                         PluginSet pending);
  Status FailNominated(const PoppedPod& popped, PluginSet unschedulable, PluginSet pending,
                       const FailedNomination& nomination);
  void Report(const PoppedPod& popped, PluginSet rejectors, const FailedNomination& nomination);
  Status FailBinding(const PoppedPod& popped);
  void DoneAttempt(const PoppedPod& popped);
  Status BeginBindingOf(const PoppedPod& popped, BindingPlan plan);
  Status ShowBinding(const PoppedPod& popped, BindingPlan plan);
  void BindAttempt(const PoppedPod& popped);
  void SendBindingOf(const PoppedPod& popped, const std::string& node,
                     std::function<void(const Status&)> then);
  Status UnassignedPodUpdated(const PodRef& before, const PodRef& after);
  // The event of a nomination that keeps no room any more. Nothing where there was none.
  void SendEndOfNomination(const PodRef& before);
  bool IsMember(const Pod& pod) const;
  bool Knows(GroupKind kind) const;
  // The world's side of a pod that the queue has refused.
  void ForgetRefused(const Pod& pod);
  // The newest version of the pod that the queue was told of.
  PodRef NewestOf(const PoppedPod& popped) const;

  const std::unique_ptr<Parts> parts_;
};

}  // namespace schedq
