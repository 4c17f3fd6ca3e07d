// Runs of workloads from text, for tests of what holds on both clocks and with both engines.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "perf/documents/run_document.h"
#include "schedq/engine_kind.h"
#include "tests/unit/bench/format/workload_test_files.h"

namespace schedq {

using ClockAndEngine = std::tuple<ClockKind, EngineKind>;

// For INSTANTIATE_TEST_SUITE_P.
inline auto ClocksAndEngines() {
  return testing::Combine(testing::Values(ClockKind::kVirtual, ClockKind::kReal),
                          testing::Values(EngineKind::kLockfree, EngineKind::kClassic));
}
inline std::string NameOfClockAndEngine(const testing::TestParamInfo<ClockAndEngine>& info) {
  return std::string(TextOf(std::get<ClockKind>(info.param))) + "_" +
         std::string(EngineName(std::get<EngineKind>(info.param)));
}

// The one workload of a case with these operations. On the real clock calls take no time unless
// `cost_model` says otherwise, and a run that does not end is interrupted after half a minute.
inline RunOutcome RunOps(const std::string& ops, const TestFiles& files,
                         const ClockAndEngine& where, RunOptions options,
                         const std::string& cost_model = "") {
  const Result<std::vector<TestCase>> cases = DecodeText(CaseOf(ops), files);
  EXPECT_TRUE(cases.ok()) << cases.error().message();
  options.clock = std::get<ClockKind>(where);
  options.engine = std::get<EngineKind>(where);
  const bool is_real = options.clock == ClockKind::kReal;
  const std::string by_clock = is_real ? kNoCosts : kUpstreamModel;
  const CostModel costs = *LoadCostModel(cost_model.empty() ? by_clock : cost_model);
  options.costs = &costs;
  const MonotonicTime deadline = SteadyNow() + std::chrono::seconds(30);
  if (is_real && !options.interrupted) {
    options.interrupted = [deadline] { return SteadyNow() > deadline; };
  }
  const Result<RunOutcome> outcome = RunWorkload((*cases)[0], (*cases)[0].workloads[0], options);
  EXPECT_TRUE(outcome.ok()) << outcome.error().message();
  return *outcome;
}

}  // namespace schedq
