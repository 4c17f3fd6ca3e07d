#include "bench/program/reports/run_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "bench/kep/experiments/experiments.h"
#include "bench/kep/scenario/scenario.h"
#include "bench/program/reports/real_tables.h"
#include "bench/program/reports/reference_report.h"
#include "bench/program/reports/words.h"
#include "engine/base/result.h"
#include "perf/documents/document.h"
#include "perf/documents/enum_text.h"
#include "perf/documents/scenario_document.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

size_t CountOf(const RunDocument& document, WorkloadOutcome outcome) {
  return static_cast<size_t>(
      std::count_if(document.workloads.begin(), document.workloads.end(),
                    [outcome](const WorkloadResult& one) { return one.outcome == outcome; }));
}

std::string NameOf(const WorkloadResult& result) {
  return result.test_case + "/" + result.workload;
}

std::string ThresholdsText(const RunDocument& document) {
  size_t judged = 0;
  size_t met = 0;
  size_t shown = 0;
  for (const WorkloadResult& result : document.workloads) {
    for (const ThresholdOutcome& threshold : result.thresholds) {
      if (!threshold.comparable) {
        ++shown;
        continue;
      }
      ++judged;
      if (threshold.met) ++met;
    }
  }
  if (shown > 0) return fmt::format("{} thresholds of real clusters, not judged", shown);
  return judged == 0 ? "no thresholds" : fmt::format("{} of {} thresholds met", met, judged);
}

std::string PromisesText(const RunDocument& document) {
  const auto held = std::count_if(document.verdicts.begin(), document.verdicts.end(),
                                  [](const PromiseVerdict& verdict) { return verdict.holds; });
  return fmt::format("{} scenarios played, {} of {} promises hold", document.scenarios.size(), held,
                     document.verdicts.size());
}

// What a virtual run says beside its engine: equal for all engines.
Result<std::string> Comparable(WorkloadResult result) {
  RunDocument document;
  document.workloads.push_back(std::move(result));
  return DocumentText(document);
}

}  // namespace

std::string RunSummary(const RunDocument& document) {
  std::string text =
      fmt::format("{} measured, {} skipped", CountOf(document, WorkloadOutcome::kMeasured),
                  CountOf(document, WorkloadOutcome::kSkipped));
  if (const size_t failed = CountOf(document, WorkloadOutcome::kFailed); failed > 0) {
    text += fmt::format(", {} failed", failed);
  }
  if (const size_t broken = CountOf(document, WorkloadOutcome::kInterrupted); broken > 0) {
    text += fmt::format(", {} interrupted", broken);
  }
  text += ", " + ThresholdsText(document);
  return document.verdicts.empty() && document.scenarios.empty()
             ? text
             : text + "; " + PromisesText(document);
}

std::vector<std::string> RunFailures(const RunDocument& document, bool judges_thresholds) {
  std::vector<std::string> reasons;
  for (const WorkloadResult& result : document.workloads) {
    if (result.outcome == WorkloadOutcome::kFailed) {
      reasons.push_back(fmt::format("failed: {}: {}", NameOf(result), result.reason));
    }
    for (const ThresholdOutcome& threshold : result.thresholds) {
      if (!judges_thresholds || threshold.met) continue;
      reasons.push_back(
          fmt::format("threshold missed: {}: {} {} is {}, expected {} {}", NameOf(result),
                      threshold.metric, threshold.bucket, NumberText(threshold.measured),
                      threshold.expect_lower ? "below" : "above", NumberText(threshold.limit)));
    }
  }
  for (const PromiseVerdict& verdict : document.verdicts) {
    if (!verdict.holds) reasons.push_back(VerdictLine(verdict));
  }
  const bool has_results = CountOf(document, WorkloadOutcome::kMeasured) > 0 ||
                           CountOf(document, WorkloadOutcome::kInterrupted) > 0 ||
                           !document.scenarios.empty();
  if (!has_results) {
    reasons.push_back(fmt::format("nothing was measured: {} skipped, {} failed",
                                  CountOf(document, WorkloadOutcome::kSkipped),
                                  CountOf(document, WorkloadOutcome::kFailed)));
  }
  return reasons;
}

std::vector<std::string> EngineDifferences(const std::vector<RunReport>& reports) {
  std::vector<std::string> lines;
  const RunDocument& first = reports.front().document;
  // What is measured differs from one run to the next.
  if (first.clock == ClockKind::kReal) return lines;
  for (size_t i = 1; i < reports.size(); ++i) {
    const RunDocument& other = reports[i].document;
    const size_t both = std::min(first.workloads.size(), other.workloads.size());
    for (size_t j = 0; j < both; ++j) {
      // An interrupted workload ends at another moment on each engine.
      if (other.workloads[j].outcome == WorkloadOutcome::kInterrupted) continue;
      const Result<std::string> one = Comparable(first.workloads[j]);
      const Result<std::string> two = Comparable(other.workloads[j]);
      if (one && two && *one == *two) continue;
      lines.push_back(
          fmt::format("{}: {} and {} differ; `schedq compare` of their results says in "
                      "what",
                      NameOf(first.workloads[j]), first.engine, other.engine));
    }
  }
  return lines;
}

std::string RunText(const std::vector<RunReport>& reports, const TableLayout& layout) {
  const RunDocument& document = reports.front().document;
  std::string text = Wrapped(RunSummary(document), layout.width_max, 2) + '\n';
  std::string engines = document.engine;
  for (size_t i = 1; i < reports.size(); ++i) engines += " and " + reports[i].document.engine;
  std::string how =
      fmt::format("engine {}, {} clock, seed {}", engines, TextOf(document.clock), document.seed);
  if (document.clock == ClockKind::kReal) {
    how += reports.size() > 1 ? "; the engines took turns" : "";
  } else if (reports.size() > 1) {
    const size_t differing = EngineDifferences(reports).size();
    how += differing == 0 ? "; the engines agree in all figures of the workloads"
                          : fmt::format("; the engines differ in {} workloads", differing);
  }
  text += Wrapped(how, layout.width_max, 2) + '\n' +
          VerdictLines(document.verdicts, layout.width_max) + '\n';
  const bool is_real = document.clock == ClockKind::kReal;
  const std::string tables = (is_real ? RealTables(reports, layout) : RunTable(document, layout)) +
                             PredictionTable(document, layout) + ReferenceTable(document, layout) +
                             ExperimentTable(document, layout) +
                             ScenarioTables(document.scenarios, layout);
  return text + tables + WordsOf(tables, layout.width_max);
}

}  // namespace schedq
