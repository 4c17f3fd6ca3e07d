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

#include "bench/anchors.h"
#include "bench/interrupt.h"
#include "bench/micro/suites.h"
#include "bench/paths/claim_storm.h"
#include "bench/paths/pod_life.h"

namespace schedq {
namespace {

// Not narrowed, an event costs time in proportion to the pods: a few hundred events say how much.
constexpr int64_t kEventsMaxNotNarrowed = 200;

// The run has the workload's size, whatever number of iterations google-benchmark asks for: time is
// reported in proportion.
void Measure(benchmark::State& state, MeasuredPath& path) {
  const auto started = std::chrono::steady_clock::now();
  path.Run();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
  const PathOutcome outcome = path.Outcome();
  if (outcome.fault != nullptr) {
    state.SkipWithError(outcome.fault);
    return;
  }
  const double share =
      static_cast<double>(state.max_iterations) / static_cast<double>(outcome.operations);
  while (state.KeepRunningBatch(state.max_iterations)) {
    state.SetIterationTime(elapsed.count() * share);
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
    PodLife path(engine, count);
    Measure(state, path);
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
    ClaimStorm path({engine, narrows, count, events});
    Measure(state, path);
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
