#include "perf/compare/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "perf/documents/enum_text.h"
#include "perf/documents/scenario_document.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

constexpr double kPercent = 0.01;
constexpr const char* kAbsent = "absent";

std::string NameOf(const WorkloadResult& result) {
  return result.test_case + '/' + result.workload;
}

const WorkloadResult* Find(const RunDocument& document, const std::string& name) {
  for (const WorkloadResult& result : document.workloads) {
    if (NameOf(result) == name) return &result;
  }
  return nullptr;
}

std::string OutcomeText(const WorkloadResult& result) {
  std::string text(TextOf(result.outcome));
  if (!result.reason.empty()) text += ": " + result.reason;
  return text;
}

uint64_t CountOf(const Repetition& repetition, const std::string& name) {
  const auto found = repetition.counters.find(name);
  return found == repetition.counters.end() ? 0 : found->second;
}

class Comparer {
 public:
  Comparer(const std::vector<Allowance>& allowances, CounterComparison* comparison)
      : allowances_(allowances), comparison_(comparison) {}

  void Compare(const WorkloadResult& base, const WorkloadResult* next) {
    const std::string name = NameOf(base);
    const uint64_t seed = base.repetitions.empty() ? 0 : base.repetitions[0].seed;
    if (next == nullptr) {
      comparison_->failures.push_back({name, seed, "outcome", OutcomeText(base), kAbsent, 0});
      return;
    }
    if (base.definition != next->definition) {
      comparison_->notes.push_back(name + ": not compared, its definition is another one");
      return;
    }
    if (base.outcome != next->outcome) {
      comparison_->failures.push_back(
          {name, seed, "outcome", OutcomeText(base), OutcomeText(*next), 0});
      return;
    }
    if (base.outcome != WorkloadOutcome::kMeasured) {
      comparison_->notes.push_back(name + ": not compared, " + OutcomeText(base));
      return;
    }
    ++comparison_->workloads;
    comparison_->names.push_back(name);
    for (size_t i = 0; i < base.repetitions.size(); ++i) {
      CompareRepetition(name, base.repetitions[i], next->repetitions[i]);
    }
  }

  void Compare(const ScenarioResult& base, const ScenarioResult* next, uint64_t seed) {
    if (next == nullptr) {
      comparison_->failures.push_back({base.name, seed, "outcome", "played", kAbsent, 0});
      return;
    }
    ++comparison_->workloads;
    comparison_->names.push_back(base.name);
    const Figures before = FiguresOf(base);
    const Figures after = FiguresOf(*next);
    std::set<std::string> metrics;
    for (const Figures* side : {&before, &after}) {
      for (const auto& [metric, figure] : *side) metrics.insert(metric);
    }
    comparison_->counters += metrics.size();
    for (const std::string& metric : metrics) {
      const auto text = [&metric](const Figures& figures) {
        const auto found = figures.find(metric);
        return found == figures.end() ? std::string(kAbsent) : fmt::format("{}", found->second);
      };
      if (text(before) == text(after)) continue;
      const bool has_both = before.contains(metric) && after.contains(metric);
      const double change = has_both ? std::abs(after.at(metric) - before.at(metric)) : 0;
      const double allowed = AllowedFor(metric);
      const bool is_allowed = has_both && change <= allowed * std::abs(before.at(metric));
      auto& list = is_allowed ? comparison_->allowed : comparison_->failures;
      list.push_back({base.name, seed, metric, text(before), text(after), allowed});
    }
  }

 private:
  using Figures = std::map<std::string, double>;

  // By "arm: figure".
  static Figures FiguresOf(const ScenarioResult& scenario) {
    Figures figures;
    for (const ScenarioArm& arm : scenario.arms) {
      for (size_t i = 0; i < std::min(arm.figures.size(), scenario.figures.size()); ++i) {
        figures[arm.name + ": " + scenario.figures[i]] = arm.figures[i];
      }
    }
    return figures;
  }

  void CompareRepetition(const std::string& name, const Repetition& base, const Repetition& next) {
    std::set<std::string> metrics;
    for (const auto& [metric, count] : base.counters) metrics.insert(metric);
    for (const auto& [metric, count] : next.counters) metrics.insert(metric);
    comparison_->counters += metrics.size();
    for (const std::string& metric : metrics) {
      const uint64_t before = CountOf(base, metric);
      const uint64_t after = CountOf(next, metric);
      if (before == after) continue;
      const double allowed = AllowedFor(metric);
      const double change = std::abs(static_cast<double>(after) - static_cast<double>(before));
      const bool is_allowed = change <= allowed * static_cast<double>(before);
      auto& list = is_allowed ? comparison_->allowed : comparison_->failures;
      list.push_back(
          {name, base.seed, metric, std::to_string(before), std::to_string(after), allowed});
    }
  }

  // The last allowance whose expression finds the metric decides.
  double AllowedFor(const std::string& metric) const {
    double allowed = 0;
    for (const Allowance& allowance : allowances_) {
      if (allowance.metric.IsFoundIn(metric)) allowed = allowance.fraction;
    }
    return allowed;
  }

  const std::vector<Allowance>& allowances_;
  CounterComparison* const comparison_;
};

// The reason why the two runs cannot be compared at all; nullopt: they can.
std::optional<std::string> WhyIncomparable(const RunDocument& base, const RunDocument& next) {
  const auto differs = [](const std::string& what, const std::string& before,
                          const std::string& after) {
    return fmt::format("the runs cannot be compared: {} {} before and {} after, expected the same",
                       what, before, after);
  };
  if (base.clock != ClockKind::kVirtual || next.clock != ClockKind::kVirtual) {
    return "the runs cannot be compared exactly: expected both on the virtual clock";
  }
  if (base.seed != next.seed) {
    return differs("seed", std::to_string(base.seed), std::to_string(next.seed));
  }
  if (base.cost_model != next.cost_model) {
    return differs("cost model", base.cost_model, next.cost_model);
  }
  for (const RunDocument* document : {&base, &next}) {
    for (const WorkloadResult& result : document->workloads) {
      if (result.outcome != WorkloadOutcome::kInterrupted) continue;
      return fmt::format("the runs cannot be compared: {} was interrupted", NameOf(result));
    }
  }
  for (const RunDocument* document : {&base, &next}) {
    if (const Status status = CheckMeasured(*document); !status) {
      return "the runs cannot be compared: " + status.error().message();
    }
  }
  for (const WorkloadResult& result : base.workloads) {
    const WorkloadResult* other = Find(next, NameOf(result));
    if (other == nullptr || result.outcome != other->outcome) continue;
    if (result.repetitions.size() == other->repetitions.size()) continue;
    return differs("repetitions of " + NameOf(result), std::to_string(result.repetitions.size()),
                   std::to_string(other->repetitions.size()));
  }
  return std::nullopt;
}

}  // namespace

Status CheckMeasured(const RunDocument& document) {
  std::set<std::string> names;
  for (const WorkloadResult& result : document.workloads) {
    const std::string name = NameOf(result);
    if (!names.insert(name).second) {
      return Error("workload " + name + " is there twice, expected unique names");
    }
    if (result.outcome == WorkloadOutcome::kMeasured && result.repetitions.empty()) {
      return Error("workload " + name + " was measured in no repetition, expected one at least");
    }
  }
  return Status::Ok();
}

bool HasCounters(const RunDocument& document) {
  for (const WorkloadResult& result : document.workloads) {
    for (const Repetition& repetition : result.repetitions) {
      if (!repetition.counters.empty()) return true;
    }
  }
  return false;
}

Result<Allowance> ParseAllowance(const std::string& text) {
  const size_t equals = text.rfind('=');
  const std::optional<double> percent =
      equals == std::string::npos ? std::nullopt
                                  : ParseFiniteNumber(std::string_view(text).substr(equals + 1));
  if (!percent || *percent < 0 || equals == 0) {
    return Error("\"" + text + "\" is not an allowance, expected REGEX=PERCENT");
  }
  Result<Pattern> metric = Pattern::Parse(std::string_view(text).substr(0, equals));
  if (!metric) return metric.error();
  return Allowance{text, std::move(*metric), *percent * kPercent};
}

Result<CounterComparison> CompareCounters(const RunDocument& base, const RunDocument& next,
                                          const std::vector<Allowance>& allowances) {
  if (const auto obstacle = WhyIncomparable(base, next)) return Error(*obstacle);
  CounterComparison comparison;
  Comparer comparer(allowances, &comparison);
  for (const WorkloadResult& result : base.workloads) {
    comparer.Compare(result, Find(next, NameOf(result)));
  }
  for (const WorkloadResult& result : next.workloads) {
    if (Find(base, NameOf(result)) == nullptr) {
      comparison.notes.push_back(NameOf(result) + ": not compared, it is new");
    }
  }
  for (const ScenarioResult& scenario : base.scenarios) {
    const auto found = std::find_if(
        next.scenarios.begin(), next.scenarios.end(),
        [&scenario](const ScenarioResult& other) { return other.name == scenario.name; });
    comparer.Compare(scenario, found == next.scenarios.end() ? nullptr : &*found, base.seed);
  }
  if (comparison.workloads == 0 && comparison.failures.empty()) {
    return Error("the runs cannot be compared: no workload was measured in both");
  }
  if (comparison.counters == 0 && comparison.failures.empty()) {
    return Error("the runs cannot be compared: no counter was measured in both");
  }
  return comparison;
}

}  // namespace schedq
