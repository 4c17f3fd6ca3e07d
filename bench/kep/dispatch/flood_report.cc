// Figures and promises of the flood: the product's queue against upstream's design.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "bench/kep/dispatch/dispatch_scenarios.h"
#include "bench/kep/dispatch/flood_scenario.h"
#include "bench/kep/scenario/scenario.h"
#include "engine/base/time/time.h"
#include "perf/documents/scenario_document.h"

namespace schedq {
namespace {

double Milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

ScenarioArm ArmOf(const char* name, const FloodOutcome& outcome) {
  return {name,
          {Milliseconds(outcome.WaitAt(0.5)), Milliseconds(outcome.WaitAt(0.99)),
           Milliseconds(outcome.WaitAt(1)), static_cast<double>(outcome.bindings_done),
           static_cast<double>(outcome.patches_meanwhile)}};
}

PlayedScenario PlayFlood(const ScenarioSettings& settings) {
  FloodOptions options;
  options.seed = settings.seed;
  const FloodOutcome product = RunFlood(options);
  const FloodOutcome rival = RunFloodOnFifo(options);
  PlayedScenario played;
  played.result.about = fmt::format(
      "{} patches wait, {} calls a second, {} bindings, one each {:.0f} ms", options.patches,
      options.calls_per_second, options.bindings, Milliseconds(options.binding_interval));
  played.result.figures = {"binding waits p50 ms", "p99 ms", "max ms", "bindings",
                           "patches meanwhile"};
  played.result.arms = {ArmOf("schedq", product), ArmOf("upstream-design", rival)};
  const Duration limit = Duration(static_cast<int64_t>(static_cast<double>(kSecond.count()) /
                                                       options.calls_per_second)) +
                         2 * options.latency;
  constexpr double kMsPerMinute = 60'000;
  played.verdicts.push_back(
      {"KEP-5501",
       product.WaitAt(0.99) <= limit && product.bindings_done == options.bindings &&
           product.patches_meanwhile > 0,
       fmt::format("flood: a binding waits {:.1f} ms at p99, at most {:.1f} wanted; {:.1f} minutes "
                   "in upstream's design; {} patches meanwhile",
                   Milliseconds(product.WaitAt(0.99)), Milliseconds(limit),
                   Milliseconds(rival.WaitAt(0.99)) / kMsPerMinute, product.patches_meanwhile)});
  return played;
}

}  // namespace

std::vector<Scenario> FloodScenarios() {
  return {{"KEP-5501/flood-upstream", /*is_large=*/true, PlayFlood}};
}

}  // namespace schedq
