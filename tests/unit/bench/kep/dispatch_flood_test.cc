// Goal: a flood of status patches does not delay bindings, and patches are still sent.
// Method: the flood of bench/kep/dispatch at its real size; the rival runs in the same test with
// the same seed.
#include <gtest/gtest.h>

#include <chrono>

#include "bench/kep/dispatch/flood_scenario.h"
#include "engine/base/time/time.h"

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
  // The rate allows 50 calls a second for 60 s and the burst, minus the bindings.
  EXPECT_GE(product.patches_meanwhile, 2400u);
}

TEST(FloodScenarioTest, PatchesAdvanceUnderMoreBindingsThanTheRateAllows) {
  FloodOptions options;
  options.binding_interval = milliseconds(5);
  options.bindings = 4000;
  const FloodOutcome product = RunFlood(options);
  EXPECT_GE(product.patches_meanwhile, 20u * 50 / 20) << "a twentieth of 50 a second for 20 s";
}

}  // namespace
}  // namespace schedq
