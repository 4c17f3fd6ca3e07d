#include "bench/program/reports/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "perf/statistics/summary.h"
#include "perf/text/number_text.h"
#include "perf/text/table.h"

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
  return fmt::format("{}, {} cores, {}, {}; schedq {} ({}, {}, {}, {})\n", machine.cpu_model,
                     machine.cores, BytesText(static_cast<double>(machine.memory_bytes)),
                     machine.kernel, build.version, build.commit, build.compiler, build.type,
                     build.allocator);
}

std::string FloorTable(const FloorDocument& document, bool colour) {
  TextTable table({{"quantity", Align::kLeft},
                   {"of", Align::kLeft},
                   {"median"},
                   {"unit", Align::kLeft},
                   {"quartiles"},
                   {"min"},
                   {"max"},
                   {"repetitions"}});
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
  return table.Render(colour);
}

std::string BenchTable(const BenchCase& one, bool colour) {
  TextTable table({{one.name, Align::kLeft},
                   {"role", Align::kLeft},
                   {"median " + one.unit},
                   {"quartiles"},
                   {"min"},
                   {"max"},
                   {"rounds"},
                   {"to best rival"},
                   {"anchor"},
                   {"to anchor"}});
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
                  NumberText(summary.min),
                  NumberText(summary.max),
                  CountText(summary.count),
                  {best_rival ? fmt::format("{:.2f}x", summary.median / *best_rival) : "",
                   beats_rivals ? Tone::kGood : Tone::kPlain},
                  anchor ? NumberText(*anchor) : "",
                  {anchor ? fmt::format("{:.2f}x", summary.median / *anchor) : "", Tone::kDim}});
  }
  return table.Render(colour);
}

}  // namespace schedq
