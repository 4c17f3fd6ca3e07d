#include "perf/compare/changes_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "perf/compare/report.h"
#include "perf/compare/results.h"
#include "perf/documents/run_document.h"
#include "perf/statistics/comparison.h"
#include "perf/text/number_text.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

constexpr std::string_view kThroughput = "SchedulingThroughput Average";

Tone ToneOf(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::kBetter:
      return Tone::kGood;
    case ChangeVerdict::kWorse:
      return Tone::kBad;
    case ChangeVerdict::kCannotTell:
      return Tone::kStrong;
    case ChangeVerdict::kSame:
    case ChangeVerdict::kNotTested:
      break;
  }
  return Tone::kDim;
}

bool IsTested(const Change& change) {
  return change.comparison.verdict != ChangeVerdict::kNotTested;
}

// The workload alone, where its throughput is meant.
std::string NameOf(const Change& change) {
  if (change.what.empty() || change.what == kThroughput) return change.place;
  return change.comparison.name;
}

std::string ChangeOf(const Comparison& comparison) {
  return std::isfinite(comparison.ratio) ? ChangeText(comparison.Change()) : "from 0";
}

std::string RangeText(const Comparison& comparison) {
  if (!std::isfinite(comparison.ratio_interval.high)) return "";
  return fmt::format("{} to {}", ChangeText(comparison.ratio_interval.low - 1),
                     ChangeText(comparison.ratio_interval.high - 1));
}

std::string ConfidenceText(const Change& change) {
  if (change.is_exact) return "exact";
  std::string range = RangeText(change.comparison);
  if (!IsTested(change)) return range;
  return range + (range.empty() ? "p " : ", p ") + NumberText(change.comparison.p_adjusted);
}

std::string RunsText(const Comparison& comparison) {
  if (comparison.is_paired) return fmt::format("{} pairs", comparison.base_runs);
  return fmt::format("{} + {}", comparison.base_runs, comparison.next_runs);
}

std::string VerdictText(const Change& change) {
  const Comparison& comparison = change.comparison;
  std::string text(VerdictWord(comparison.verdict, comparison.kind));
  if (comparison.runs_needed > 0) text += ", " + RunsNeededText(comparison);
  return text;
}

// "; p corrected by Holm for 3" where there is something to correct.
std::string HowText(const Changes& changes) {
  const bool is_exact = std::all_of(changes.metrics.begin(), changes.metrics.end(),
                                    [](const Change& change) { return change.is_exact; });
  if (is_exact) return "exact values of the virtual clock, so that nothing is tested";
  if (changes.Tested() == 0) return "";
  const bool is_paired =
      std::any_of(changes.metrics.begin(), changes.metrics.end(),
                  [](const Change& change) { return change.comparison.is_paired; });
  return fmt::format("{}; p is corrected (Holm) for {} tested metric{}",
                     is_paired ? "Wilcoxon's test of pairs that ran at the same time"
                               : "Mann-Whitney test of the runs",
                     changes.Tested(), changes.Tested() == 1 ? "" : "s");
}

size_t CountNotTestedThatChanged(const Changes& changes) {
  return static_cast<size_t>(
      std::count_if(changes.metrics.begin(), changes.metrics.end(), [](const Change& change) {
        return !IsTested(change) && change.comparison.base_median != change.comparison.next_median;
      }));
}

std::vector<std::string> HeadLines(const Changes& changes, bool all) {
  std::vector<std::string> lines = {fmt::format(
      "{} metrics compared: {} worse, {} better, {} as they were, {} cannot tell", changes.Tested(),
      changes.CountOf(ChangeVerdict::kWorse), changes.CountOf(ChangeVerdict::kBetter),
      changes.CountOf(ChangeVerdict::kSame), changes.CountOf(ChangeVerdict::kCannotTell))};
  if (const std::string how = HowText(changes); !how.empty()) lines.push_back(how);
  if (const size_t others = changes.CountOf(ChangeVerdict::kNotTested); others > 0) {
    lines.push_back(fmt::format("{} other metrics are not tested, {} of them changed{}", others,
                                CountNotTestedThatChanged(changes),
                                all ? "" : "; --all shows them"));
  }
  for (const std::string& difference : changes.differences) {
    lines.push_back("differs: " + VisibleText(difference));
  }
  return lines;
}

std::string OnlyOneSide(const Changes& changes, bool all) {
  constexpr size_t kShownMax = 3;
  std::string text;
  const auto add = [&](const char* side, const std::vector<std::string>& names) {
    const size_t shown = all ? names.size() : std::min(names.size(), kShownMax);
    for (size_t i = 0; i < shown; ++i) {
      text += fmt::format("only in {}: {}\n", side, VisibleText(names[i]));
    }
    if (shown < names.size()) {
      text += fmt::format("only in {}: {} more; --all shows them\n", side, names.size() - shown);
    }
  };
  add("base", changes.only_base);
  add("new", changes.only_next);
  return text;
}

// Tested metrics first; `visit` gets each that is shown.
template <typename Visit>
void ForEachShown(const Changes& changes, bool all, Visit visit) {
  for (const Change& change : changes.metrics) {
    if (IsTested(change)) visit(change);
  }
  for (const Change& change : changes.metrics) {
    if (all && !IsTested(change)) visit(change);
  }
}

// "case/workload" of "case/workload/section".
double SecondsOf(const std::string& place, const WorkloadSeconds& seconds) {
  const auto found = seconds.find(place.substr(0, place.rfind('/')));
  if (found != seconds.end()) return found->second;
  const auto exact = seconds.find(place);
  return exact == seconds.end() ? 0 : exact->second;
}

}  // namespace

std::string RunsNeededText(const Comparison& comparison) {
  if (comparison.runs_needed == 0) return "";
  const char* const what = comparison.is_paired ? "pairs" : "runs";
  if (comparison.runs_needed > kRunsNeededMax) {
    return fmt::format("more than {} {} needed", CountText(kRunsNeededMax), what);
  }
  return fmt::format("{} {} needed", comparison.runs_needed, what);
}

WorkloadSeconds SecondsOfWorkloads(const Results& results) {
  WorkloadSeconds seconds;
  if (!results.run) return seconds;
  for (const RepetitionCost& cost : results.run->environment.costs) {
    seconds[cost.test_case + '/' + cost.workload] += cost.wall_seconds;
  }
  return seconds;
}

std::string ChangesTable(const Changes& changes, bool all, const TableLayout& layout) {
  TextTable table({{"workload", Align::kLeft},
                   {"change"},
                   {"verdict", Align::kLeft},
                   {"runs", Align::kRight, Shown::kIfRoom},
                   {"base", Align::kRight, Shown::kIfRoom},
                   {"new", Align::kRight, Shown::kIfRoom},
                   {"unit", Align::kLeft, Shown::kIfRoom},
                   {"confidence", Align::kLeft, Shown::kIfRoom}});
  size_t shown = 0;
  ForEachShown(changes, all, [&](const Change& change) {
    const Comparison& comparison = change.comparison;
    ++shown;
    table.AddRow({NameOf(change),
                  ChangeOf(comparison),
                  {VerdictText(change), ToneOf(comparison.verdict)},
                  RunsText(comparison),
                  NumberText(comparison.base_median),
                  NumberText(comparison.next_median),
                  change.unit,
                  ConfidenceText(change)});
  });
  std::string text;
  for (const std::string& line : HeadLines(changes, all)) {
    text += Wrapped(line, layout.width_max, 2) + '\n';
  }
  return text + (shown > 0 ? '\n' + table.Render(layout) : "") + OnlyOneSide(changes, all);
}

std::string ChangesMarkdown(const Changes& changes, bool all) {
  std::string text;
  for (const std::string& line : HeadLines(changes, all)) text += "- " + line + '\n';
  text +=
      "\n| workload | base | new | unit | change | runs | confidence | verdict "
      "|\n|---|--:|--:|---|--:|--:|---|---|\n";
  ForEachShown(changes, all, [&](const Change& change) {
    const Comparison& comparison = change.comparison;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", MarkdownCell(NameOf(change)),
                        NumberText(comparison.base_median), NumberText(comparison.next_median),
                        MarkdownCell(change.unit), ChangeOf(comparison), RunsText(comparison),
                        ConfidenceText(change), VerdictText(change));
  });
  return text + '\n' + OnlyOneSide(changes, all);
}

JunitSuite ChangesJunit(const Changes& changes, const WorkloadSeconds& seconds, bool is_strict) {
  JunitSuite suite{"time", {}};
  for (const Change& change : changes.metrics) {
    if (!IsTested(change)) continue;
    const Comparison& comparison = change.comparison;
    JunitCase one{NameOf(change), SecondsOf(change.place, seconds), JunitOutcome::kPassed, "", ""};
    if (comparison.verdict == ChangeVerdict::kWorse) {
      one.outcome = JunitOutcome::kFailed;
      one.message = ChangeOf(comparison);
      one.details = ConfidenceText(change);
    } else if (comparison.verdict == ChangeVerdict::kCannotTell) {
      one.outcome = is_strict ? JunitOutcome::kFailed : JunitOutcome::kSkipped;
      one.message = VerdictText(change);
      one.details = ConfidenceText(change);
    }
    suite.cases.push_back(std::move(one));
  }
  for (const std::string& name : changes.only_base) {
    suite.cases.push_back({name, 0, JunitOutcome::kFailed, "absent", ""});
  }
  return suite;
}

}  // namespace schedq
