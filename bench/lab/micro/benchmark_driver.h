// Runs cases of a BenchmarkList through google-benchmark, rivals interleaved.
//
// Purpose: google-benchmark times one repetition of one case at a time; the order is ours. Within a
// group a round runs every contestant once, in an order shuffled anew. google-benchmark's own
// random interleaving shuffles all repetitions of all benchmarks in one heap: a contestant may then
// run all its repetitions early, and nothing is known until the end. Threads: the main thread only;
// google-benchmark keeps global state, so one driver at a time. Invariants:
// 1. repetitions[i] of every contestant of a group ran in round i.
// 2. A repetition whose answer was wrong is not recorded, and is named in faults().
// 3. After an interrupt nothing new starts, and what was recorded stays.
// 4. A group that takes long has fewer rounds, never fewer than `least_rounds`: what a round costs
//    spans four orders of magnitude, and a whole run has to end. Results say how many there were.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/lab/micro/benchmark_list.h"
#include "engine/base/random.h"
#include "perf/documents/bench_document.h"

namespace schedq {

struct BenchmarkRunOptions {
  uint64_t rounds = 1;
  // No new round of a group begins after `patience`, if there is one, and `least_rounds`.
  uint64_t least_rounds = 3;
  std::optional<std::chrono::milliseconds> patience = {};
  uint64_t seed = 1;
  // google-benchmark chooses the number of operations (--benchmark_min_time) instead of the case.
  bool chooses_operations = false;
};

class BenchmarkDriver {
 public:
  // `mirror` also gets every run, in google-benchmark's own JSON; may be null.
  BenchmarkDriver(const BenchmarkRunOptions& options, std::ostream* mirror);
  ~BenchmarkDriver();

  using Progress = std::function<void(const std::string& group, uint64_t round)>;

  // Runs cases of one group. The result has a contender for each case, in their order.
  BenchCase RunGroup(const std::vector<BenchmarkCase>& cases, const Progress& progress);

  // Wrong answers, one line each.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  void RunOnce(const BenchmarkCase& one, BenchContender& contender);

  const BenchmarkRunOptions options_;
  Random order_;
  std::unique_ptr<benchmark::BenchmarkReporter> mirror_;
  bool mirror_is_open_ = false;
  std::vector<std::string> faults_;
};

}  // namespace schedq
