#include "bench/program/reports/profile_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/program/reports/words.h"
#include "engine/base/result.h"
#include "perf/statistics/fit.h"
#include "perf/statistics/measurement.h"
#include "perf/statistics/summary.h"
#include "perf/text/number_text.h"
#include "perf/text/plot.h"

namespace schedq {
namespace {

// In the order of their columns.
struct ColumnOf {
  const char* measurement;
  const char* title;
};
constexpr ColumnOf kColumns[] = {{"time", "time"},
                                 {"pods_judged", "pods judged"},
                                 {"bytes", "bytes"},
                                 {"allocations", "allocations"},
                                 {"instructions", "instructions"}};
constexpr size_t kFunctionWidthMax = 72;

// Elsewhere they are of a run, and of a pod.
constexpr Word kWordsOfProfiles[] = {
    {"time", "of one operation, on the machine's clock; the median of the rounds"},
    {"min to max", "of the rounds"},
    {"bytes", "that one operation allocates, freed since or not"},
    {"allocations", "calls of one operation that allocate"},
    {"instructions", "of one operation, as callgrind counts them"}};

const Measurement* Find(const ProfilePoint& point, const std::string& name) {
  for (const Measurement& one : point.measurements) {
    if (one.name == name && !one.repetitions.empty()) return &one;
  }
  return nullptr;
}

bool IsMeasured(const ProfileDocument& document, const char* name) {
  for (const ProfileSeries& series : document.series) {
    for (const ProfilePoint& point : series.points) {
      if (Find(point, name) != nullptr) return true;
    }
  }
  return false;
}

std::vector<ColumnOf> MeasuredColumns(const ProfileDocument& document) {
  std::vector<ColumnOf> columns;
  for (const ColumnOf& column : kColumns) {
    if (IsMeasured(document, column.measurement)) columns.push_back(column);
  }
  return columns;
}

std::string PlainText(double value) { return NumberText(value); }

std::string CostTable(const ProfileDocument& document, const ProfileKind& kind,
                      const TableLayout& layout) {
  const std::vector<ColumnOf> measured = MeasuredColumns(document);
  std::vector<TextTable::Column> columns = {
      {"per " + document.series.front().operation, Align::kLeft}, {"N " + kind.size_of}};
  for (const ColumnOf& column : measured) {
    columns.push_back({column.title});
    if (column.measurement != std::string("time")) continue;
    columns.push_back({"min to max", Align::kRight, Shown::kIfRoom});
  }
  TextTable table(columns);
  for (const ProfileSeries& series : document.series) {
    for (const ProfilePoint& point : series.points) {
      std::vector<TextTable::Cell> cells = {series.name, CountText(point.size)};
      for (const ColumnOf& column : measured) {
        const Measurement* one = Find(point, column.measurement);
        const Summary summary = one == nullptr ? Summary() : Summarize(one->repetitions);
        const bool is_time = column.measurement == std::string("time");
        const auto text = is_time ? DurationText : PlainText;
        cells.emplace_back(one == nullptr ? "" : text(summary.median), Tone::kStrong);
        if (!is_time) continue;
        cells.emplace_back(text(summary.min) + " to " + text(summary.max), Tone::kDim);
      }
      table.AddRow(std::move(cells));
    }
    table.AddRule();
  }
  return table.Render(layout);
}

std::string FitTable(const ProfileDocument& document, const TableLayout& layout) {
  TextTable table({{"cost = factor x N^exponent", Align::kLeft},
                   {"of", Align::kLeft},
                   {"exponent"},
                   {"interval"},
                   {"R2", Align::kRight, Shown::kIfRoom},
                   {"at", Align::kRight, Shown::kWide},
                   {"from N", Align::kRight, Shown::kWide},
                   {"to N", Align::kRight, Shown::kWide}});
  for (const ProfileSeries& series : document.series) {
    for (const ProfileFit& fit : series.fits) {
      table.AddRow({series.name,
                    fit.measurement,
                    {fmt::format("{:.3f}", fit.exponent), Tone::kStrong},
                    fmt::format("[{:.3f}, {:.3f}]", fit.exponent_low, fit.exponent_high),
                    fmt::format("{:.4f}", fit.r_squared),
                    fmt::format("{:g} %", fit.confidence * 100),
                    CountText(fit.size_min),
                    CountText(fit.size_max)});
    }
  }
  return table.Render(layout);
}

// What the table of fits cannot say: where a series ended, and which have no fit.
std::string SeriesNotes(const ProfileDocument& document, size_t width) {
  std::string text;
  for (const ProfileSeries& series : document.series) {
    if (!series.stopped.empty()) {
      text += Wrapped(series.name + ": " + series.stopped, width, 2) + '\n';
    }
    if (series.fits.empty()) {
      text += fmt::format("{}: no exponent: fewer than three sizes\n", series.name);
    }
  }
  return text;
}

std::optional<LineFit> TimeFit(const ProfileSeries& series) {
  std::vector<double> sizes;
  std::vector<double> costs;
  for (const ProfilePoint& point : series.points) {
    const Measurement* one = Find(point, "time");
    if (one == nullptr) continue;
    for (const double cost : one->repetitions) {
      sizes.push_back(static_cast<double>(point.size));
      costs.push_back(cost);
    }
  }
  const Result<LineFit> fit = FitLogLog(sizes, costs);
  return fit.ok() ? std::optional<LineFit>(*fit) : std::nullopt;
}

std::string TimePlot(const ProfileDocument& document, const ProfileKind& kind) {
  constexpr std::string_view kMarks = "abcdefghijklmnopqrstuvwxyz";
  std::vector<PlotSeries> plotted;
  for (const ProfileSeries& series : document.series) {
    PlotSeries one;
    one.mark = kMarks[plotted.size() % kMarks.size()];
    one.name = series.name;
    for (const ProfilePoint& point : series.points) {
      const Measurement* time = Find(point, "time");
      if (time == nullptr) continue;
      one.x.push_back(static_cast<double>(point.size));
      one.y.push_back(Median(time->repetitions));
    }
    one.fit = TimeFit(series);
    plotted.push_back(std::move(one));
  }
  PlotOptions options;
  options.x_label = kind.size_of;
  options.y_label = "ns per " + document.series.front().operation;
  return LogLogPlot(plotted, options);
}

std::string HotSpotTable(const ProfileSeries& series, const HotSpots& spots,
                         const TableLayout& layout) {
  const bool is_timed = spots.method == "timer";
  TextTable table(
      {{fmt::format("{} at {}: {} {}", series.name, CountText(spots.size), CountText(spots.samples),
                    is_timed ? "samples of time" : "instructions"),
        Align::kLeft},
       {"self"},
       {"with callees"}});
  for (const HotSpot& spot : spots.functions) {
    if (spot.self_share < 0.005) continue;
    table.AddRow({spot.function.substr(0, kFunctionWidthMax),
                  {fmt::format("{:.1f} %", spot.self_share * 100), Tone::kStrong},
                  fmt::format("{:.1f} %", spot.inclusive_share * 100)});
  }
  return table.Render(layout);
}

}  // namespace

std::string ProfileText(const ProfileDocument& document, const ProfileKind& kind,
                        const TableLayout& layout) {
  std::string text = CostTable(document, kind, layout);
  if (!IsMeasured(document, "bytes")) {
    text += "bytes and allocations: not measured, for the program does not run on jemalloc\n";
  }
  text += "\n" + FitTable(document, layout) + SeriesNotes(document, layout.width_max) + "\n";
  text += TimePlot(document, kind);
  for (const ProfileSeries& series : document.series) {
    for (const HotSpots& spots : series.hot_spots) {
      text += "\n" + HotSpotTable(series, spots, layout);
    }
  }
  return text + WordsOf(text, layout.width_max, kWordsOfProfiles);
}

}  // namespace schedq
