#include "perf/compare/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "perf/statistics/comparison.h"
#include "perf/text/number_text.h"
#include "perf/text/pattern.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

Tone ToneOf(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::kBetter:
      return Tone::kGood;
    case ChangeVerdict::kWorse:
      return Tone::kBad;
    default:
      return Tone::kDim;
  }
}

bool HasChanged(const Change& change) {
  const Comparison& comparison = change.comparison;
  if (change.is_exact) return comparison.base_median != comparison.next_median;
  return comparison.verdict != ChangeVerdict::kSame;
}

std::string ChangeOf(const Comparison& comparison) {
  return std::isfinite(comparison.ratio) ? ChangeText(comparison.Change()) : "from 0";
}

std::string ConfidenceText(const Change& change) {
  if (change.is_exact) return "exact";
  const Comparison& comparison = change.comparison;
  if (!std::isfinite(comparison.ratio_interval.high)) {
    return "p " + NumberText(comparison.p_adjusted);
  }
  return fmt::format("{} to {}, p {}", ChangeText(comparison.ratio_interval.low - 1),
                     ChangeText(comparison.ratio_interval.high - 1),
                     NumberText(comparison.p_adjusted));
}

std::string Verdicts(const Change& change) {
  return std::string(VerdictWord(change.comparison.verdict, change.comparison.kind));
}

std::string OnlyOneSide(const Changes& changes) {
  std::string text;
  for (const std::string& name : changes.only_base)
    text += "only in base: " + VisibleText(name) + '\n';
  for (const std::string& name : changes.only_next)
    text += "only in new: " + VisibleText(name) + '\n';
  return text;
}

// Visits each workload's failures, which stand together, as one group.
template <typename Visit>
void ForEachWorkload(const CounterComparison& comparison, Visit visit) {
  const auto& failures = comparison.failures;
  for (size_t first = 0; first < failures.size();) {
    size_t end = first;
    while (end < failures.size() && failures[end].workload == failures[first].workload) ++end;
    visit(first, end);
    first = end;
  }
}

std::string SumText(const CounterComparison& comparison) {
  return fmt::format("{} workloads, {} counters compared: {} differ, {} within their allowance\n",
                     comparison.workloads, comparison.counters, comparison.failures.size(),
                     comparison.allowed.size());
}

std::string AllowedText(double fraction) {
  return fraction == 0 ? "exact" : fmt::format("{} %", NumberText(fraction * 100));
}

// A cell of a Markdown table.
std::string CellText(const std::string& text) {
  std::string cell;
  for (const char letter : VisibleText(text)) {
    if (letter == '|') cell += '\\';
    cell += letter;
  }
  return cell;
}

std::string SuiteText(const JunitSuite& suite, uint64_t cases) {
  const std::string name = XmlText(suite.name);
  std::string text =
      fmt::format("<testsuite name=\"schedq gate {}\" tests=\"{}\" failures=\"{}\">\n", name, cases,
                  suite.failures.size());
  for (const JunitFailure& failure : suite.failures) {
    text += fmt::format(
        "  <testcase classname=\"schedq.gate.{}\" name=\"{}\">\n"
        "    <failure message=\"{}\">{}</failure>\n  </testcase>\n",
        name, XmlText(failure.name), XmlText(failure.message), XmlText(failure.details));
  }
  if (suite.passed > 0) {
    text += fmt::format("  <testcase classname=\"schedq.gate.{}\" name=\"{} passed\"/>\n", name,
                        suite.passed);
  }
  return text + "</testsuite>\n";
}

}  // namespace

std::string ChangesTable(const Changes& changes, bool all, const TableLayout& layout) {
  TextTable table({{"metric", Align::kLeft},
                   {"change"},
                   {"verdict", Align::kLeft},
                   {"base", Align::kRight, Shown::kIfRoom},
                   {"new", Align::kRight, Shown::kIfRoom},
                   {"unit", Align::kLeft, Shown::kIfRoom},
                   {"confidence", Align::kLeft, Shown::kIfRoom}});
  size_t unchanged = 0;
  size_t shown = 0;
  std::map<ChangeVerdict, size_t> verdicts;
  for (const Change& change : changes.metrics) {
    const Comparison& comparison = change.comparison;
    ++verdicts[comparison.verdict];
    if (!HasChanged(change)) ++unchanged;
    if (!all && !HasChanged(change)) continue;
    ++shown;
    table.AddRow({comparison.name,
                  ChangeOf(comparison),
                  {Verdicts(change), ToneOf(comparison.verdict)},
                  NumberText(comparison.base_median),
                  NumberText(comparison.next_median),
                  change.unit,
                  ConfidenceText(change)});
  }
  return fmt::format("{} metrics compared: {} worse, {} better, {} as they were\n",
                     changes.metrics.size(), verdicts[ChangeVerdict::kWorse],
                     verdicts[ChangeVerdict::kBetter], unchanged) +
         (shown > 0 ? '\n' + table.Render(layout) : "") + OnlyOneSide(changes);
}

std::string ChangesMarkdown(const Changes& changes, bool all) {
  std::string text =
      "| metric | base | new | unit | change | confidence | verdict "
      "|\n|---|--:|--:|---|--:|---|---|\n";
  for (const Change& change : changes.metrics) {
    if (!all && !HasChanged(change)) continue;
    const Comparison& comparison = change.comparison;
    text +=
        fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", CellText(comparison.name),
                    NumberText(comparison.base_median), NumberText(comparison.next_median),
                    change.unit, ChangeOf(comparison), ConfidenceText(change), Verdicts(change));
  }
  return text + '\n' + OnlyOneSide(changes);
}

// The names of metrics are never shortened, for they say what differs.
std::string CountersText(const CounterComparison& comparison, const ReproduceCommand& command,
                         size_t rows_a_workload, bool colour) {
  std::string text = SumText(comparison);
  for (const std::string& note : comparison.notes) text += VisibleText(note) + '\n';
  ForEachWorkload(comparison, [&](size_t first, size_t end) {
    TextTable table(
        {{comparison.failures[first].workload, Align::kLeft}, {"before"}, {"after"}, {"allowed"}});
    for (size_t i = first; i < std::min(end, first + rows_a_workload); ++i) {
      const CounterChange& change = comparison.failures[i];
      table.AddRow(
          {change.metric, change.before, {change.after, Tone::kBad}, AllowedText(change.allowed)});
    }
    text += '\n' + table.Render(colour);
    if (end - first > rows_a_workload) {
      text += fmt::format("and {} more of this workload\n", end - first - rows_a_workload);
    }
    text += "reproduce: " + VisibleText(command(comparison.failures[first])) + '\n';
  });
  return text;
}

std::string CountersMarkdown(const CounterComparison& comparison, const ReproduceCommand& command) {
  std::string text = "### Semantic tier\n\n" + SumText(comparison) + '\n';
  ForEachWorkload(comparison, [&](size_t first, size_t end) {
    text += "| workload | metric | before | after | allowed |\n|---|---|--:|--:|--:|\n";
    for (size_t i = first; i < end; ++i) {
      const CounterChange& change = comparison.failures[i];
      text += fmt::format("| {} | `{}` | {} | {} | {} |\n", CellText(change.workload),
                          CellText(change.metric), CellText(change.before), CellText(change.after),
                          AllowedText(change.allowed));
    }
    text += "\n    " + VisibleText(command(comparison.failures[first])) + "\n\n";
  });
  for (const std::string& note : comparison.notes) text += "- " + VisibleText(note) + '\n';
  return text;
}

std::string RunAgainCommand(const std::string& program, const std::string& workload,
                            uint64_t seed) {
  return ShellWord(program) + " run --name " + ShellWord(PatternOfExactly(workload)) + " --seed " +
         std::to_string(seed);
}

std::string JunitText(const std::vector<JunitSuite>& suites) {
  std::string text;
  uint64_t tests = 0;
  uint64_t failures = 0;
  for (const JunitSuite& suite : suites) {
    const uint64_t cases = suite.failures.size() + (suite.passed > 0 ? 1 : 0);
    tests += cases;
    failures += suite.failures.size();
    text += SuiteText(suite, cases);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"schedq gate\" tests=\"{}\" failures=\"{}\">\n{}</testsuites>\n",
      tests, failures, text);
}

JunitSuite CountersJunit(const CounterComparison& comparison, const ReproduceCommand& command) {
  std::vector<JunitFailure> failures;
  ForEachWorkload(comparison, [&](size_t first, size_t end) {
    std::string lines;
    for (size_t i = first; i < end; ++i) {
      const CounterChange& change = comparison.failures[i];
      lines += fmt::format("{}: {} before, {} after\n", change.metric, change.before, change.after);
    }
    lines += "reproduce: " + command(comparison.failures[first]) + '\n';
    failures.push_back({comparison.failures[first].workload,
                        fmt::format("{} counters differ", end - first), lines});
  });
  const uint64_t all = comparison.workloads;
  const uint64_t passed = all > failures.size() ? all - failures.size() : 0;
  return {"semantic", std::move(failures), passed};
}

JunitSuite ChangesJunit(const Changes& changes) {
  std::vector<JunitFailure> failures;
  for (const Change& change : changes.metrics) {
    const Comparison& comparison = change.comparison;
    if (comparison.verdict != ChangeVerdict::kWorse) continue;
    failures.push_back({comparison.name, ChangeOf(comparison), ConfidenceText(change)});
  }
  const size_t passed = changes.metrics.size() - failures.size();
  for (const std::string& name : changes.only_base) failures.push_back({name, "absent", ""});
  return {"time", std::move(failures), passed};
}

}  // namespace schedq
