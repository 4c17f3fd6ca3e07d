#include "bench/program/reports/bars_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "bench/interrupt.h"
#include "bench/lab/floor/floor.h"
#include "bench/lab/micro/suites.h"
#include "bench/lab/profile/time_sampler.h"
#include "perf/text/number_text.h"
#include "perf/text/table.h"

namespace schedq {
namespace {

using Progress = std::function<void(const std::string&)>;

Result<std::vector<Bar>> SelectBars(const BarsOptions& options) {
  std::regex regex;
  try {
    regex.assign(options.pattern, std::regex::extended);
  } catch (const std::regex_error&) {
    return Error(fmt::format("'{}': expected an extended regular expression", options.pattern));
  }
  std::vector<Bar> bars = AllBars(options.is_tiny);
  std::erase_if(bars, [&regex](const Bar& bar) {
    return !std::regex_search(bar.path + ", " + bar.at + ", " + bar.group, regex);
  });
  if (bars.empty()) return Error(fmt::format("'{}': matches no bar", options.pattern));
  return bars;
}

std::vector<Measurement> MeasureFloor(bool is_tiny, const Progress& progress) {
  const FloorSize size = is_tiny ? FloorSize::kQuick : FloorSize::kFull;
  progress("floor: preparing working sets");
  std::vector<FloorProbe> probes = AllProbes(size);
  RunProbes(probes, size, [&progress](int round, int rounds) {
    progress(fmt::format("floor: round {} of {}", round, rounds));
  });
  std::vector<Measurement> measured;
  for (FloorProbe& probe : probes) measured.push_back(std::move(probe.measurement));
  return measured;
}

std::vector<BenchmarkCase> CasesOf(const BenchmarkList& list, const std::string& group) {
  std::vector<BenchmarkCase> cases;
  for (const BenchmarkCase& one : list.cases()) {
    if (one.group == group) cases.push_back(one);
  }
  return cases;
}

// "most time in A (40 %), B (20 %), C (9 %)"
std::string WhereTimeGoes(const Bar& bar) {
  const MeasuredPathRef path = bar.sampled();
  TimeSampler sampler;
  path->Run();
  const HotSpots spots = sampler.Finish();
  std::string text;
  for (const HotSpot& spot : spots.functions) {
    constexpr double kShareMin = 0.05;
    if (spot.self_share < kShareMin) break;
    text += fmt::format("{}{} ({:.0f} %)", text.empty() ? "most time in " : ", ", spot.function,
                        spot.self_share * 100);
  }
  return text;
}

void AddWhereTimeGoes(const Bar& bar, BarRow* row) {
  if (row->verdict != BarVerdict::kShort || !bar.sampled || Interrupted()) return;
  const std::string text = WhereTimeGoes(bar);
  if (text.empty()) return;
  row->reason += (row->reason.empty() ? "" : "; ") + text;
}

std::string Ratio(const std::optional<double>& other, const std::optional<double>& measured) {
  if (!other || !measured || *measured == 0) return "";
  return fmt::format("{:.2f}x", *other / *measured);
}

std::string Value(const std::optional<double>& value) { return value ? NumberText(*value) : ""; }

Tone ToneOf(BarVerdict verdict) {
  if (verdict == BarVerdict::kShort) return Tone::kBad;
  const bool is_held = verdict == BarVerdict::kAim || verdict == BarVerdict::kMet;
  return is_held ? Tone::kGood : Tone::kDim;
}

std::string RowTable(const BarsDocument& document, bool colour) {
  TextTable table({{"path", Align::kLeft},
                   {"at", Align::kLeft},
                   {"bar", Align::kLeft},
                   {"aim", Align::kLeft},
                   {"measured"},
                   {"unit", Align::kLeft},
                   {"to bar"},
                   {"best rival", Align::kLeft},
                   {"its value"},
                   {"to rival"},
                   {"upstream"},
                   {"to upstream"},
                   {"floor"},
                   {"of floor"},
                   {"verdict", Align::kLeft}});
  for (const BarRow& row : document.rows) {
    table.AddRow({row.path,
                  row.at,
                  row.bar,
                  {row.aim, Tone::kDim},
                  {Value(row.measured), Tone::kStrong},
                  row.unit,
                  row.to_bar ? fmt::format("{:.2f}", *row.to_bar) : "",
                  row.rival,
                  Value(row.rival_measured),
                  Ratio(row.rival_measured, row.measured),
                  Value(row.upstream),
                  Ratio(row.upstream, row.measured),
                  Value(row.floor),
                  Ratio(row.measured, row.floor),
                  {std::string(TextOf(row.verdict)), ToneOf(row.verdict)}});
  }
  return table.Render(colour);
}

}  // namespace

Result<BarsDocument> MeasureBars(const BarsOptions& options, const Progress& progress,
                                 std::vector<std::string>* faults) {
  const Result<std::vector<Bar>> bars = SelectBars(options);
  if (!bars.ok()) return bars.error();
  BarsDocument document;
  document.seed = options.run.seed;
  document.rounds = options.run.rounds;
  document.floor = MeasureFloor(options.is_tiny, progress);
  const BenchmarkList list =
      AllBenchmarks(options.is_tiny ? BenchmarkSize::kTiny : BenchmarkSize::kFull);
  BenchmarkDriver driver(options.run, nullptr);
  std::map<std::string, BenchCase> measured;
  for (const Bar& bar : *bars) {
    const std::vector<BenchmarkCase> cases = CasesOf(list, bar.group);
    if (!cases.empty() && measured.count(bar.group) == 0) {
      measured[bar.group] = driver.RunGroup(cases, [&](const std::string& name, uint64_t round) {
        progress(fmt::format("{}: round {} of {}", name, round, options.run.rounds));
      });
    }
    const BenchCase* group = cases.empty() ? nullptr : &measured[bar.group];
    document.rows.push_back(JudgeBar(bar, group, document.floor));
    AddWhereTimeGoes(bar, &document.rows.back());
  }
  *faults = driver.faults();
  std::erase_if(document.floor, [](const Measurement& one) { return one.repetitions.empty(); });
  return document;
}

std::string BarsText(const BarsDocument& document, bool colour) {
  std::string text = RowTable(document, colour);
  text += "\nto bar: reached over asked, 1 and more holds the bar\n\nThe floor's arithmetic:\n";
  std::set<std::string> told;
  for (const BarRow& row : document.rows) {
    if (!row.floor || !told.insert(row.path + row.floor_arithmetic).second) continue;
    text += fmt::format("  {}, {}: {} = {} {}\n", row.path, row.at, row.floor_arithmetic,
                        NumberText(*row.floor), row.unit);
  }
  text += "\nWhat falls short or is not measured, and why:\n";
  for (const BarRow& row : document.rows) {
    const bool is_held = row.verdict == BarVerdict::kAim || row.verdict == BarVerdict::kMet;
    if (is_held) continue;
    text += fmt::format("  {}, {}: {}: {}\n", row.path, row.at, TextOf(row.verdict),
                        row.reason.empty() ? "no reason is known" : row.reason);
  }
  return text;
}

bool FallsShort(const BarsDocument& document) {
  return std::any_of(document.rows.begin(), document.rows.end(),
                     [](const BarRow& row) { return row.verdict == BarVerdict::kShort; });
}

}  // namespace schedq
