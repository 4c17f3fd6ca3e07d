#include "bench/program/reports/bars_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "bench/interrupt.h"
#include "bench/lab/bars/bar.h"
#include "bench/lab/floor/floor.h"
#include "bench/lab/micro/benchmark_list.h"
#include "bench/lab/micro/suites.h"
#include "bench/lab/paths/measured_path.h"
#include "bench/lab/profile/time_sampler.h"
#include "bench/program/progress_line.h"
#include "bench/program/reports/words.h"
#include "perf/documents/bench_document.h"
#include "perf/documents/enum_text.h"
#include "perf/documents/profile_document.h"
#include "perf/statistics/measurement.h"
#include "perf/text/number_text.h"
#include "perf/text/pattern.h"

namespace schedq {
namespace {

Result<std::vector<Bar>> SelectBars(const BarsOptions& options) {
  const Result<Pattern> chosen = Pattern::Parse(options.pattern);
  if (!chosen) return chosen.error();
  std::vector<Bar> bars = AllBars(options.is_tiny);
  std::erase_if(bars, [&chosen](const Bar& bar) {
    return !chosen->IsFoundIn(bar.path + ", " + bar.at + ", " + bar.group);
  });
  if (bars.empty()) return Error(fmt::format("'{}': matches no bar", options.pattern));
  return bars;
}

std::vector<Measurement> MeasureFloor(bool is_tiny, ProgressLine* line) {
  const FloorSize size = is_tiny ? FloorSize::kQuick : FloorSize::kFull;
  line->Next("the machine's floor");
  std::vector<FloorProbe> probes = AllProbes(size);
  RunProbes(probes, size, [line](int round, int rounds) {
    line->Show(fmt::format("round {} of {}", round, rounds));
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

// "312 ns" is told in the unit that suits it, "28.0 bytes" in its own.
std::string ValueText(double value, const std::string& unit) {
  return unit == "ns" ? DurationText(value) : NumberText(value) + ' ' + unit;
}

Tone ToneOf(BarVerdict verdict) {
  if (verdict == BarVerdict::kShort) return Tone::kBad;
  const bool is_held = verdict == BarVerdict::kAim || verdict == BarVerdict::kMet;
  return is_held ? Tone::kGood : Tone::kDim;
}

std::string RowTable(const BarsDocument& document, const TableLayout& layout) {
  const auto more = [](const char* title, Align align = Align::kRight) {
    return TextTable::Column{title, align, Shown::kIfRoom};
  };
  TextTable table({{"path", Align::kLeft},
                   {"at", Align::kLeft},
                   {"measured"},
                   {"to bar"},
                   {"verdict", Align::kLeft},
                   more("to rival"),
                   more("to upstream"),
                   more("of floor"),
                   more("bar", Align::kLeft),
                   more("aim", Align::kLeft),
                   more("best rival", Align::kLeft),
                   more("its value"),
                   more("upstream"),
                   more("floor")});
  for (const BarRow& row : document.rows) {
    const auto value = [&row](const std::optional<double>& one) {
      return one ? ValueText(*one, row.unit) : "";
    };
    table.AddRow({row.path,
                  row.at,
                  {value(row.measured), Tone::kStrong},
                  row.to_bar ? fmt::format("{:.2f}", *row.to_bar) : "",
                  {std::string(TextOf(row.verdict)), ToneOf(row.verdict)},
                  Ratio(row.rival_measured, row.measured),
                  Ratio(row.upstream, row.measured),
                  Ratio(row.measured, row.floor),
                  row.bar,
                  {row.aim, Tone::kDim},
                  row.rival,
                  value(row.rival_measured),
                  value(row.upstream),
                  value(row.floor)});
  }
  return table.Render(layout);
}

}  // namespace

Result<BarsDocument> MeasureBars(const BarsOptions& options, std::vector<std::string>* faults) {
  const Result<std::vector<Bar>> bars = SelectBars(options);
  if (!bars.ok()) return bars.error();
  BarsDocument document;
  document.seed = options.run.seed;
  document.rounds = options.run.rounds;
  ProgressLine line(std::vector<double>(bars->size() + 1, 1));
  document.floor = MeasureFloor(options.is_tiny, &line);
  std::erase_if(document.floor, [](const Measurement& one) { return one.repetitions.empty(); });
  const BenchmarkList list =
      AllBenchmarks(options.is_tiny ? BenchmarkSize::kTiny : BenchmarkSize::kFull);
  BenchmarkDriver driver(options.run, nullptr);
  std::map<std::string, BenchCase> measured;
  for (const Bar& bar : *bars) {
    line.Next(bar.path + ", " + bar.at);
    const std::vector<BenchmarkCase> cases = CasesOf(list, bar.group);
    if (!cases.empty() && measured.count(bar.group) == 0) {
      measured[bar.group] = driver.RunGroup(cases, [&](const std::string&, uint64_t round) {
        line.Show(fmt::format("round {} of {}", round, options.run.rounds));
      });
    }
    const BenchCase* group = cases.empty() ? nullptr : &measured[bar.group];
    document.rows.push_back(JudgeBar(bar, group, document.floor));
    AddWhereTimeGoes(bar, &document.rows.back());
    if (options.keep) options.keep(document);
  }
  *faults = driver.faults();
  return document;
}

std::string BarsText(const BarsDocument& document, const TableLayout& layout) {
  const auto count = [&document](BarVerdict verdict) {
    return std::count_if(document.rows.begin(), document.rows.end(),
                         [verdict](const BarRow& row) { return row.verdict == verdict; });
  };
  const std::string summary = fmt::format(
      "{} bars: {} held, {} of them with the aim; {} fall short, {} not measured, {} not built",
      document.rows.size(), count(BarVerdict::kAim) + count(BarVerdict::kMet),
      count(BarVerdict::kAim), count(BarVerdict::kShort), count(BarVerdict::kNotMeasured),
      count(BarVerdict::kNotBuilt));
  std::string text = Wrapped(summary, layout.width_max, 2) + "\n\n";
  const std::string table = RowTable(document, layout);
  text += table + WordsOf(table, layout.width_max) + "\nThe floor's arithmetic:\n";
  std::set<std::string> told;
  const auto add = [&](const std::string& line) {
    text += Wrapped("  " + line, layout.width_max, 4) + '\n';
  };
  for (const BarRow& row : document.rows) {
    if (!row.floor || !told.insert(row.path + row.floor_arithmetic).second) continue;
    add(fmt::format("{}, {}: {} = {} {}", row.path, row.at, row.floor_arithmetic,
                    NumberText(*row.floor), row.unit));
  }
  text += "\nWhat falls short or is not measured, and why:\n";
  for (const BarRow& row : document.rows) {
    const bool is_held = row.verdict == BarVerdict::kAim || row.verdict == BarVerdict::kMet;
    if (is_held) continue;
    add(fmt::format("{}, {}: {}: {}", row.path, row.at, TextOf(row.verdict),
                    row.reason.empty() ? "no reason is known" : row.reason));
  }
  return text;
}

bool FallsShort(const BarsDocument& document) {
  return std::any_of(document.rows.begin(), document.rows.end(),
                     [](const BarRow& row) { return row.verdict == BarVerdict::kShort; });
}

}  // namespace schedq
