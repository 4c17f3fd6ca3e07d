#include "perf/compare/history_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "perf/statistics/comparison.h"
#include "perf/statistics/summary.h"
#include "perf/text/number_text.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

constexpr size_t kCourseColumns = 40;

// The course of a series in one line: eight heights, from its least to its largest value. Of a long
// series several values share a column, by their median.
std::string CourseOf(const std::vector<double>& values) {
  constexpr std::array<const char*, 8> kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const size_t columns = std::min(kCourseColumns, values.size());
  std::string course;
  for (size_t i = 0; i < columns; ++i) {
    const size_t begin = i * values.size() / columns;
    const size_t end = (i + 1) * values.size() / columns;
    const double value = Median(std::span(values).subspan(begin, end - begin));
    const double height = *most > *least ? (value - *least) / (*most - *least) : 0;
    course += kHeights[std::min<size_t>(static_cast<size_t>(height * 8), 7)];
  }
  return course;
}

void FindChanges(const HistoryRequest& request, SeriesHistory* series) {
  const std::vector<ChangePoint> points = FindChangePoints(series->values, request.points);
  for (size_t i = 0; i < points.size(); ++i) {
    const size_t begin = i == 0 ? 0 : points[i - 1].index;
    const size_t at = points[i].index;
    const size_t end = i + 1 < points.size() ? points[i + 1].index : series->values.size();
    const std::span<const double> values(series->values);
    HistoryChange change;
    change.index = at;
    change.last_before = series->commits[at - 1];
    change.first_behind = series->commits[at];
    change.before = Median(values.subspan(begin, at - begin));
    change.behind = Median(values.subspan(at, end - at));
    change.p = points[i].p;
    if (std::abs(change.Change()) >= request.change_min) series->changes.push_back(change);
  }
}

std::string ChangeLine(const SeriesHistory& series, const HistoryChange& change) {
  const bool grew = change.behind > change.before;
  std::string verdict;
  if (!series.unit.empty()) {
    const MeasureKind kind = MeasureKindOfUnit(series.unit);
    const bool is_better = grew == (kind == MeasureKind::kRate);
    verdict = ", " + std::string(VerdictWord(
                         is_better ? ChangeVerdict::kBetter : ChangeVerdict::kWorse, kind));
  }
  const std::string size =
      std::isfinite(change.Change()) ? ChangeText(change.Change()) : std::string("from 0");
  return fmt::format("{}: {}{} ({} to {}), p {}\n  in {}..{}\n", VisibleText(series.name), size,
                     verdict, NumberText(change.before), NumberText(change.behind),
                     NumberText(change.p), VisibleText(change.last_before),
                     VisibleText(change.first_behind));
}

}  // namespace

double HistoryChange::Change() const {
  if (before == behind) return 0;
  return before == 0 ? std::numeric_limits<double>::infinity() : behind / before - 1;
}

std::vector<SeriesHistory> SeriesOf(const std::vector<HistoryRun>& runs,
                                    const HistoryRequest& request) {
  std::map<std::string, SeriesHistory> by_name;
  for (const HistoryRun& run : runs) {
    for (const auto& [name, value] : run.series) {
      SeriesHistory& series = by_name[name];
      series.name = name;
      if (!value.unit.empty()) series.unit = value.unit;
      series.values.push_back(value.value);
      series.commits.push_back(run.commit);
    }
  }
  std::vector<SeriesHistory> all;
  for (auto& [name, series] : by_name) {
    if (series.values.size() > kSeriesMax) {
      series.left_out = series.values.size() - kSeriesMax;
      const auto count = static_cast<std::ptrdiff_t>(series.left_out);
      series.values.erase(series.values.begin(), series.values.begin() + count);
      series.commits.erase(series.commits.begin(), series.commits.begin() + count);
    }
    FindChanges(request, &series);
    all.push_back(std::move(series));
  }
  return all;
}

std::string HistoryText(const std::vector<SeriesHistory>& series, const TableLayout& layout) {
  TextTable table({{"series", Align::kLeft},
                   {"latest"},
                   {"runs"},
                   {"changes"},
                   {"unit", Align::kLeft, Shown::kIfRoom},
                   {"course", Align::kLeft, Shown::kIfRoom}});
  std::string changes;
  size_t count = 0;
  for (const SeriesHistory& one : series) {
    const Tone tone = one.changes.empty() ? Tone::kDim : Tone::kStrong;
    table.AddRow({one.name,
                  NumberText(one.values.back()),
                  CountText(one.values.size() + one.left_out),
                  {CountText(one.changes.size()), tone},
                  one.unit,
                  CourseOf(one.values)});
    for (const HistoryChange& change : one.changes) changes += ChangeLine(one, change);
    count += one.changes.size();
  }
  return fmt::format("{} series, {} changes\n\n", series.size(), count) + table.Render(layout) +
         (changes.empty() ? "" : "\n" + changes);
}

}  // namespace schedq
