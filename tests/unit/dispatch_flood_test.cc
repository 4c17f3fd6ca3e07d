// Goal: a flood of status patches does not delay bindings, and patches still advance; the stories
// of KEP-5278 come out as the KEP says.
// Method: the scenarios of bench/dispatch, sized as the KEPs and the bars have them; the rival runs
// in the same test with the same seed.
#include <gtest/gtest.h>

#include "bench/dispatch/dispatch_report.h"
#include "bench/dispatch/flood_scenario.h"
#include "bench/dispatch/nomination_scenarios.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

TEST(FloodScenarioTest, BindingsDoNotWaitBehindPatches) {
  const FloodOptions options;
  const FloodOutcome product = RunFlood(options);
  const FloodOutcome rival = RunFloodOnFifo(options);
  EXPECT_EQ(product.bindings_done, options.bindings);
  EXPECT_EQ(rival.bindings_done, options.bindings);
  const Duration token_interval = milliseconds(20);
  EXPECT_LE(product.WaitAt(0.99), token_interval + 2 * options.latency);
  EXPECT_GT(rival.WaitAt(0.99), minutes(10));
  // 60 s at 50 a second and the burst, less the bindings.
  EXPECT_GE(product.patches_meanwhile, 2400u);
}

TEST(FloodScenarioTest, PatchesAdvanceUnderMoreBindingsThanTheRateAllows) {
  FloodOptions options;
  options.binding_interval = milliseconds(5);
  options.bindings = 4000;
  const FloodOutcome product = RunFlood(options);
  EXPECT_GE(product.patches_meanwhile, 20u * 50 / 20) << "a twentieth of 50 a second for 20 s";
}

TEST(NominationScenarioTest, AutoscalerKeepsNodesThatItSeesNominated) {
  NominationOptions options;
  EXPECT_EQ(RunAutoscaler(options).wrong_scale_downs, 0u);
  EXPECT_EQ(RunAutoscaler(options).bound, options.pods);
  options.nominates = false;
  EXPECT_EQ(RunAutoscaler(options).wrong_scale_downs, options.pods);
}

TEST(NominationScenarioTest, RestartedSchedulerGoesOnWhereItWas) {
  NominationOptions options;
  const RestartOutcome with = RunRestart(options);
  EXPECT_EQ(with.elsewhere, 0u);
  EXPECT_EQ(with.lost_seconds, 0);
  options.nominates = false;
  const RestartOutcome without = RunRestart(options);
  EXPECT_GT(without.elsewhere, 90u);
  EXPECT_GT(without.finished_after_seconds, with.finished_after_seconds + 25);
}

TEST(NominationScenarioTest, ClaimsDoNotWaitBehindVolumes) {
  NominationOptions options;
  const ClaimOutcome together = RunClaims(options);
  options.claims_go_first = false;
  const ClaimOutcome after = RunClaims(options);
  EXPECT_LT(together.unreserved_claim_seconds, 2.0) << "a latency each";
  EXPECT_GT(after.unreserved_claim_seconds, 5900.0) << "the provisioning each";
  EXPECT_LT(together.calls, after.calls);
}

TEST(NominationScenarioTest, OnlyBindingsWithWorkCostAnExtraCall) {
  NominationOptions options;
  const CallsPerPod with = CountCallsPerPod(options);
  EXPECT_EQ(with.idle, 1);
  EXPECT_EQ(with.busy, 2);
  options.nominates = false;
  EXPECT_EQ(CountCallsPerPod(options).busy, 1);
}

TEST(DispatchReportTest, EveryPromiseHoldsAndEqualSeedsGiveEqualText) {
  DispatchReportOptions options;
  options.is_quick = true;
  const DispatchReport first = RunDispatchScenarios(options);
  EXPECT_GT(first.verdicts.size(), 15u);
  for (const DispatchVerdict& verdict : first.verdicts) EXPECT_TRUE(verdict.holds) << verdict.line;
  EXPECT_EQ(RunDispatchScenarios(options).tables, first.tables);
}

}  // namespace
}  // namespace schedq
