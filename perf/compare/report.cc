#include "perf/compare/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "perf/text/number_text.h"
#include "perf/text/pattern.h"
#include "perf/text/table.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

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

}  // namespace

std::string MarkdownCell(const std::string& text) {
  std::string cell;
  for (const char letter : VisibleText(text)) {
    if (letter == '|') cell += '\\';
    cell += letter;
  }
  return cell;
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
      text += fmt::format("| {} | `{}` | {} | {} | {} |\n", MarkdownCell(change.workload),
                          MarkdownCell(change.metric), MarkdownCell(change.before),
                          MarkdownCell(change.after), AllowedText(change.allowed));
    }
    text += "\n    " + VisibleText(command(comparison.failures[first])) + "\n\n";
  });
  for (const std::string& note : comparison.notes) text += "- " + VisibleText(note) + '\n';
  return text;
}

std::string RunAgainCommand(const RunDocument& run, const std::string& workload, uint64_t seed) {
  std::string command = "schedq run";
  const std::vector<std::string>& flags = run.environment.flags;
  for (const std::string& flag : flags) command += ' ' + ShellWord(flag);
  command += " --name " + ShellWord(PatternOfExactly(workload)) + " --seed " + std::to_string(seed);
  if (!run.engine.empty()) command += " --engine " + ShellWord(run.engine);
  // Results of versions that did not write their flags.
  if (flags.empty() && !run.status_model.empty()) {
    command += " --status-model " + ShellWord(run.status_model);
  }
  for (const auto& [gate, is_on] : run.gates) {
    if (flags.empty() && !is_on) command += " --gate " + ShellWord(gate + "=false");
  }
  return command + " --format json";
}

JunitSuite CountersJunit(const CounterComparison& comparison, const ReproduceCommand& command,
                         const std::map<std::string, double>& seconds) {
  JunitSuite suite{"semantic", {}};
  const auto seconds_of = [&](const std::string& workload) {
    const auto found = seconds.find(workload);
    return found == seconds.end() ? 0 : found->second;
  };
  std::set<std::string> failed;
  ForEachWorkload(comparison, [&](size_t first, size_t end) {
    std::string lines;
    for (size_t i = first; i < end; ++i) {
      const CounterChange& change = comparison.failures[i];
      lines += fmt::format("{}: {} before, {} after\n", change.metric, change.before, change.after);
    }
    lines += "reproduce: " + command(comparison.failures[first]) + '\n';
    const std::string& workload = comparison.failures[first].workload;
    failed.insert(workload);
    suite.cases.push_back({workload, seconds_of(workload), JunitOutcome::kFailed,
                           fmt::format("{} counters differ", end - first), lines});
  });
  for (const std::string& workload : comparison.names) {
    if (failed.contains(workload)) continue;
    suite.cases.push_back({workload, seconds_of(workload), JunitOutcome::kPassed, "", ""});
  }
  return suite;
}

}  // namespace schedq
