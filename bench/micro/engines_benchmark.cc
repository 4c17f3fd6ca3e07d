// Whole engines on the workloads of anchors.json.
//
//   pod_life      add all N pods  ->  pop and done all N           time / N
//
//   claim_storm   N pods rejected by DynamicResources, each with its own claim
//                         |
//     claim update  ->  engine  ->  one pod requeued               time / events
//     (random order)
//
// Answers: every pod is popped once, higher priorities first; every event requeues one pod, and
// narrowed ones judge exactly one. Filling is not timed in claim_storm.
#include <algorithm>
#include <chrono>
#include <limits>

#include "bench/anchors.h"
#include "bench/interrupt.h"
#include "bench/micro/engine_workload.h"
#include "bench/micro/suites.h"

namespace schedq {
namespace {

// Not narrowed, an event costs time in proportion to the pods: a few hundred events say how much.
constexpr int64_t kEventsMaxNotNarrowed = 200;

double SecondsSince(std::chrono::steady_clock::time_point started) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

struct Outcome {
  double seconds = 0;
  const char* fault = nullptr;
};

Outcome LivePods(EngineKind engine, int64_t count) {
  EngineStage stage(engine, /*narrows=*/true);
  SchedulingQueue& queue = stage.rig->queue();
  const std::vector<PodRef> pods = MakePods(count, ClaimUse::kNone);
  const auto started = std::chrono::steady_clock::now();
  for (const PodRef& pod : pods) queue.Add(pod);
  int64_t popped_count = 0;
  int32_t previous_priority = std::numeric_limits<int32_t>::max();
  bool is_in_order = true;
  while (const std::optional<PoppedPod> popped = queue.TryPop()) {
    is_in_order = is_in_order && popped->pod->priority <= previous_priority;
    previous_priority = popped->pod->priority;
    queue.Done(popped->key);
    ++popped_count;
  }
  Outcome outcome{SecondsSince(started)};
  if (popped_count != count) outcome.fault = "a pod was lost or doubled";
  if (!is_in_order) outcome.fault = "a pod came before one of higher priority";
  return outcome;
}

Outcome StormClaims(EngineKind engine, bool narrows, int64_t count, int64_t events) {
  EngineStage stage(engine, narrows);
  SchedulingQueue& queue = stage.rig->queue();
  World& world = stage.rig->world();
  const std::vector<PodRef> pods = MakePods(count, ClaimUse::kOwnClaim);
  const PluginSet rejector = PluginSet::Of(*stage.rig->plugins().Find("DynamicResources"));
  for (const PodRef& pod : pods) {
    world.ClaimSeen(pod->namespace_name, pod->claims.front());
    world.PodChanged(nullptr, pod.get());
    queue.Add(pod);
    static_cast<void>(queue.Fail(queue.TryPop()->key, rejector, PluginSet()));
  }
  std::vector<ObjectChange> changes = MakeClaimUpdates(count);
  changes.resize(static_cast<size_t>(events));
  const ClusterEvent event = MakeEvent(Resource::kResourceClaim, Action::kUpdate);
  const auto started = std::chrono::steady_clock::now();
  for (const ObjectChange& change : changes) queue.Event(event, change);
  Outcome outcome{SecondsSince(started)};

  const uint64_t left = static_cast<uint64_t>(count - events);
  if (queue.Counts().unschedulable != left) outcome.fault = "an event did not requeue one pod";
  const auto judged = stage.rig->metrics().HistogramAt(
      "scheduler_queueing_hint_execution_duration_seconds",
      {"DynamicResources", "resource.k8s.io/ResourceClaimUpdate", "Queue"});
  if (!judged || judged->count != static_cast<uint64_t>(events)) {
    outcome.fault = "not one hint an event answered Queue";
  }
  return outcome;
}

// The run has the workload's size, whatever number of iterations google-benchmark asks for: time is
// reported in proportion.
void Report(benchmark::State& state, const Outcome& outcome, int64_t operations) {
  if (outcome.fault != nullptr) {
    state.SkipWithError(outcome.fault);
    return;
  }
  const double share = static_cast<double>(state.max_iterations) / static_cast<double>(operations);
  while (state.KeepRunningBatch(state.max_iterations)) {
    state.SetIterationTime(outcome.seconds * share);
  }
}

std::optional<double> Anchor(const char* table, int64_t count, const char* column) {
  const nlohmann::json& rows = Anchors().at("upstream_queue").at(table);
  const auto row = rows.find(std::to_string(count));
  if (row == rows.end()) return std::nullopt;
  return column == nullptr ? row->get<double>() : row->at(column).get<double>();
}

BenchmarkCase CaseOf(EngineKind engine, const std::string& group, int64_t count) {
  BenchmarkCase one;
  one.group = group + "/" + std::to_string(count) + "_pods";
  one.contestant = std::string(EngineName(engine));
  one.parameters = {{"pods", static_cast<uint64_t>(count)}};
  one.role = engine == EngineKind::kLockfree ? ContenderRole::kProduct : ContenderRole::kRival;
  return one;
}

void AddPodLife(BenchmarkList& list, EngineKind engine, int64_t count) {
  BenchmarkCase one = CaseOf(engine, "engine/pod_life", count);
  one.topology = "add all -> pop and done all";
  one.operations = count;
  one.anchor_ns = Anchor("add_pop_done_per_pod", count, "total");
  one.body = [=](benchmark::State& state) {
    if (Interrupted()) return state.SkipWithError("interrupted");
    Report(state, LivePods(engine, count), count);
  };
  list.Add(std::move(one));
}

void AddClaimStorm(BenchmarkList& list, EngineKind engine, bool narrows, int64_t count) {
  const char* kind = narrows ? "narrowed" : "all_pods";
  BenchmarkCase one = CaseOf(engine, std::string("engine/claim_storm/") + kind, count);
  one.topology = "N rejected pods <- one update of each claim";
  const int64_t events = narrows ? count : std::min(count, kEventsMaxNotNarrowed);
  one.operations = events;
  one.anchor_ns =
      Anchor(narrows ? "claim_storm_per_event_narrowed" : "claim_storm_per_event_all_pods", count,
             nullptr);
  one.body = [=](benchmark::State& state) {
    if (Interrupted()) return state.SkipWithError("interrupted");
    Report(state, StormClaims(engine, narrows, count, events), events);
  };
  list.Add(std::move(one));
}

}  // namespace

void AddEngineBenchmarks(BenchmarkList& list, BenchmarkSize size) {
  const bool is_tiny = size == BenchmarkSize::kTiny;
  const std::vector<int64_t> counts =
      is_tiny ? std::vector<int64_t>{1000} : std::vector<int64_t>{10'000, 100'000, 1'000'000};
  for (const int64_t count : counts) {
    for (const EngineKind engine : AllEngines()) AddPodLife(list, engine, count);
  }
  for (const int64_t count : counts) {
    for (const EngineKind engine : AllEngines()) AddClaimStorm(list, engine, true, count);
  }
  for (const int64_t count : is_tiny ? counts : std::vector<int64_t>{1000, 10'000, 100'000}) {
    for (const EngineKind engine : AllEngines()) AddClaimStorm(list, engine, false, count);
  }
}

}  // namespace schedq
