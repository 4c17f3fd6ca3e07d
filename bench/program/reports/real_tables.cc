#include "bench/program/reports/real_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "perf/documents/real_figures.h"
#include "perf/documents/run_document.h"
#include "perf/statistics/latency.h"
#include "perf/statistics/summary.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

// The parts that are the queue's: its operations, and telling it of events.
constexpr const char* kQueuesParts[] = {"queue", "events"};
struct NamedLatency {
  const char* name;
  const char* title;
};
constexpr NamedLatency kLatencies[] = {{"pod_added", "add"},
                                       {"pod_popped", "create to popped"},
                                       {"pod_scheduled", "create to bound"},
                                       {"event_requeued", "event to requeued"}};
// In the order of a pod's way.
constexpr const char* kPartsInOrder[] = {"queue",      "events",  "placing", "cache",
                                         "dispatcher", "binding", "server",  "others"};

std::string NameOf(const WorkloadResult& result) {
  return result.test_case + "/" + result.workload;
}

const LatencySummary* LatencyOf(const Repetition& repetition, const std::string& name) {
  const auto found = repetition.latencies.find(name);
  return found == repetition.latencies.end() ? nullptr : &found->second;
}

// The figure of each repetition that has it.
template <typename Figure>
std::vector<double> FiguresOf(const WorkloadResult& result, Figure figure) {
  std::vector<double> figures;
  for (const Repetition& repetition : result.repetitions) {
    if (const std::optional<double> value = figure(repetition)) figures.push_back(*value);
  }
  return figures;
}

std::vector<double> Throughputs(const WorkloadResult& result) {
  return FiguresOf(result, [](const Repetition& repetition) -> std::optional<double> {
    if (repetition.seconds <= 0) return std::nullopt;
    return PodsBoundIn(repetition) / repetition.seconds;
  });
}

std::string LatencyCell(const WorkloadResult& result, const std::string& name,
                        uint64_t LatencySummary::*percentile) {
  const std::vector<double> figures =
      FiguresOf(result, [&](const Repetition& repetition) -> std::optional<double> {
        const LatencySummary* const latency = LatencyOf(repetition, name);
        if (latency == nullptr) return std::nullopt;
        return static_cast<double>(latency->*percentile);
      });
  return figures.empty() ? "" : DurationText(Median(figures));
}

// Half the distance from the smallest to the largest, of the median.
std::string SpreadText(const std::vector<double>& figures) {
  if (figures.size() < 2) return "";
  const std::vector<double> sorted = Sorted(figures);
  const double median = Median(figures);
  if (median <= 0) return "";
  constexpr double kPercent = 100;
  return fmt::format("+-{:.0f} %", kPercent * (sorted.back() - sorted.front()) / 2 / median);
}

// Of the processor time of all threads, a pod.
std::optional<double> PartCost(const Repetition& repetition, const std::string& part) {
  const double pods = PodsBoundIn(repetition);
  if (!repetition.real || pods == 0) return std::nullopt;
  double seconds = 0;
  for (const auto& [name, spent] : repetition.real->cpu_by_part) {
    if (part.empty() || part == name) seconds += spent;
  }
  constexpr double kNanosecondsPerSecond = 1e9;
  return seconds * kNanosecondsPerSecond / pods;
}

std::string CostCell(const WorkloadResult& result, const std::string& part) {
  const std::vector<double> costs =
      FiguresOf(result, [&](const Repetition& repetition) { return PartCost(repetition, part); });
  return costs.empty() ? "" : DurationText(Median(costs));
}

std::string QueuesShareCell(const WorkloadResult& result) {
  const std::vector<double> shares =
      FiguresOf(result, [](const Repetition& repetition) -> std::optional<double> {
        const double all = PartCost(repetition, "").value_or(0);
        if (all <= 0) return std::nullopt;
        double of_queue = 0;
        for (const char* part : kQueuesParts) of_queue += PartCost(repetition, part).value_or(0);
        return of_queue / all;
      });
  constexpr double kPercent = 100;
  return shares.empty() ? "" : fmt::format("{:.0f} %", kPercent * Median(shares));
}

// A pod's share of a figure of the whole section.
std::string PerPodCell(const WorkloadResult& result, std::optional<double> RealFigures::*figure) {
  const std::vector<double> figures =
      FiguresOf(result, [&](const Repetition& repetition) -> std::optional<double> {
        const double pods = PodsBoundIn(repetition);
        if (!repetition.real || !((*repetition.real).*figure) || pods == 0) return std::nullopt;
        return *((*repetition.real).*figure) / pods;
      });
  return figures.empty() ? "" : NumberText(Median(figures));
}

std::string InstructionsCell(const WorkloadResult& result) {
  for (const Repetition& repetition : result.repetitions) {
    if (!repetition.real || !repetition.real->instructions_per_pod) continue;
    return CountText(static_cast<uint64_t>(*repetition.real->instructions_per_pod));
  }
  return "";
}

bool HasInstructions(const RunReport& report) {
  const auto& results = report.document.workloads;
  return std::any_of(results.begin(), results.end(), [](const WorkloadResult& result) {
    return !InstructionsCell(result).empty();
  });
}

std::string ConflictsCell(const WorkloadResult& result) {
  const std::vector<double> conflicts =
      FiguresOf(result, [](const Repetition& repetition) -> std::optional<double> {
        if (!repetition.real) return std::nullopt;
        return static_cast<double>(repetition.real->conflicts);
      });
  return conflicts.empty() ? "" : CountText(static_cast<uint64_t>(Median(conflicts)));
}

TextTable::Cell OutcomeCell(const WorkloadResult& result) {
  const std::string outcome(TextOf(result.outcome));
  if (result.outcome == WorkloadOutcome::kFailed) return {outcome, Tone::kBad};
  return {outcome, result.outcome == WorkloadOutcome::kMeasured ? Tone::kGood : Tone::kDim};
}

// The row of one engine; `base` is the last engine of the run, to which the others are compared.
void AddRow(const std::string& engine, const WorkloadResult& result, const WorkloadResult* base,
            TextTable* table) {
  const std::vector<double> throughputs = Throughputs(result);
  const std::vector<double> rival = base == nullptr ? std::vector<double>() : Throughputs(*base);
  const bool has_ratio = !throughputs.empty() && !rival.empty() && Median(rival) > 0;
  table->AddRow({NameOf(result),
                 engine,
                 OutcomeCell(result),
                 {throughputs.empty() ? "" : NumberText(Median(throughputs)), Tone::kStrong},
                 SpreadText(throughputs),
                 has_ratio ? fmt::format("{:.2f}", Median(throughputs) / Median(rival)) : "",
                 LatencyCell(result, "pod_popped", &LatencySummary::p99_ns),
                 LatencyCell(result, "pod_scheduled", &LatencySummary::p50_ns),
                 LatencyCell(result, "pod_scheduled", &LatencySummary::p99_ns),
                 LatencyCell(result, "pod_scheduled", &LatencySummary::p99_99_ns),
                 ConflictsCell(result)});
}

std::string RatesTable(const std::vector<RunReport>& reports, const TableLayout& layout) {
  TextTable table({{"workload", Align::kLeft},
                   {"engine", Align::kLeft},
                   {"result", Align::kLeft, Shown::kIfRoom},
                   {"pods/s"},
                   {"spread"},
                   {"to classic"},
                   {"p99 to pop"},
                   {"p50 to bound", Align::kRight, Shown::kWide},
                   {"p99 to bound"},
                   {"p99.99 to bound", Align::kRight, Shown::kWide},
                   {"conflicts", Align::kRight, Shown::kIfRoom}});
  const size_t count = reports.front().document.workloads.size();
  for (size_t i = 0; i < count; ++i) {
    for (const RunReport& report : reports) {
      const bool has_base = reports.size() > 1 && &report != &reports.back();
      AddRow(report.document.engine, report.document.workloads[i],
             has_base ? &reports.back().document.workloads[i] : nullptr, &table);
    }
  }
  return table.Render(layout);
}

std::string PartsTable(const std::vector<RunReport>& reports, const TableLayout& layout) {
  std::vector<TextTable::Column> columns = {
      {"workload", Align::kLeft}, {"engine", Align::kLeft}, {"all parts"}, {"queue's share"}};
  for (const char* part : kPartsInOrder) columns.push_back({part, Align::kRight, Shown::kIfRoom});
  columns.push_back({"allocations", Align::kRight, Shown::kIfRoom});
  columns.push_back({"bytes", Align::kRight, Shown::kIfRoom});
  const bool has_instructions = std::any_of(reports.begin(), reports.end(), HasInstructions);
  if (has_instructions) columns.push_back({"instructions"});
  TextTable table(columns);
  const size_t count = reports.front().document.workloads.size();
  for (size_t i = 0; i < count; ++i) {
    for (const RunReport& report : reports) {
      const WorkloadResult& result = report.document.workloads[i];
      if (result.repetitions.empty()) continue;
      std::vector<TextTable::Cell> row = {NameOf(result),
                                          report.document.engine,
                                          {CostCell(result, ""), Tone::kStrong},
                                          QueuesShareCell(result)};
      for (const char* part : kPartsInOrder) row.emplace_back(CostCell(result, part));
      row.emplace_back(PerPodCell(result, &RealFigures::allocations));
      row.emplace_back(PerPodCell(result, &RealFigures::allocated_bytes));
      if (has_instructions) row.emplace_back(InstructionsCell(result));
      table.AddRow(std::move(row));
    }
  }
  return table.Render(layout);
}

// The largest of all repetitions.
std::string MaximumCell(const WorkloadResult& result, const std::string& name) {
  uint64_t maximum = 0;
  for (const Repetition& repetition : result.repetitions) {
    const LatencySummary* const latency = LatencyOf(repetition, name);
    if (latency != nullptr) maximum = std::max(maximum, latency->max_ns);
  }
  return DurationText(static_cast<double>(maximum));
}

std::string LatenciesTable(const std::vector<RunReport>& reports, const TableLayout& layout) {
  TextTable table({{"workload", Align::kLeft},
                   {"latency", Align::kLeft},
                   {"engine", Align::kLeft},
                   {"p50"},
                   {"p90"},
                   {"p99"},
                   {"p99.9"},
                   {"p99.99"},
                   {"max"}});
  const size_t count = reports.front().document.workloads.size();
  for (size_t i = 0; i < count; ++i) {
    for (const NamedLatency& latency : kLatencies) {
      for (const RunReport& report : reports) {
        const WorkloadResult& result = report.document.workloads[i];
        std::vector<TextTable::Cell> row = {NameOf(result), latency.title, report.document.engine};
        for (const auto percentile :
             {&LatencySummary::p50_ns, &LatencySummary::p90_ns, &LatencySummary::p99_ns,
              &LatencySummary::p99_9_ns, &LatencySummary::p99_99_ns}) {
          row.emplace_back(LatencyCell(result, latency.name, percentile));
        }
        if (row.back().text.empty()) continue;
        row.emplace_back(MaximumCell(result, latency.name));
        table.AddRow(std::move(row));
      }
    }
  }
  return table.Render(layout);
}

std::string MemoryTable(const std::vector<RunReport>& reports, const TableLayout& layout) {
  TextTable table({{"workload", Align::kLeft},
                   {"engine", Align::kLeft},
                   {"after a tenth"},
                   {"at the end"},
                   {"growth"}});
  bool is_empty = true;
  for (const RunReport& report : reports) {
    for (const WorkloadResult& result : report.document.workloads) {
      for (const Repetition& repetition : result.repetitions) {
        if (!repetition.real || !repetition.real->memory) continue;
        const auto tenth = static_cast<double>(repetition.real->memory->bytes_at_tenth);
        const auto end = static_cast<double>(repetition.real->memory->bytes_at_end);
        constexpr double kPercent = 100;
        table.AddRow({NameOf(result), report.document.engine, BytesText(tenth), BytesText(end),
                      fmt::format("{:+.1f} %", kPercent * (end - tenth) / std::max(1.0, tenth))});
        is_empty = false;
      }
    }
  }
  return is_empty ? "" : "\nResident memory while it went on:\n" + table.Render(layout);
}

}  // namespace

std::string RealTables(const std::vector<RunReport>& reports, const TableLayout& layout) {
  if (reports.front().document.workloads.empty()) return "";
  return RatesTable(reports, layout) +
         "\nLatencies: medians of the rounds, and the largest of all rounds:\n" +
         LatenciesTable(reports, layout) + "\nProcessor time a pod, of all threads, by part:\n" +
         PartsTable(reports, layout) + MemoryTable(reports, layout);
}

}  // namespace schedq
