// The cases that `schedq bench` can run.
//
// Purpose: a suite is one function that adds its cases to a BenchmarkList; suites.cc names all
// suites. A case is one contestant on one workload. Contestants on the same workload share a group:
// they run interleaved and stand in one table. A case's full name is "<group>/<contestant>".
// Threads: the main thread only.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "perf/documents/bench_document.h"

namespace schedq {

enum class BenchmarkSize {
  kFull,
  kTiny,  // For CI: the same code and the same checks in milliseconds.
};

struct BenchmarkCase {
  std::string group;       // "engine/active_queue/8_priorities/1000_entries/2_threads"
  std::string topology;    // The threads and structures, drawn in one line.
  std::string contestant;  // Without a slash.
  std::string unit = "ns/op";
  std::map<std::string, uint64_t> parameters;
  ContenderRole role = ContenderRole::kRival;
  // The operations of one repetition, unless the user asks for a minimum time.
  int64_t operations = 0;
  // The body times itself (SetIterationTime). It checks its answer and calls SkipWithError where
  // that is wrong.
  std::function<void(benchmark::State&)> body;
  // The figure of anchors.json for this contestant and workload, in `unit`.
  std::optional<double> anchor_ns;
  // Further counts of the contender (counted_lines.h); empty: none. Called once.
  std::function<std::map<std::string, double>()> counters;

  std::string FullName() const { return group + "/" + contestant; }
};

class BenchmarkList {
 public:
  void Add(BenchmarkCase one) { cases_.push_back(std::move(one)); }
  const std::vector<BenchmarkCase>& cases() const { return cases_; }

 private:
  std::vector<BenchmarkCase> cases_;
};

}  // namespace schedq
