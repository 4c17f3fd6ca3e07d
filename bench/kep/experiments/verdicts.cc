#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
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

}  // namespace

std::vector<PromiseVerdict> JudgeExperiments(const RunDocument& document) {
  std::vector<PromiseVerdict> verdicts;
  const std::optional<Arms> own = FindArms(document, "ClaimsOfTheirOwn");
  const std::optional<Arms> shared = FindArms(document, "ClaimsWithSharers");
  if (own && shared) verdicts.push_back(JudgeNarrowing(*own, *shared));
  if (const auto room = FindArms(document, "RoomInSteps")) verdicts.push_back(JudgeBackoff(*room));
  return verdicts;
}

}  // namespace schedq
