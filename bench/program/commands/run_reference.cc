#include "bench/program/commands/run_reference.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>

#include "perf/compare/reference.h"
#include "perf/documents/reference_comparison.h"
#include "perf/documents/run_document.h"

namespace schedq {
namespace {

bool IsOnUpstream(Gate gate) {
  switch (gate) {
    case Gate::kSchedulerPopFromBackoffQ:
    case Gate::kNominatedNodeNameForExpectation:
    case Gate::kClearingNominatedNodeNameAfterBinding:
    case Gate::kNodeDeclaredFeatures:
    case Gate::kOpportunisticBatching:
    case Gate::kSchedulerAsyncPreemption:
      return true;
    case Gate::kSchedulerPreQueueingHints:
    case Gate::kSchedulerPreEnqueuePodStatus:
    case Gate::kSchedulerAsyncAPICalls:
    case Gate::kGenericWorkload:
    case Gate::kCompositePodGroup:
    case Gate::kTopologyAwareWorkloadScheduling:
      return false;
  }
  return false;
}

std::string GateText(const std::string& name, bool is_on) {
  return name + (is_on ? "=true" : "=false");
}

std::optional<bool> ValueIn(const std::map<std::string, bool>& gates, const std::string& name) {
  const auto found = gates.find(name);
  return found == gates.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

GateRequest UpstreamGateDefaults() {
  GateRequest defaults;
  for (int i = 0; i < kGateCount; ++i) {
    const auto gate = static_cast<Gate>(i);
    defaults.Set(gate, IsOnUpstream(gate));
  }
  return defaults;
}

Result<RunReference> RunReference::Read(const std::string& folder) {
  Result<std::vector<UpstreamRuns>> all = ReadUpstreamFolder(folder);
  if (!all) return all.error();
  return RunReference(std::move(*all));
}

std::string RunReference::WhyNot(const UpstreamRuns& reference, const ReferenceQuestion& question) {
  if (question.has_other_params) return "other parameters";
  for (int i = 0; i < kGateCount; ++i) {
    const auto gate = static_cast<Gate>(i);
    const std::string name(GateName(gate));
    const bool measured = ValueIn(reference.gates, name).value_or(IsOnUpstream(gate));
    if (measured != question.gates.On(gate)) return GateText(name, measured);
  }
  // The file of the workload says the others, unless the measurement or the command line does.
  std::set<std::string> names;
  for (const auto& [name, is_on] : reference.gates_forced) names.insert(name);
  for (const auto& [name, is_on] : question.gates_asked) names.insert(name);
  for (const std::string& name : names) {
    if (ParseGate(name)) continue;
    const std::optional<bool> measured = ValueIn(reference.gates, name);
    if (measured == ValueIn(question.gates_asked, name)) continue;
    return measured ? GateText(name, *measured) : name + " left at its default";
  }
  return "";
}

Status RunReference::Choose(const std::vector<ReferenceQuestion>& questions) {
  for (const ReferenceQuestion& question : questions) {
    for (size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].Name() != question.name) continue;
      const std::string why_not = WhyNot(all_[i], question);
      if (why_not.empty()) {
        chosen_[question.name] = i;
      } else {
        not_chosen_.emplace(question.name, "measured with " + why_not);
      }
    }
    if (chosen_.contains(question.name)) not_chosen_.erase(question.name);
  }
  if (!chosen_.empty()) return Status::Ok();
  if (not_chosen_.empty()) {
    return Error(
        fmt::format("none of its {} references is of a workload of this run", all_.size()));
  }
  const auto& [name, why] = *not_chosen_.begin();
  return Error(
      fmt::format("no reference has the gates of this run; that of {} was {}, expected "
                  "--gate to say so",
                  name, why));
}

size_t RunReference::Compare(RunReport* report) const {
  std::vector<ReferenceComparison> comparisons;
  for (WorkloadResult& result : report->document.workloads) {
    const std::string name = result.test_case + "/" + result.workload;
    ReferenceComparison comparison;
    const auto chosen = chosen_.find(name);
    const auto not_chosen = not_chosen_.find(name);
    if (chosen != chosen_.end()) {
      const UpstreamRuns& reference = all_[chosen->second];
      const auto whole = report->wholes.find(name);
      const bool is_measured =
          result.outcome == WorkloadOutcome::kMeasured && whole != report->wholes.end();
      if (is_measured) {
        comparison = CompareWithReference(reference, whole->second);
      } else {
        comparison.file = reference.file;
        comparison.not_compared = "was not measured here";
      }
    } else if (not_chosen != not_chosen_.end()) {
      comparison.not_compared = not_chosen->second;
    } else {
      continue;
    }
    comparisons.push_back(comparison);
    result.reference = std::move(comparison);
  }
  report->document.reference = SummaryOf(comparisons);
  return report->document.reference->workloads;
}

}  // namespace schedq
