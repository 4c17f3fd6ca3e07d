// Writes a run down as a trace that `schedq replay` judges an engine by.
//
// Purpose: every operation of the queue with what came out of it; plugins' answers as `recorded`,
// so that the trace needs neither the cluster nor the plugins.
// How the scheduling loop maps to a trace: a trace knows no "done" of its own. A pod stays in
// flight there until its binding ends: with `bind` when the cluster says so, with `fail` when it
// failed.
// Threads: one.
// Memory: a record a pod of the run; lines go to the sink as they come.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "bench/format/trace/trace.h"
#include "bench/format/trace/traced_pods.h"
#include "engine/queue.h"
#include "hints/recorded/answer_recorder.h"
#include "hints/registry.h"

namespace schedq {

// The queue that is recorded. All outlive the recording.
struct RecordedQueue {
  const SchedulingQueue* queue = nullptr;
  const PluginRegistry* plugins = nullptr;
  Clock* clock = nullptr;  // The queue's, which counts in whole milliseconds.
  Gates gates;
  BackoffPolicy backoff;
  Duration max_in_unschedulable{};
};

class TraceRecorder final : public QueueObserver {
 public:
  // Takes lines without their ends.
  using Sink = std::function<void(const std::string&)>;

  explicit TraceRecorder(Sink sink) : sink_(std::move(sink)) {}

  AnswerRecorder& answers() { return answers_; }
  // Writes the header. Before the queue's first operation.
  void Begin(const RecordedQueue& recorded);

  // Each after the queue has acted.
  void Added(const PodRef& pod);
  void Updated(const PodRef& pod);
  void Deleted(const PodRef& pod);
  void Bound(const PodRef& pod);
  void Happened(const ClusterEvent& event, const ObjectChange& change);
  void Popped(const std::optional<PoppedPod>& popped);
  // The attempt is done; whether the pod is bound shows later.
  void Ended(const PoppedPod& pod);
  // The pod will not be bound: it is being deleted.
  void Abandoned(const PoppedPod& pod) { EndFlight(pod.pod, TraceOp::kBind, PluginSet()); }
  void Failed(const PoppedPod& pod, PluginSet unschedulable);
  void Flushed(TraceOp op);
  // The last line.
  void End();

  void OnGated(const PodRef& pod, PluginId, std::string_view, const PodMove&) override {
    Touch(*pod);
  }
  void OnMoved(const PodRef& pod, Place, Place, EventLabel) override { Touch(*pod); }

 private:
  void Touch(const Pod& pod) { touched_.insert(FullName(pod)); }
  TraceOperation Begin(TraceOp op) const;
  void EndFlight(const PodRef& pod, TraceOp op, PluginSet unschedulable);
  void AddAnswers(TraceOperation* operation);
  std::string DisplayName(const std::string& full_name);
  std::string PlaceOf(const std::string& full_name) const;
  // Adds answers and what changed, and writes the line.
  void Write(TraceOperation operation, TraceWant want = {});

  const Sink sink_;
  AnswerRecorder answers_;
  const SchedulingQueue* queue_ = nullptr;
  const PluginRegistry* plugins_ = nullptr;
  Clock* clock_ = nullptr;
  Instant start_{};
  TracedPods pods_;
  std::set<std::string> touched_;
  std::set<std::string> binding_;  // Done in the run, in flight in the trace.
};

}  // namespace schedq
