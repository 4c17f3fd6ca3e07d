#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/kep/experiments/experiments.h"
#include "perf/documents/run_document.h"
#include "perf/documents/scenario_document.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

// The arms of an experiment on one workload, in the order of ArmsOf.
struct Arms {
  std::string workload;
  ArmFigures off;
  ArmFigures on;
  ArmFigures rejected;
};

// The result of the workload in this arm; null: it was not measured.
const WorkloadResult* FindArm(const RunDocument& document, const std::string& test_case,
                              const std::string& name) {
  for (const WorkloadResult& result : document.workloads) {
    const bool is_meant = result.test_case == test_case && result.workload == name;
    if (is_meant && result.outcome == WorkloadOutcome::kMeasured) return &result;
  }
  return nullptr;
}

// The workload that schedules the most pods, among those of the case with all arms measured.
std::optional<Arms> FindArms(const RunDocument& document, const std::string& test_case) {
  const std::vector<Arm>& arms = ArmsOf(test_case);
  std::optional<Arms> largest;
  for (const WorkloadResult& result : document.workloads) {
    const std::string suffix = '/' + arms[0].name;
    if (result.test_case != test_case || !result.workload.ends_with(suffix)) continue;
    const std::string name = result.workload.substr(0, result.workload.size() - suffix.size());
    const WorkloadResult* found[3] = {};
    for (size_t i = 0; i < 3; ++i) {
      found[i] = FindArm(document, test_case, ArmedName(name, arms[i]));
    }
    if (std::find(found, found + 3, nullptr) != found + 3) continue;
    Arms candidate{test_case + '/' + name, ReadFigures(*found[0]), ReadFigures(*found[1]),
                   ReadFigures(*found[2])};
    if (!largest || candidate.on.scheduled > largest->on.scheduled) largest = std::move(candidate);
  }
  return largest;
}

PromiseVerdict JudgeNarrowing(const Arms& own, const Arms& shared) {
  PromiseVerdict verdict;
  verdict.proposal = "KEP-6132";
  verdict.holds = own.on.pods_per_second >= own.off.pods_per_second &&
                  own.on.judged_per_event < own.off.judged_per_event &&
                  own.on.scheduled_after_flush + shared.on.scheduled_after_flush == 0 &&
                  shared.rejected.scheduled_after_flush > 0;
  verdict.line = fmt::format(
      "{}: {} pods/s and {} pods judged an event with narrowing, {} and {} without "
      "({:.2f}x); {}: wake-ups missed {} of {} with narrowing, {} without, {} with the rejected "
      "OwnerReference",
      own.workload, NumberText(own.on.pods_per_second), NumberText(own.on.judged_per_event),
      NumberText(own.off.pods_per_second), NumberText(own.off.judged_per_event),
      own.on.pods_per_second / own.off.pods_per_second, shared.workload,
      shared.on.scheduled_after_flush, shared.on.scheduled, shared.off.scheduled_after_flush,
      shared.rejected.scheduled_after_flush);
  return verdict;
}

std::string BackoffText(const std::string& name, const ArmFigures& figures) {
  return fmt::format("{} idle {} s, {} pods/s, {} inversions, longest wait {} s", name,
                     NumberText(figures.idle_seconds), NumberText(figures.pods_per_second),
                     figures.inversions, NumberText(figures.longest_wait_seconds));
}

PromiseVerdict JudgeBackoff(const Arms& arms) {
  PromiseVerdict verdict;
  verdict.proposal = "KEP-5142";
  verdict.holds = arms.on.idle_seconds == 0 && arms.off.idle_seconds > 0 &&
                  arms.on.pods_per_second >= arms.off.pods_per_second &&
                  arms.on.longest_wait_seconds <= arms.off.longest_wait_seconds;
  verdict.line = fmt::format("{}: {}; {}; {}", arms.workload, BackoffText("gate on", arms.on),
                             BackoffText("gate off", arms.off),
                             BackoffText("rejected flush when empty", arms.rejected));
  return verdict;
}

// By the largest workload with all arms measured: the latencies of pods that fit, by arm.
std::optional<std::pair<std::string, std::map<std::string, ArmFigures>>> FindCallArms(
    const RunDocument& document) {
  constexpr const char* kCase = "StarvedBindings";
  std::optional<std::pair<std::string, std::map<std::string, ArmFigures>>> largest;
  for (const WorkloadResult& result : document.workloads) {
    const std::string suffix = std::string("/") + kArrivalArm;
    if (result.test_case != kCase || !result.workload.ends_with(suffix)) continue;
    const std::string name = result.workload.substr(0, result.workload.size() - suffix.size());
    std::map<std::string, ArmFigures> figures;
    for (const Arm& arm : ArmsOf(kCase)) {
      const WorkloadResult* const found = FindArm(document, kCase, ArmedName(name, arm));
      if (found != nullptr) figures[arm.name] = ReadFigures(*found);
    }
    if (figures.size() != ArmsOf(kCase).size()) continue;
    if (largest && largest->second[kArrivalArm].scheduled > figures[kArrivalArm].scheduled)
      continue;
    largest.emplace(std::string(kCase) + '/' + name, std::move(figures));
  }
  return largest;
}

// The promise is that of the order by relevance; what the proposals give stands beside it.
PromiseVerdict JudgeCalls(const std::string& workload, std::map<std::string, ArmFigures> arms) {
  constexpr double kSoonSeconds = 1;
  // Until a patch that has begun, and the binding of the churn's pod, leave another token.
  constexpr double kTokensSeconds = 0.04;
  const auto wait = [&arms](const char* arm) { return arms[arm].bound_p99_seconds; };
  PromiseVerdict verdict;
  verdict.proposal = "starved bindings";
  const double shortest = std::min({wait(kLimitArm), wait(kOwnClientArm), wait(kReentryArm)});
  verdict.holds = wait(kArrivalArm) > kSoonSeconds && wait(kRelevanceArm) <= kSoonSeconds &&
                  wait(kRelevanceArm) <= shortest + kTokensSeconds;
  verdict.line = fmt::format(
      "{}: to bound in {} s at p99 by arrival, {} s by relevance; proposed: {} s with at most 4 "
      "patches in flight, {} s with a client for bindings, {} s with a gate at re-entry",
      workload, NumberText(wait(kArrivalArm)), NumberText(wait(kRelevanceArm)),
      NumberText(wait(kLimitArm)), NumberText(wait(kOwnClientArm)), NumberText(wait(kReentryArm)));
  return verdict;
}

}  // namespace

std::vector<PromiseVerdict> JudgeExperiments(const RunDocument& document) {
  std::vector<PromiseVerdict> verdicts;
  const std::optional<Arms> own = FindArms(document, "ClaimsOfTheirOwn");
  const std::optional<Arms> shared = FindArms(document, "ClaimsWithSharers");
  if (own && shared) verdicts.push_back(JudgeNarrowing(*own, *shared));
  if (const auto room = FindArms(document, "RoomInSteps")) verdicts.push_back(JudgeBackoff(*room));
  if (auto calls = FindCallArms(document)) {
    verdicts.push_back(JudgeCalls(calls->first, std::move(calls->second)));
  }
  return verdicts;
}

}  // namespace schedq
