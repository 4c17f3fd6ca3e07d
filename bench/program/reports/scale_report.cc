#include "bench/program/reports/scale_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/program/reports/words.h"
#include "perf/statistics/measurement.h"
#include "perf/statistics/summary.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

constexpr const char* kFormula =
    "one thread: updates x uncontended atomic + lines x cache miss\n"
    "N threads:  the larger of (measured at one thread + transfers x line transfer) / N and\n"
    "            hottest x line transfer, to which a lock adds what was measured at one thread\n";

constexpr Word kWordsOfScale[] = {
    {"transfers", "cache lines that came from another core, an operation"},
    {"contended", "atomic updates of a line that another operation at that time has written too"},
    {"retries", "exchanges that failed because another thread's succeeded, an operation"},
    {"updates", "exchanges, additions and sequentially consistent stores, an operation"},
    {"lines", "different cache lines that an operation touches"},
    {"hottest", "transfers of the line that moved most often, an operation"},
    {"predicted", "wall time an operation, all threads together, by the formula above"},
    {"M/s", "millions of operations a second, all threads together, as predicted"},
    {"real threads", "the same measured on real threads, in this run"},
    {"error", "of the prediction against real threads"},
};

const ScaleTime* TimeOf(const ScaleDocument& document, const ScaleCurve& curve, uint64_t threads) {
  for (const ScaleTimes& times : document.times) {
    if (times.path != curve.path || times.contestant != curve.contestant) continue;
    for (const ScaleTime& time : times.points) {
      if (time.threads == threads) return &time;
    }
  }
  return nullptr;
}

std::string NanosecondsText(double ns) { return fmt::format("{} ns", NumberText(ns)); }

std::string MillionsText(const ScaleTime& time) {
  return time.predicted_ns > 0 ? fmt::format("{:.1f}", 1e3 / time.predicted_ns) : "";
}

void AddRows(const ScaleDocument& document, const ScaleCurve& curve, TextTable* table) {
  for (const ScalePoint& point : curve.points) {
    const ScaleTime* const time = TimeOf(document, curve, point.threads);
    const bool is_measured = time != nullptr && time->measured_ns.has_value();
    table->AddRow({curve.contestant,
                   fmt::format("{}", point.threads),
                   {fmt::format("{:.2f}", point.transfers), Tone::kStrong},
                   {fmt::format("{:.2f}", point.contended_updates), Tone::kStrong},
                   fmt::format("{:.2f}", point.retries),
                   fmt::format("{:.1f}", point.updates),
                   fmt::format("{:.1f}", point.lines),
                   fmt::format("{:.2f}", point.hottest_transfers),
                   fmt::format("{:.2f}", point.invalidations),
                   time != nullptr ? NanosecondsText(time->predicted_ns) : "",
                   time != nullptr ? MillionsText(*time) : "",
                   is_measured ? NanosecondsText(*time->measured_ns) : "",
                   is_measured ? fmt::format("{:+.0f} %", *time->error * 100) : ""});
  }
}

// The curves from `first` on that have its path.
size_t PathEnd(const ScaleDocument& document, size_t first) {
  size_t end = first;
  while (end < document.curves.size() && document.curves[end].path == document.curves[first].path) {
    ++end;
  }
  return end;
}

std::string PathText(const ScaleDocument& document, size_t first, size_t end,
                     const TableLayout& layout) {
  const ScaleCurve& curve = document.curves[first];
  TextTable table({{curve.path, Align::kLeft},
                   {"threads"},
                   {"transfers"},
                   {"contended"},
                   {"retries"},
                   {"updates", Align::kRight, Shown::kWide},
                   {"lines", Align::kRight, Shown::kIfRoom},
                   {"hottest", Align::kRight, Shown::kWide},
                   {"invalidations", Align::kRight, Shown::kWide},
                   {"predicted"},
                   {"M/s", Align::kRight, Shown::kIfRoom},
                   {"real threads"},
                   {"error"}});
  for (size_t i = first; i < end; ++i) {
    if (i > first) table.AddRule();
    AddRows(document, document.curves[i], &table);
  }
  return fmt::format("{}\n{}\n", curve.operation, table.Render(layout));
}

std::string FloorText(const ScaleDocument& document) {
  std::string text;
  for (const Measurement& one : document.floor) {
    text += fmt::format("{}: {} {}\n", one.name, NumberText(Summarize(one.repetitions).median),
                        one.unit);
  }
  return text;
}

}  // namespace

std::string ScaleText(const ScaleDocument& document, const TableLayout& layout) {
  std::string text;
  for (size_t first = 0; first < document.curves.size();) {
    const size_t end = PathEnd(document, first);
    text += PathText(document, first, end, layout);
    first = end;
  }
  const std::string words = WordsOf(text, layout.width_max, kWordsOfScale);
  if (!document.times.empty()) text += kFormula + FloorText(document);
  return text + words;
}

}  // namespace schedq
