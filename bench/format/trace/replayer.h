// Replays one trace on an engine and says what came out of each operation.
//
// Purpose: the judge of an engine against recorded behaviour, and the player of a sequence that a
// random test has shrunk. The caller compares Outcome with what the trace wants (expectation.h).
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/format/trace/trace.h"
#include "bench/format/trace/traced_groups.h"
#include "bench/format/trace/traced_pods.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "engine/told.h"
#include "hints/plugin.h"
#include "hints/recorded/recorded_answers.h"
#include "hints/registry.h"
#include "hints/world.h"
#include "schedq/assembled_queue.h"
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"

namespace schedq {

// What came out of one operation: the same shape as what a trace wants.
using TraceOutcome = TraceWant;

class Replayer {
 public:
  // An error says what is wrong with the header.
  static Result<std::unique_ptr<Replayer>> Create(const TraceHeader& header, EngineKind engine,
                                                  const std::vector<PluginSource>& further = {});
  // With any engine: a test's own, for instance.
  static Result<std::unique_ptr<Replayer>> Create(const TraceHeader& header,
                                                  const QueueMaker& make_queue,
                                                  const std::vector<PluginSource>& further = {});
  ~Replayer();

  // An error: the operation is malformed here (time running backwards, a name that is neither live
  // nor in flight, a group that is not known, a plugin that the header does not have).
  Result<TraceOutcome> Apply(const TraceOperation& operation);

  SchedulingQueue& queue() { return queue_->queue(); }
  MetricsRegistry& metrics() { return queue_->metrics(); }
  const PluginRegistry& plugins() const { return queue_->plugins(); }
  const World& world() const { return queue_->world(); }
  Instant Now() const { return clock_.Now(); }
  const TracedPods& pods() const { return pods_; }
  const TracedGroups& groups() const { return groups_; }
  // What observers were told in the last operation.
  const std::vector<Told>& told() const { return touched_.told; }

 private:
  // Collects the pods that an operation touched, and what was told of them.
  class Touched final : public QueueObserver {
   public:
    void OnGated(const PodRef& pod, PluginId plugin, std::string_view,
                 const PodMove& move) override {
      Touch(*pod);
      told.push_back({.what = Told::What::kGated, .pod = pod, .move = move, .plugin = plugin});
    }
    void OnPassed(const PodRef& pod, const PodMove& move) override {
      told.push_back({.what = Told::What::kPassed, .pod = pod, .move = move});
    }
    void OnMoved(const PodRef& pod, Place from, Place to, EventLabel label) override {
      Touch(*pod);
      told.push_back({.what = Told::What::kMoved,
                      .pod = pod,
                      .move = {},
                      .from = from,
                      .to = to,
                      .label = label});
    }
    void OnPopped(const PodRef& pod, uint32_t attempts) override {
      told.push_back({.what = Told::What::kPopped, .pod = pod, .move = {}, .attempts = attempts});
    }
    void OnDeleted(const PodRef& pod, const PodMove& move) override {
      told.push_back({.what = Told::What::kDeleted, .pod = pod, .move = move});
    }
    void Touch(const Pod& pod) { names.insert(FullName(pod)); }
    void Clear() {
      names.clear();
      told.clear();
    }
    std::set<std::string> names;
    std::vector<Told> told;
  };

  explicit Replayer(const TraceHeader& header);

  Status Build(const QueueMaker& make_queue, const std::vector<PluginSource>& further);
  // The header's plugins; a further one takes the place of the one that has its name, or stands
  // behind them.
  Result<std::vector<Plugin>> MakePlugins(World* world, const std::vector<PluginSource>& further);
  Status SetAnswers(const TraceOperation& operation, const ObjectRef& object);
  Status Act(const TraceOperation& operation, TraceOutcome* outcome);
  Status Add(const TraceOperation& operation);
  Status Update(const TraceOperation& operation);
  Status Delete(const TraceOperation& operation);
  Status EndAttempt(const TraceOperation& operation);
  Status Activate(const TraceOperation& operation);
  Status Nominate(const TraceOperation& operation);
  Status ChangeGroup(const TraceOperation& operation);
  Status EndCycle(const TraceOperation& operation);
  void Pop(TraceOutcome* outcome);
  // A pod, or a member of a group, is in flight now. Returns its name in the trace.
  std::string TakeOff(const PoppedPod& popped);
  void AskNominated(const TraceOperation& operation, TraceOutcome* outcome);
  Result<PluginSet> Plugins(const std::vector<std::string>& names) const;
  void TellChanges(bool all, TraceOutcome* outcome);

  const TraceHeader header_;
  VirtualClock clock_;
  std::unique_ptr<RecordedAnswers> answers_;
  Touched touched_;
  TracedPods pods_;
  TracedGroups groups_;
  int64_t time_ms_ = 0;
  std::unique_ptr<AssembledQueue> queue_;
};

}  // namespace schedq
