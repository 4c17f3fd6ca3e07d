// Whole engines on the workloads of anchors.json.
//
//   pod_life      add all N pods  ->  pop and done all N           time / N
//
//   claim_storm   N pods rejected by DynamicResources, each with its own claim
//                         |
//     claim update  ->  engine  ->  one pod requeued               time / events
//     (random order)
//
// Answers: every pod is popped once, higher priorities first. Every event requeues one pod, and a
// narrowed event judges exactly one. Filling is not timed in claim_storm.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/lab/micro/benchmark_list.h"
#include "bench/lab/micro/counted_lines.h"
#include "bench/lab/micro/path_case.h"
#include "bench/lab/micro/suites.h"
#include "bench/lab/paths/claim_storm.h"
#include "bench/lab/paths/pod_life.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

// Without narrowing an event takes time in proportion to the pods; a few hundred events suffice.
constexpr int64_t kEventsMaxNotNarrowed = 200;

void AddPodLife(BenchmarkList& list, EngineKind engine, int64_t count, bool is_tiny) {
  BenchmarkCase one = EngineCase(engine, "engine/pod_life", count);
  one.topology = "add all -> pop and done all";
  one.anchor_ns = EngineAnchor("add_pop_done_per_pod", std::to_string(count), "total");
  if (engine == EngineKind::kLockfree) one.counters = CountedOn("life", is_tiny);
  one.body = PathBody([=] { return std::make_unique<PodLife>(engine, count); });
  list.Add(std::move(one));
}

void AddClaimStorm(BenchmarkList& list, EngineKind engine, bool narrows, int64_t count) {
  const char* kind = narrows ? "narrowed" : "all_pods";
  BenchmarkCase one = EngineCase(engine, std::string("engine/claim_storm/") + kind, count);
  one.topology = "N rejected pods <- one update of each claim";
  const int64_t events = narrows ? count : std::min(count, kEventsMaxNotNarrowed);
  one.operations = events;
  one.anchor_ns =
      EngineAnchor(narrows ? "claim_storm_per_event_narrowed" : "claim_storm_per_event_all_pods",
                   std::to_string(count), nullptr);
  one.body = PathBody([=] {
    return std::make_unique<ClaimStorm>(ClaimStorm::Options{engine, narrows, count, events});
  });
  list.Add(std::move(one));
}

}  // namespace

void AddEngineBenchmarks(BenchmarkList& list, BenchmarkSize size) {
  const bool is_tiny = size == BenchmarkSize::kTiny;
  const std::vector<int64_t> counts =
      is_tiny ? std::vector<int64_t>{1000} : std::vector<int64_t>{10'000, 100'000, 1'000'000};
  for (const int64_t count : counts) {
    for (const EngineKind engine : AllEngines()) AddPodLife(list, engine, count, is_tiny);
  }
  for (const int64_t count : counts) {
    for (const EngineKind engine : AllEngines()) AddClaimStorm(list, engine, true, count);
  }
  for (const int64_t count : is_tiny ? counts : std::vector<int64_t>{1000, 10'000, 100'000}) {
    for (const EngineKind engine : AllEngines()) AddClaimStorm(list, engine, false, count);
  }
}

}  // namespace schedq
