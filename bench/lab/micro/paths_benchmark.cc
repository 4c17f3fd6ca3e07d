// Engines on the paths that engines_benchmark.cc does not cover.
//
//   producer_consumer   T1: Add  ->  engine  ->  T2: Pop, Done                 time / N
//   company             pod_life, with 100,000 gated pods around               time / N
//   add_during_storm    T1: claim events, not narrowed;  T2: Add at 1,000/s    p99 of Add
//   backoff_flush       N pods over ten windows  ->  FlushBackoff each second  time / N
//   memory              N pods queued                                          bytes a pod
//
// Answers: each path of bench/lab/paths checks its own.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bench/anchors.h"
#include "bench/interrupt.h"
#include "bench/lab/micro/benchmark_list.h"
#include "bench/lab/micro/counted_lines.h"
#include "bench/lab/micro/path_case.h"
#include "bench/lab/micro/suites.h"
#include "bench/lab/paths/add_during_storm.h"
#include "bench/lab/paths/backoff_paths.h"
#include "bench/lab/paths/memory_use.h"
#include "bench/lab/paths/pod_life.h"
#include "bench/lab/paths/pod_life_amid.h"
#include "bench/lab/paths/producer_consumer.h"
#include "perf/documents/bench_document.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

BenchmarkCase CaseFor(EngineKind engine, const std::string& path, int64_t pods) {
  return EngineCase(engine, "engine/" + path, pods);
}

void AddProducerConsumer(BenchmarkList& list, EngineKind engine, int64_t pods, bool is_tiny) {
  BenchmarkCase one = CaseFor(engine, "producer_consumer", pods);
  one.topology = "T1: add -> queue -> T2: pop, done";
  if (engine == EngineKind::kLockfree) one.counters = CountedOn("producer", is_tiny);
  one.body = PathBody([=] { return std::make_unique<ProducerConsumer>(engine, pods); });
  list.Add(one);
  if (engine != EngineKind::kLockfree) return;
  one.contestant += " on one thread";
  one.role = ContenderRole::kControl;
  one.counters = {};
  one.body = PathBody([=] { return std::make_unique<PodLife>(engine, pods); });
  list.Add(std::move(one));
}

void AddLifeAmidGated(BenchmarkList& list, EngineKind engine, GatedLoad load, int64_t pods) {
  static constexpr const char* kNames[] = {"", "gated", "updates", "deletes"};
  const auto add = [&](GatedLoad around, const std::string& contestant, ContenderRole role) {
    BenchmarkCase one =
        CaseFor(engine, std::string("company/") + kNames[static_cast<int>(load)], pods);
    one.topology = "add all -> pop and done all, beside gated pods";
    one.contestant = contestant;
    one.role = role;
    one.body = PathBody([=] {
      return std::make_unique<PodLifeAmid>(PodLifeAmid::Options{engine, around, pods, pods});
    });
    list.Add(std::move(one));
  };
  const std::string name(EngineName(engine));
  const bool is_product = engine == EngineKind::kLockfree;
  add(load, name, is_product ? ContenderRole::kProduct : ContenderRole::kClassic);
  if (is_product) add(GatedLoad::kNone, name + " alone", ContenderRole::kControl);
}

void AddAddDuringStorm(BenchmarkList& list, EngineKind engine, int64_t pods) {
  constexpr int64_t kAddsMax = 3000;
  BenchmarkCase one = CaseFor(engine, "add_during_storm", pods);
  one.topology = "T1: claim updates judged over N pods; T2: add at 1,000 a second";
  one.unit = "ns p99";
  one.anchor_ns =
      EngineAnchor("add_latency_during_storm_us", pods == 10'000 ? "all_pods" : "", "p99");
  if (one.anchor_ns) *one.anchor_ns *= 1000;
  one.body = [=](benchmark::State& state) {
    if (Interrupted()) return state.SkipWithError("interrupted");
    const AddDuringStorm storm = MeasureAddDuringStorm(engine, pods, kAddsMax);
    if (storm.fault != nullptr) return state.SkipWithError(storm.fault);
    ReportValue(state, static_cast<double>(storm.latency.p99_ns));
  };
  list.Add(std::move(one));
}

void AddBackoffFlush(BenchmarkList& list, EngineKind engine, int64_t pods) {
  BenchmarkCase one = CaseFor(engine, "backoff_flush", pods);
  one.topology = "N pods in ten windows -> flush each second -> active";
  one.body = PathBody([=] {
    return std::make_unique<BackoffFlush>(BackoffOptions{.engine = engine, .pods = pods});
  });
  list.Add(std::move(one));
}

void AddMemory(BenchmarkList& list, EngineKind engine, int64_t pods, const char* path,
               const char* unit, std::optional<double> (*measure)(EngineKind, int64_t)) {
  BenchmarkCase one = CaseFor(engine, path, pods);
  one.topology = "jemalloc's counters around the work";
  one.unit = unit;
  if (unit == std::string_view("bytes/pod")) {
    one.anchor_ns = Anchors()
                        .at("upstream_queue")
                        .at("bytes_per_queued_pod_beyond_the_pod_object")
                        .get<double>();
  }
  one.body = [=](benchmark::State& state) {
    if (Interrupted()) return state.SkipWithError("interrupted");
    const std::optional<double> value = measure(engine, pods);
    if (!value) return state.SkipWithError("needs jemalloc, which release builds link");
    ReportValue(state, *value);
  };
  list.Add(std::move(one));
}

}  // namespace

void AddPathBenchmarks(BenchmarkList& list, BenchmarkSize size) {
  const bool is_tiny = size == BenchmarkSize::kTiny;
  const int64_t pods = is_tiny ? 1000 : 100'000;
  for (const EngineKind engine : AllEngines()) AddProducerConsumer(list, engine, pods, is_tiny);
  for (const GatedLoad load : {GatedLoad::kIdle, GatedLoad::kUpdated, GatedLoad::kReadded}) {
    for (const EngineKind engine : AllEngines()) AddLifeAmidGated(list, engine, load, pods);
  }
  for (const EngineKind engine : AllEngines()) {
    AddAddDuringStorm(list, engine, is_tiny ? 1000 : 10'000);
  }
  for (const EngineKind engine : AllEngines()) AddBackoffFlush(list, engine, pods);
  // Only release builds link jemalloc, but CI runs the tiny sizes in every build.
  if (is_tiny) return;
  for (const EngineKind engine : AllEngines()) {
    AddMemory(list, engine, 1'000'000, "memory", "bytes/pod", &MeasureBytesPerPod);
    AddMemory(list, engine, pods, "allocations", "allocations/op", &MeasureAllocationsPerOperation);
  }
}

}  // namespace schedq
