// Goal: KEP-5501's promises hold in numbers on the product's own engine, queue, reporter and
// server.
// Method: the scenarios of bench/kep/dispatch on the virtual clock, some at their real sizes; each
// promise is a test. Every scenario runs twice with one seed, and both runs must agree.
#include "bench/kep/dispatch/dispatch_scenarios.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "bench/kep/dispatch/status_scenarios.h"
#include "bench/kep/dispatch/status_world.h"
#include "bench/kep/scenario/scenario.h"
#include "dispatcher/report/status_model.h"
#include "dispatcher/report/status_reporter.h"
#include "dispatcher/server/embedded_api_server.h"
#include "engine/base/time/time.h"
#include "engine/queue_answers.h"
#include "perf/documents/scenario_document.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

StatusWorldOptions Model(StatusModel model) {
  StatusWorldOptions options;
  options.model = model;
  return options;
}

TEST(StatusScenarioTest, TransientRejectionsWithinTheDelaySendNothing) {
  const StatusOutcome outcome =
      RunTransient(Model(StatusModel::kImplicitDelayed), milliseconds(4900));
  EXPECT_EQ(outcome.counts.rejections, 1000u);
  EXPECT_EQ(outcome.counts.patches, 0u);
  EXPECT_EQ(outcome.server, ServerCounts());
  EXPECT_EQ(outcome.counts.coalesced, 1000u) << "each set went into its clear";
  EXPECT_EQ(outcome.counts.cancelled, 1000u) << "which changed nothing";
}

TEST(StatusScenarioTest, ImmediatelyTheyCostTwoCallsAPod) {
  const StatusOutcome outcome =
      RunTransient(Model(StatusModel::kImplicitImmediate), milliseconds(4900));
  EXPECT_EQ(outcome.counts.patches, 2000u);
  EXPECT_EQ(outcome.counts.events, 1000u);
  EXPECT_GT(outcome.measures.flickers, 900u);
  EXPECT_EQ(outcome.wrong_at_end, 0u);
}

TEST(StatusScenarioTest, FlappingReasonsAreShownEveryFiveToSixSeconds) {
  const std::vector<Duration> stored = RunFlapping(Model(StatusModel::kImplicitDelayed)).stored;
  ASSERT_GE(stored.size(), 9u);
  Duration previous{};
  for (const Duration at : stored) {
    EXPECT_GE(at - previous, seconds(5));
    EXPECT_LE(at - previous, seconds(6) + milliseconds(10)) << "the server's latency is 10 ms";
    previous = at;
  }
}

TEST(StatusScenarioTest, PodsThatTheServerMarkedCostNoCall) {
  for (const StatusModel model : {StatusModel::kImplicitDelayed, StatusModel::kImplicitImmediate}) {
    const StatusOutcome outcome = RunGatedByServer(Model(model));
    EXPECT_EQ(outcome.counts.rejections, 1000u);
    EXPECT_EQ(outcome.counts.repeated, 1000u);
    EXPECT_EQ(outcome.server, ServerCounts());
  }
}

TEST(StatusScenarioTest, OnlySilenceLeavesMessagesStale) {
  const StatusScenario* scenario = nullptr;
  for (const StatusScenario& one : StatusScenarios()) {
    if (one.name == "a-then-silent-b") scenario = &one;
  }
  ASSERT_NE(scenario, nullptr);
  const double stale_with_opt_out =
      scenario->run(Model(StatusModel::kExplicitDelayed)).measures.stale_pod_seconds;
  const double stale =
      scenario->run(Model(StatusModel::kImplicitDelayed)).measures.stale_pod_seconds;
  EXPECT_GT(stale_with_opt_out, 9'000);
  EXPECT_LT(stale, 1'000);
}

// At every second the queue's counts equal those without the outage. Every call ends once, and
// afterwards every pod shows its true message.
TEST(StatusScenarioTest, OutageChangesNothingInTheQueueAndMessagesConverge) {
  for (const EngineKind engine : AllEngines()) {
    for (const StatusModel model :
         {StatusModel::kImplicitDelayed, StatusModel::kImplicitImmediate}) {
      StatusWorldOptions options = Model(model);
      options.engine = engine;
      std::vector<QueueCounts> disturbed;
      std::vector<QueueCounts> calm;
      const StatusOutcome outcome = RunOutage(options, true, &disturbed);
      RunOutage(options, false, &calm);
      EXPECT_EQ(disturbed, calm);
      EXPECT_GT(outcome.calls_added, 0u);
      EXPECT_EQ(outcome.calls_ended, outcome.calls_added);
      EXPECT_GT(outcome.counts.failed, 0u) << "an outage that hits nothing shows nothing";
      EXPECT_EQ(outcome.wrong_at_end, 0u) << StatusModelName(model);
    }
  }
}

TEST(StatusScenarioTest, OutageIsJudgedByItsCallsAndByTheQueueToo) {
  for (const Scenario& scenario : StatusReportScenarios()) {
    if (scenario.name != "KEP-5501/outage") continue;
    const std::vector<PromiseVerdict> verdicts = scenario.play({}).verdicts;
    ASSERT_EQ(verdicts.size(), 3u) << "gates off, the truth at the end, calls and queue";
    for (const PromiseVerdict& verdict : verdicts) EXPECT_TRUE(verdict.holds) << verdict.line;
    EXPECT_NE(verdicts[2].line.find("calls ended, all wanted; at 0 seconds"), std::string::npos)
        << verdicts[2].line;
  }
}

TEST(StatusScenarioTest, WithGatesOffNobodyCalls) {
  for (const StatusScenario& scenario : StatusScenarios()) {
    if (scenario.pods > 10'000) continue;
    StatusWorldOptions options;
    options.gates_on = false;
    const StatusOutcome outcome = scenario.run(options);
    EXPECT_EQ(outcome.counts, StatusCounts()) << scenario.name;
    EXPECT_EQ(outcome.server, ServerCounts()) << scenario.name;
  }
}

TEST(StatusScenarioTest, EqualSeedsGiveEqualOutcomes) {
  for (const StatusScenario& scenario : StatusScenarios()) {
    if (scenario.pods > 10'000) continue;
    StatusWorldOptions options;
    options.latency_extra = milliseconds(20);
    const StatusOutcome first = scenario.run(options);
    const StatusOutcome second = scenario.run(options);
    EXPECT_EQ(first.counts, second.counts) << scenario.name;
    EXPECT_EQ(first.measures, second.measures) << scenario.name;
    EXPECT_EQ(first.server, second.server) << scenario.name;
  }
}

}  // namespace
}  // namespace schedq
