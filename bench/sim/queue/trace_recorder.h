// Records a run as a trace, which `schedq replay` compares an engine with.
//
// Purpose: a trace has every operation of the queue with its outcome. It has the plugins' answers
// as `recorded`, so that a replay needs neither the cluster nor the plugins.
// Mapping: a trace has no operation for the end of an attempt whose binding begins. A pod stays in
// flight in the trace until its binding ends: with `bind` when the informers deliver the bound pod,
// with `fail` when the binding failed.
// Threads: one.
// Memory: a record a pod of the run; lines go to the sink as they come.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "bench/format/trace/trace.h"
#include "bench/format/trace/traced_groups.h"
#include "bench/format/trace/traced_pods.h"
#include "engine/backoff.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "hints/recorded/answer_recorder.h"
#include "hints/registry.h"

namespace schedq {

// The recorded queue. All pointers outlive the recording.
struct RecordedQueue {
  const SchedulingQueue* queue = nullptr;
  const PluginRegistry* plugins = nullptr;
  Clock* clock = nullptr;  // The queue's clock, which counts in whole milliseconds.
  Gates gates;
  BackoffPolicy backoff;
  Duration max_in_unschedulable{};
};

class TraceRecorder final : public QueueObserver {
 public:
  // Receives lines without their line breaks.
  using Sink = std::function<void(const std::string&)>;

  explicit TraceRecorder(Sink sink) : sink_(std::move(sink)) {}

  AnswerRecorder& answers() { return answers_; }
  // Writes the header. Called before the queue's first operation.
  void Begin(const RecordedQueue& recorded);

  // Each is called after the queue's operation.
  void Added(const PodRef& pod);
  void Updated(const PodRef& pod);
  void Deleted(const PodRef& pod);
  void Bound(const PodRef& pod);
  void GroupAdded(const PodGroupRef& group);
  void GroupUpdated(const PodGroupRef& group);
  void GroupDeleted(const GroupKey& group);
  // The cycle of a group that was popped has ended.
  void GroupEnded(const GroupKey& root, GroupStatus status);
  void EventHandled(const ClusterEvent& event, const ObjectChange& change);
  void Popped(const std::optional<PoppedPod>& popped);
  // The attempt is done, and the binding has begun.
  void Ended(const PoppedPod& pod);
  // The pod will not be bound, because it is being deleted.
  void Abandoned(const PoppedPod& pod) { EndFlight(pod.pod, TraceOp::kBind, PluginSet()); }
  void Failed(const PoppedPod& pod, PluginSet unschedulable);
  void Nominated(const PodRef& pod, const std::string& node);
  void Activated(const PodRef& pod);
  void Flushed(TraceOp op);
  // Writes the last line.
  void End();

  void OnGated(const PodRef& pod, PluginId, std::string_view, const PodMove&) override {
    Touch(*pod);
  }
  void OnMoved(const PodRef& pod, Place, Place, EventLabel) override { Touch(*pod); }

 private:
  void Touch(const Pod& pod) { touched_.insert(FullName(pod)); }
  TraceOperation Begin(TraceOp op) const;
  void WriteGroup(TraceOp op, TraceOp op_of_composite, const PodGroupRef& group);
  void EndFlight(const PodRef& pod, TraceOp op, PluginSet unschedulable);
  void AddAnswers(TraceOperation* operation);
  std::string DisplayName(const std::string& full_name);
  std::string PlaceOf(const std::string& full_name) const;
  // Adds the answers and the changed places to the operation, and writes its line.
  void Write(TraceOperation operation, TraceWant want = {});

  const Sink sink_;
  AnswerRecorder answers_;
  const SchedulingQueue* queue_ = nullptr;
  const PluginRegistry* plugins_ = nullptr;
  Clock* clock_ = nullptr;
  Instant start_{};
  int version_ = 1;          // Of the header that was written.
  bool has_groups_ = false;  // What follows of groups is left out where there are none.
  TracedPods pods_;
  TracedGroups groups_;
  std::set<std::string> touched_;
  std::set<std::string> binding_;  // Pods that are done in the run, but in flight in the trace.
};

}  // namespace schedq
