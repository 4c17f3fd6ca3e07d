// Goal: the stories of KEP-5278 have the outcomes that the KEP promises. The same stories without
// nominations fail, so the outcomes do not come from the scenarios themselves.
// Method: the scenarios of bench/kep/dispatch on both engines, gate on and off, with several seeds.
#include "bench/kep/dispatch/nomination_scenarios.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "dispatcher/report/nomination_reporter.h"
#include "engine/base/time/time.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

class NominationScenarioTest : public testing::TestWithParam<EngineKind> {
 protected:
  NominationOptions Options(bool nominates, uint64_t seed = 1) const {
    NominationOptions options;
    options.engine = GetParam();
    options.nominates = nominates;
    options.seed = seed;
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, NominationScenarioTest, testing::ValuesIn(AllEngines()),
                         [](const auto& info) { return std::string(EngineName(info.param)); });

TEST_P(NominationScenarioTest, AutoscalerKeepsNodesThatItSeesNominated) {
  for (const uint64_t seed : {1u, 2u, 3u}) {
    const AutoscalerOutcome on = RunAutoscaler(Options(true, seed), true);
    EXPECT_EQ(on.wrong, 0u);
    EXPECT_GT(on.removed, 50u) << "it does remove what nobody needs";
    EXPECT_EQ(on.bindings.bound, 100u);
    EXPECT_EQ(on.bindings.lost_seconds, 0);
  }
}

TEST_P(NominationScenarioTest, AutoscalerThatSeesNoneRemovesNodesInUse) {
  const AutoscalerOutcome off = RunAutoscaler(Options(false), true);
  const AutoscalerOutcome unseen = RunAutoscaler(Options(true), false);
  EXPECT_GT(off.wrong, 10u);
  EXPECT_GT(unseen.wrong, 10u);
  EXPECT_EQ(off.bindings.bound, 100u) << "late, but all";
  EXPECT_GT(off.bindings.lost_seconds, 300);
}

TEST_P(NominationScenarioTest, RestartedSchedulerGoesOnWhereItWas) {
  for (const uint64_t seed : {1u, 2u, 3u}) {
    const BindingOutcome on = RunRestart(Options(true, seed));
    EXPECT_EQ(on.moved, 0u);
    EXPECT_EQ(on.lost_seconds, 0);
    EXPECT_EQ(on.bound, 100u);
    const BindingOutcome off = RunRestart(Options(false, seed));
    EXPECT_GT(off.moved, 50u);
    EXPECT_GT(off.lost_seconds, 1000);
    EXPECT_GE(off.finished_after, on.finished_after);
  }
}

TEST_P(NominationScenarioTest, NominationsHoldAgainstLowerAndEqualPrioritiesOnly) {
  EXPECT_EQ(RunContention(Options(true), -10).bindings.moved, 0u);
  EXPECT_EQ(RunContention(Options(true), 0).bindings.moved, 0u);
  EXPECT_GT(RunContention(Options(true), 10).bindings.moved, 0u);
  EXPECT_GT(RunContention(Options(false), 0).bindings.moved, 0u);
  EXPECT_EQ(RunContention(Options(true), 10).newcomers_bound, 50u) << "who outranks all finds room";
}

TEST_P(NominationScenarioTest, ClaimsDoNotWaitBehindVolumes) {
  const ClaimOutcome first = RunClaims(Options(true), true);
  const ClaimOutcome later = RunClaims(Options(true), false);
  EXPECT_LT(first.unreserved_seconds, 2.0) << "a latency each";
  EXPECT_GT(later.unreserved_seconds, 3000.0) << "the volume each";
  EXPECT_LT(first.bindings.calls_per_pod, later.bindings.calls_per_pod);
}

TEST_P(NominationScenarioTest, NoPodIsBoundBeforeItsClaimIsStored) {
  for (const bool claims_go_first : {true, false}) {
    for (const Duration provisioning : {Duration(0), Duration(std::chrono::seconds(60))}) {
      NominationOptions options = Options(true);
      options.provisioning = provisioning;
      options.error_rate = 0.3;
      const ClaimOutcome outcome = RunClaims(options, claims_go_first);
      EXPECT_EQ(outcome.bindings.bound, 100u) << "a call that fails delays its pod, and no more";
      EXPECT_EQ(outcome.bound_unreserved, 0u) << claims_go_first;
    }
  }
}

TEST_P(NominationScenarioTest, OnlyBindingsWithWorkCostAnExtraCall) {
  const BindingOutcome busy = RunBindings(Options(true));
  EXPECT_EQ(busy.calls_per_pod, 2);
  EXPECT_EQ(busy.nominations, (NominationCounts{.made = 100}));
  const BindingOutcome off = RunBindings(Options(false));
  EXPECT_EQ(off.calls_per_pod, 1);
  EXPECT_EQ(off.nominations, NominationCounts());
  NominationOptions without_work = Options(true);
  without_work.provisioning = Duration(0);
  const BindingOutcome idle = RunBindings(without_work);
  EXPECT_EQ(idle.calls_per_pod, 1);
  EXPECT_EQ(idle.nominations, (NominationCounts{.saved = 100}));
}

TEST_P(NominationScenarioTest, EqualSeedsGiveEqualOutcomes) {
  EXPECT_EQ(RunContention(Options(true), 10).bindings, RunContention(Options(true), 10).bindings);
  EXPECT_EQ(RunAutoscaler(Options(false), true).bindings,
            RunAutoscaler(Options(false), true).bindings);
}

}  // namespace
}  // namespace schedq
