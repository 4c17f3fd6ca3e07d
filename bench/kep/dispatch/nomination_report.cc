// Figures and promises of KEP-5278's stories.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/kep/dispatch/dispatch_scenarios.h"
#include "bench/kep/dispatch/nomination_scenarios.h"
#include "bench/kep/scenario/scenario.h"
#include "dispatcher/report/nomination_reporter.h"
#include "engine/base/time/time.h"
#include "perf/documents/scenario_document.h"

namespace schedq {
namespace {

constexpr const char* kProposal = "KEP-5278";
constexpr const char* kOff = "gate-off";
constexpr const char* kOn = "gate-on";

NominationOptions OptionsOf(const ScenarioSettings& settings, bool nominates) {
  NominationOptions options;
  options.engine = settings.engine;
  options.seed = settings.seed;
  options.nominates = nominates;
  return options;
}

double Count(uint64_t count) { return static_cast<double>(count); }

const std::vector<std::string> kBindingFigures = {"bound",
                                                  "moved",
                                                  "lost volume s",
                                                  "all bound after s",
                                                  "calls a pod",
                                                  "nomination calls",
                                                  "nominations saved"};

ScenarioArm ArmOf(const std::string& name, const BindingOutcome& outcome,
                  std::vector<double> figures = {}) {
  figures.insert(
      figures.end(),
      {Count(outcome.bound), Count(outcome.moved), outcome.lost_seconds, outcome.finished_after,
       outcome.calls_per_pod, Count(outcome.nominations.made), Count(outcome.nominations.saved)});
  return {name, std::move(figures)};
}

PlayedScenario Played(std::string about, std::vector<std::string> figures) {
  PlayedScenario played;
  played.result.about = std::move(about);
  figures.insert(figures.end(), kBindingFigures.begin(), kBindingFigures.end());
  played.result.figures = std::move(figures);
  return played;
}

PlayedScenario PlayAutoscaler(const ScenarioSettings& settings) {
  PlayedScenario played = Played(
      "100 pods come over a minute to 200 nodes, their volumes take 30 to 90 s; an autoscaler "
      "removes nodes unneeded for 30 s",
      {"nodes removed", "wrongly"});
  const auto play = [&](const char* name, bool nominates, bool looks) {
    const AutoscalerOutcome outcome = RunAutoscaler(OptionsOf(settings, nominates), looks);
    played.result.arms.push_back(
        ArmOf(name, outcome.bindings, {Count(outcome.removed), Count(outcome.wrong)}));
    return outcome;
  };
  const AutoscalerOutcome off = play(kOff, false, true);
  const AutoscalerOutcome unseen = play("gate-on-not-looked-at", true, false);
  const AutoscalerOutcome on = play(kOn, true, true);
  played.verdicts.push_back(
      {kProposal, on.wrong == 0 && off.wrong > 0 && unseen.wrong > 0 && on.removed > 0,
       fmt::format("autoscaler: {} of {} removed nodes were promised to pods, 0 wanted; {} of {} "
                   "with the gate off, {} of {} if it does not look at nominations",
                   on.wrong, on.removed, off.wrong, off.removed, unseen.wrong, unseen.removed)});
  return played;
}

PlayedScenario PlayRestart(const ScenarioSettings& settings) {
  PlayedScenario played =
      Played("the same pods; the scheduler goes after 60 s and its successor comes 5 s later", {});
  const BindingOutcome off = RunRestart(OptionsOf(settings, false));
  const BindingOutcome on = RunRestart(OptionsOf(settings, true));
  played.result.arms = {ArmOf(kOff, off), ArmOf(kOn, on)};
  played.verdicts.push_back(
      {kProposal, on.moved == 0 && off.moved > 0 && on.finished_after <= off.finished_after,
       fmt::format("restart: {} pods land elsewhere and {:.0f} s of work are lost, 0 wanted; {} "
                   "pods and {:.0f} s with the gate off",
                   on.moved, on.lost_seconds, off.moved, off.lost_seconds)});
  return played;
}

PlayedScenario PlayPriorities(const ScenarioSettings& settings) {
  PlayedScenario played = Played(
      "the same, and while nobody schedules 50 newcomers come; three quarters of them have room",
      {"newcomers bound"});
  struct Moved {
    uint64_t off = 0;
    uint64_t on = 0;
  };
  const auto play = [&](const char* newcomers, int32_t priority) {
    Moved moved;
    for (const bool nominates : {false, true}) {
      const ContentionOutcome outcome = RunContention(OptionsOf(settings, nominates), priority);
      played.result.arms.push_back(ArmOf(fmt::format("{}-{}", newcomers, nominates ? kOn : kOff),
                                         outcome.bindings, {Count(outcome.newcomers_bound)}));
      (nominates ? moved.on : moved.off) = outcome.bindings.moved;
    }
    return moved;
  };
  const Moved lower = play("lower", -10);
  const Moved equal = play("equal", 0);
  const Moved higher = play("higher", 10);
  played.verdicts.push_back(
      {kProposal, lower.on == 0 && equal.on == 0 && higher.on > 0,
       fmt::format("priorities: newcomers of lower and equal priority drive {} and {} pods off "
                   "their nominated nodes, 0 wanted; those of higher priority {}, more than 0 "
                   "wanted; {}, {} and {} with the gate off",
                   lower.on, equal.on, higher.on, lower.off, equal.off, higher.off)});
  return played;
}

PlayedScenario PlayClaims(const ScenarioSettings& settings) {
  PlayedScenario played = Played("100 pods, each with a claim and a volume that takes 30 to 90 s",
                                 {"claim-s nobody else knew"});
  const auto play = [&](const char* name, bool nominates, bool claims_go_first) {
    const ClaimOutcome outcome = RunClaims(OptionsOf(settings, nominates), claims_go_first);
    played.result.arms.push_back(ArmOf(name, outcome.bindings, {outcome.unreserved_seconds}));
    return outcome;
  };
  play(kOff, false, false);
  const ClaimOutcome later = play("claim-after-volume", true, false);
  const ClaimOutcome first = play("claim-with-nomination", true, true);
  const double pods = Count(NominationOptions().pods);
  played.verdicts.push_back(
      {kProposal,
       first.unreserved_seconds < pods && later.unreserved_seconds > 30 * pods &&
           first.bindings.calls_per_pod <= later.bindings.calls_per_pod,
       fmt::format("claims: {:.2f} s a pod in which only the scheduler knows of its devices, below "
                   "1 wanted; {:.1f} s if the claim waits for the volume",
                   first.unreserved_seconds / pods, later.unreserved_seconds / pods)});
  return played;
}

PlayedScenario PlayCalls(const ScenarioSettings& settings) {
  PlayedScenario played = Played("100 pods; PreBind has nothing to do, or 30 to 90 s", {});
  double calls[2][2] = {};
  NominationCounts nominations[2];
  for (const bool is_busy : {false, true}) {
    for (const bool nominates : {false, true}) {
      NominationOptions options = OptionsOf(settings, nominates);
      if (!is_busy) options.provisioning = Duration(0);
      const BindingOutcome outcome = RunBindings(options);
      calls[is_busy][nominates] = outcome.calls_per_pod;
      if (nominates) nominations[is_busy] = outcome.nominations;
      played.result.arms.push_back(
          ArmOf(fmt::format("{}-{}", is_busy ? "busy" : "idle", nominates ? kOn : kOff), outcome));
    }
  }
  const double idle = calls[0][1] - calls[0][0];
  const double busy = calls[1][1] - calls[1][0];
  played.verdicts.push_back(
      {kProposal, idle == 0 && busy <= 1 && nominations[false].made == 0,
       fmt::format("calls: {:.2f} extra calls a pod where PreBind has nothing to do, 0 wanted, {} "
                   "saved; {:.2f} where it has, at most 1 wanted, {} made",
                   idle, nominations[false].saved, busy, nominations[true].made)});
  return played;
}

}  // namespace

std::vector<Scenario> NominationReportScenarios() {
  return {{"KEP-5278/autoscaler", false, PlayAutoscaler},
          {"KEP-5278/restart", false, PlayRestart},
          {"KEP-5278/priorities", false, PlayPriorities},
          {"KEP-5278/claims", false, PlayClaims},
          {"KEP-5278/calls", false, PlayCalls}};
}

std::vector<Scenario> DispatchScenarios() {
  std::vector<Scenario> scenarios = StatusReportScenarios();
  for (std::vector<Scenario> part : {FloodScenarios(), NominationReportScenarios()}) {
    for (Scenario& scenario : part) scenarios.push_back(std::move(scenario));
  }
  return scenarios;
}

}  // namespace schedq
