// KEP-5501's comparison table in numbers: every scenario in five models and with the gates off.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/kep/dispatch/dispatch_scenarios.h"
#include "bench/kep/dispatch/status_scenarios.h"
#include "bench/kep/dispatch/status_world.h"
#include "bench/kep/scenario/scenario.h"
#include "dispatcher/report/status_model.h"
#include "dispatcher/report/status_reporter.h"
#include "engine/base/time/time.h"
#include "perf/documents/scenario_document.h"

namespace schedq {
namespace {

constexpr const char* kProposal = "KEP-5501";
constexpr const char* kGatesOff = "gates-off";
constexpr uint64_t kLargePods = 10'000;

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }
double Milliseconds(Duration duration) { return 1000 * Seconds(duration); }

using Outcomes = std::map<std::string, StatusOutcome>;  // The outcome of each arm, by its name.

const StatusOutcome& Of(const Outcomes& outcomes, StatusModel model) {
  return outcomes.at(std::string(StatusModelName(model)));
}

// The verdicts on one scenario's promises, given the outcomes of all arms.
using Judge = void (*)(const StatusScenario& scenario, const Outcomes& outcomes,
                       std::vector<PromiseVerdict>* verdicts);

void Add(bool holds, std::string line, std::vector<PromiseVerdict>* verdicts) {
  verdicts->push_back({kProposal, holds, std::move(line)});
}

void JudgeGatesOff(const StatusScenario& scenario, const Outcomes& outcomes,
                   std::vector<PromiseVerdict>* verdicts) {
  const StatusOutcome& off = outcomes.at(kGatesOff);
  const uint64_t calls = off.server.patches + off.server.events + off.server.failures;
  Add(calls == 0 && off.counts == StatusCounts(),
      fmt::format("{}, gates off: {} patches and events, 0 wanted", scenario.name, calls),
      verdicts);
}

void JudgeTransientWithinDelay(const StatusScenario& scenario, const Outcomes& outcomes,
                               std::vector<PromiseVerdict>* verdicts) {
  const uint64_t delayed = Of(outcomes, StatusModel::kImplicitDelayed).counts.patches;
  const uint64_t immediate = Of(outcomes, StatusModel::kImplicitImmediate).counts.patches;
  Add(delayed == 0 && immediate == 2 * scenario.pods,
      fmt::format("{}: implicit-delayed sends {} patches, 0 wanted; implicit-immediate {} for {} "
                  "pods, 2 a pod wanted",
                  scenario.name, delayed, immediate, scenario.pods),
      verdicts);
}

// Holds if at the end no model shows a wrong message.
void JudgeConvergence(const StatusScenario& scenario, const Outcomes& outcomes,
                      std::vector<PromiseVerdict>* verdicts) {
  uint64_t wrong = 0;
  uint64_t failed = 0;
  for (const auto& [name, outcome] : outcomes) {
    if (name == kGatesOff) continue;
    wrong += outcome.wrong_at_end;
    failed += outcome.counts.failed;
  }
  Add(wrong == 0,
      fmt::format("{}: {} pods show a wrong message at the end in all models together, 0 wanted; "
                  "{} calls had failed",
                  scenario.name, wrong, failed),
      verdicts);
}

// Holds if the outage changes nothing in the queue, every call ends, and messages are true
// afterwards.
void JudgeOutage(const StatusScenario& scenario, const Outcomes& outcomes,
                 std::vector<PromiseVerdict>* verdicts) {
  JudgeConvergence(scenario, outcomes, verdicts);
  uint64_t added = 0;
  uint64_t ended = 0;
  uint64_t disturbed = 0;
  bool all_end = true;
  for (const auto& [name, outcome] : outcomes) {
    added += outcome.calls_added;
    ended += outcome.calls_ended;
    disturbed += outcome.disturbed_seconds;
    all_end = all_end && outcome.calls_ended == outcome.calls_added;
  }
  const uint64_t failed = Of(outcomes, StatusModel::kImplicitDelayed).counts.failed;
  Add(failed > 0 && added > 0 && all_end && disturbed == 0,
      fmt::format("{}: {} of {} calls ended, all wanted; at {} seconds the queue is not as without "
                  "the outage, 0 wanted; {} calls fail with implicit-delayed",
                  scenario.name, ended, added, disturbed, failed),
      verdicts);
}

void JudgeSilence(const StatusScenario& scenario, const Outcomes& outcomes,
                  std::vector<PromiseVerdict>* verdicts) {
  const auto stale = [&](StatusModel model) {
    return Of(outcomes, model).measures.stale_pod_seconds / static_cast<double>(scenario.pods);
  };
  const double chosen = stale(StatusModel::kImplicitDelayed);
  const double opt_out = stale(StatusModel::kImplicitDelayedOptOut);
  const double explicit_delayed = stale(StatusModel::kExplicitDelayed);
  Add(chosen < 10 && opt_out > 60 && explicit_delayed > 60,
      fmt::format("{}: a message is stale for {:.1f} s a pod with implicit-delayed, below 10 "
                  "wanted; {:.1f} s with opt-out, {:.1f} s with explicit-delayed",
                  scenario.name, chosen, opt_out, explicit_delayed),
      verdicts);
}

void JudgeFlapping(const StatusScenario& scenario, const Outcomes& outcomes,
                   std::vector<PromiseVerdict>* verdicts) {
  const StatusOutcome& outcome = Of(outcomes, StatusModel::kImplicitDelayed);
  Duration shortest = Duration::max();
  Duration longest{};
  Duration previous{};
  for (const Duration at : outcome.stored) {
    shortest = std::min(shortest, at - previous);
    longest = std::max(longest, at - previous);
    previous = at;
  }
  const Duration longest_wanted = std::chrono::seconds(6) + StatusWorldOptions().latency;
  Add(outcome.stored.size() >= 9 && shortest >= std::chrono::seconds(5) &&
          longest <= longest_wanted,
      fmt::format("{}: {} patches in a minute, {:.2f} to {:.2f} s apart, 5 to 6 s and the latency "
                  "wanted",
                  scenario.name, outcome.stored.size(), Seconds(shortest), Seconds(longest)),
      verdicts);
}

void JudgeGatedByServer(const StatusScenario& scenario, const Outcomes& outcomes,
                        std::vector<PromiseVerdict>* verdicts) {
  uint64_t patches = 0;
  for (const auto& [name, outcome] : outcomes) patches += outcome.counts.patches;
  Add(patches == 0,
      fmt::format("{}: {} patches in all models together, 0 wanted", scenario.name, patches),
      verdicts);
}

Duration WaitAt(const StatusOutcome& outcome, double quantile) {
  const auto& waits = outcome.binding_waits;
  if (waits.empty()) return Duration(0);
  const auto rank = static_cast<size_t>(quantile * static_cast<double>(waits.size()));
  return waits[std::min(rank, waits.size() - 1)];
}

void JudgeFlood(const StatusScenario& scenario, const Outcomes& outcomes,
                std::vector<PromiseVerdict>* verdicts) {
  const StatusWorldOptions defaults;
  const Duration limit = Duration(static_cast<int64_t>(static_cast<double>(kSecond.count()) /
                                                       defaults.calls_per_second)) +
                         2 * defaults.latency;
  Duration longest{};
  uint64_t fewest = ~uint64_t{0};
  size_t bound = ~size_t{0};
  for (const auto& [name, outcome] : outcomes) {
    longest = std::max(longest, WaitAt(outcome, 0.99));
    bound = std::min(bound, outcome.binding_waits.size());
    if (name != kGatesOff) fewest = std::min(fewest, outcome.counts.patches);
  }
  Add(longest <= limit && fewest > 0 && bound == 600,
      fmt::format("{}: a binding waits {:.1f} ms at p99 in the worst model, at most {:.1f} wanted; "
                  "{} patches meanwhile in the slowest",
                  scenario.name, Milliseconds(longest), Milliseconds(limit), fewest),
      verdicts);
}

const std::map<std::string_view, Judge>& Judges() {
  static const std::map<std::string_view, Judge> kJudges = {
      {"transient-within-delay", JudgeTransientWithinDelay},
      {"transient", JudgeConvergence},
      {"gang", JudgeConvergence},
      {"quota", JudgeConvergence},
      {"flapping", JudgeFlapping},
      {"a-then-silent-b", JudgeSilence},
      {"flood-while-binding", JudgeFlood},
      {"outage", JudgeOutage},
      {"gated-by-server", JudgeGatedByServer},
  };
  return kJudges;
}

ScenarioArm ArmOf(const std::string& name, const StatusOutcome& outcome) {
  const StatusCounts& counts = outcome.counts;
  const auto count = [](uint64_t number) { return static_cast<double>(number); };
  ScenarioArm arm{name,
                  {count(counts.rejections), count(counts.patches), count(counts.events),
                   count(counts.coalesced), count(counts.cancelled), count(counts.failed),
                   outcome.measures.stale_pod_seconds, outcome.measures.blind_pod_seconds,
                   count(outcome.measures.flickers), count(outcome.wrong_at_end)}};
  if (!outcome.binding_waits.empty()) {
    arm.figures.push_back(Milliseconds(WaitAt(outcome, 0.99)));
    arm.figures.push_back(Milliseconds(outcome.binding_waits.back()));
  }
  return arm;
}

PlayedScenario Play(const StatusScenario& scenario, const ScenarioSettings& settings) {
  PlayedScenario played;
  played.result.about = fmt::format("{} ({} pods)", scenario.about, scenario.pods);
  played.result.figures = {"rejections", "patches",     "events",      "coalesced", "cancelled",
                           "failed",     "stale pod-s", "blind pod-s", "flickers",  "wrong at end"};
  Outcomes outcomes;
  StatusWorldOptions options;
  options.seed = settings.seed;
  options.engine = settings.engine;
  const auto play = [&](const std::string& arm) {
    StatusOutcome& outcome = outcomes[arm] = scenario.run(options);
    played.result.arms.push_back(ArmOf(arm, outcome));
  };
  for (const StatusModel model : kStatusModels) {
    options.model = model;
    play(std::string(StatusModelName(model)));
  }
  options.gates_on = false;
  play(kGatesOff);
  if (played.result.arms[0].figures.size() > played.result.figures.size()) {
    played.result.figures.insert(played.result.figures.end(), {"binding waits p99 ms", "max ms"});
  }
  JudgeGatesOff(scenario, outcomes, &played.verdicts);
  if (const auto judge = Judges().find(scenario.name); judge != Judges().end()) {
    judge->second(scenario, outcomes, &played.verdicts);
  }
  return played;
}

}  // namespace

std::vector<Scenario> StatusReportScenarios() {
  std::vector<Scenario> scenarios;
  for (const StatusScenario& scenario : StatusScenarios()) {
    scenarios.push_back(
        {fmt::format("{}/{}", kProposal, scenario.name), scenario.pods > kLargePods,
         [&scenario](const ScenarioSettings& settings) { return Play(scenario, settings); }});
  }
  return scenarios;
}

}  // namespace schedq
