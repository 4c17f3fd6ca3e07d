#include "bench/program/reports/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "bench/lab/micro/counted_lines.h"
#include "bench/program/reports/words.h"
#include "perf/documents/enum_text.h"
#include "perf/statistics/measurement.h"
#include "perf/statistics/summary.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

std::string ParametersText(const std::map<std::string, uint64_t>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (!text.empty()) text += ", ";
    const bool is_size = name == "bytes";
    text += is_size ? BytesText(static_cast<double>(value)) : fmt::format("{} {}", value, name);
  }
  return text;
}

std::string PercentText(double fraction) { return fmt::format("{:.0f} %", fraction * 100); }

// The middle half of the repetitions against their median: what noise does to a repetition.
std::string QuartilesText(const Summary& summary) {
  if (summary.median == 0) return "";
  return PercentText((summary.upper_quartile - summary.lower_quartile) / summary.median);
}

struct Row {
  const BenchContender* contender;
  Summary summary;
};

std::vector<Row> FastestFirst(const BenchCase& one) {
  std::vector<Row> rows;
  for (const BenchContender& contender : one.contenders) {
    if (contender.repetitions.empty()) continue;
    rows.push_back({&contender, Summarize(contender.repetitions)});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.summary.median < b.summary.median; });
  return rows;
}

std::string CounterText(const BenchContender& contender, const char* name) {
  const auto counter = contender.counters.find(name);
  return counter == contender.counters.end() ? "" : fmt::format("{:.1f}", counter->second);
}

std::optional<double> BestRival(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const ContenderRole role = row.contender->role;
    const bool is_rival = role == ContenderRole::kRival || role == ContenderRole::kClassic;
    if (is_rival) return row.summary.median;
  }
  return std::nullopt;
}

}  // namespace

std::string MachineLine(const Environment& environment) {
  const Machine& machine = environment.machine;
  const Build& build = environment.build;
  return fmt::format("{}, {} cores, {}, {}\nschedq {} ({}, {}, {}, {})\n", machine.cpu_model,
                     machine.cores, BytesText(static_cast<double>(machine.memory_bytes)),
                     machine.kernel, build.version, build.commit, build.compiler, build.type,
                     build.allocator);
}

std::string FloorTable(const FloorDocument& document, const TableLayout& layout) {
  TextTable table({{"quantity", Align::kLeft},
                   {"of", Align::kLeft},
                   {"median"},
                   {"unit", Align::kLeft},
                   {"quartiles"},
                   {"min", Align::kRight, Shown::kIfRoom},
                   {"max", Align::kRight, Shown::kIfRoom},
                   {"repetitions", Align::kRight, Shown::kWide}});
  for (const Measurement& one : document.measurements) {
    const Summary summary = Summarize(one.repetitions);
    table.AddRow({one.name,
                  {ParametersText(one.parameters), Tone::kDim},
                  {NumberText(summary.median), Tone::kStrong},
                  one.unit,
                  QuartilesText(summary),
                  NumberText(summary.min),
                  NumberText(summary.max),
                  CountText(summary.count)});
  }
  return table.Render(layout);
}

std::string BenchTable(const BenchCase& one, const TableLayout& layout) {
  TextTable table({{one.name, Align::kLeft},
                   {"role", Align::kLeft, Shown::kIfRoom},
                   {"median " + one.unit},
                   {"quartiles"},
                   {"to best rival"},
                   {"contended at 8", Align::kRight, Shown::kIfRoom},
                   {"lines touched", Align::kRight, Shown::kIfRoom},
                   {"to anchor", Align::kRight, Shown::kIfRoom},
                   {"anchor", Align::kRight, Shown::kIfRoom},
                   {"min", Align::kRight, Shown::kWide},
                   {"max", Align::kRight, Shown::kWide},
                   {"rounds", Align::kRight, Shown::kWide}});
  const std::vector<Row> rows = FastestFirst(one);
  const std::optional<double> best_rival = BestRival(rows);
  for (const Row& row : rows) {
    const Summary& summary = row.summary;
    const std::optional<double> anchor = row.contender->anchor;
    const bool beats_rivals = best_rival && summary.median < *best_rival;
    table.AddRow({row.contender->name,
                  {std::string(TextOf(row.contender->role)), Tone::kDim},
                  {NumberText(summary.median), Tone::kStrong},
                  QuartilesText(summary),
                  {best_rival ? fmt::format("{:.2f}x", summary.median / *best_rival) : "",
                   beats_rivals ? Tone::kGood : Tone::kPlain},
                  CounterText(*row.contender, kContendedCounter),
                  CounterText(*row.contender, kLinesCounter),
                  {anchor ? fmt::format("{:.2f}x", summary.median / *anchor) : "", Tone::kDim},
                  anchor ? NumberText(*anchor) : "",
                  NumberText(summary.min),
                  NumberText(summary.max),
                  CountText(summary.count)});
  }
  return table.Render(layout);
}

std::string BenchSummary(const BenchDocument& document, size_t faults, size_t width) {
  size_t contenders = 0;
  std::string titles = "  quartiles  to best rival\n";
  for (const BenchCase& one : document.cases) {
    for (const BenchContender& contender : one.contenders) {
      ++contenders;
      if (contender.anchor) titles += "  to anchor\n";
      if (!contender.counters.empty()) titles += "  contended at 8  lines touched\n";
    }
  }
  return WordsOf(titles, width) + fmt::format(
                                      "\n{} groups measured, {} contenders, {} wrong "
                                      "answers\n",
                                      document.cases.size(), contenders, faults);
}

}  // namespace schedq
