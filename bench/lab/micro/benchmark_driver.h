// Runs cases of a BenchmarkList through google-benchmark, rivals interleaved.
//
// Purpose: google-benchmark times one repetition of one case at a time, and this driver chooses the
// order. Within a group a round runs every contestant once, in a newly shuffled order.
// google-benchmark's own random interleaving shuffles all repetitions of all benchmarks together. A
// contestant may then run all its repetitions early, and no result is known until the end.
// Threads: the main thread only. google-benchmark keeps global state, so only one driver may exist.
// Invariants:
//  1. repetitions[i] of every contestant of a group ran in round i.
//  2. A repetition with a wrong answer is not recorded, and faults() names it.
//  3. After an interrupt no repetition starts, and recorded ones stay.
//  4. A slow group has fewer rounds, but at least `rounds_min`: the cost of a round spans four
//     orders of magnitude, and a whole run must end. The results hold the number of rounds.
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
  // After `rounds_min` rounds, no round of a group begins later than `group_time_max` after the
  // group's start; nullopt: there is no such limit.
  uint64_t rounds_min = 3;
  std::optional<std::chrono::milliseconds> group_time_max = {};
  uint64_t seed = 1;
  // google-benchmark chooses the number of operations (--benchmark_min_time) instead of the case.
  bool chooses_operations = false;
};

class BenchmarkDriver {
 public:
  // `mirror` also receives every run, as google-benchmark's own JSON; it may be null.
  BenchmarkDriver(const BenchmarkRunOptions& options, std::ostream* mirror);
  ~BenchmarkDriver();

  using Progress = std::function<void(const std::string& group, uint64_t round)>;

  // Runs the cases of one group. The result has a contender for each case, in the cases' order.
  BenchCase RunGroup(const std::vector<BenchmarkCase>& cases, const Progress& progress);

  // One line for each wrong answer.
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
