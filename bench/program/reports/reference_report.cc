#include "bench/program/reports/reference_report.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "perf/documents/reference_comparison.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

std::string RangeText(const CounterMiss& miss) {
  std::string text = CountText(miss.reference_min);
  if (miss.reference_max != miss.reference_min) text += " to " + CountText(miss.reference_max);
  return text;
}

std::string PercentText(uint64_t part, uint64_t all) {
  return all == 0 ? "none"
                  : fmt::format("{:.0f} %",
                                100.0 * static_cast<double>(part) / static_cast<double>(all));
}

// How many counters are so near and not nearer; nothing where there is none.
TextTable::Cell CountCell(const ClosenessCounts& counts, Closeness closeness) {
  const uint64_t count = counts.of(closeness);
  const bool is_bad = closeness == Closeness::kWorse && count > 0;
  return {count == 0 ? "" : CountText(count), is_bad ? Tone::kBad : Tone::kPlain};
}

void AddRow(const WorkloadResult& result, TextTable* table) {
  const ReferenceComparison& one = *result.reference;
  const ClosenessCounts all = SumOf(one.closeness);
  std::vector<TextTable::Cell> cells = {result.test_case + "/" + result.workload};
  for (size_t i = 0; i < kClosenessCount; ++i) {
    cells.push_back(CountCell(all, static_cast<Closeness>(i)));
  }
  const CounterMiss* worst = one.misses.empty() ? nullptr : &one.misses.front();
  cells.emplace_back(one.throughput ? NumberText(one.throughput->ratio(), 2) : "");
  cells.emplace_back(worst != nullptr ? worst->family + " " + worst->counter : "");
  cells.emplace_back(worst != nullptr ? CountText(worst->count) : "");
  cells.emplace_back(worst != nullptr ? RangeText(*worst) : "");
  cells.emplace_back(one.throughput ? NumberText(one.throughput->pods_per_second) : "");
  cells.emplace_back(one.throughput ? NumberText(one.throughput->reference) : "");
  cells.emplace_back(CountText(one.runs));
  table->AddRow(std::move(cells));
}

std::string FamilyLine(const std::string& name, const ClosenessCounts& counts) {
  const auto share = [&counts](Closeness closeness) {
    return PercentText(counts.AtLeast(closeness), counts.all());
  };
  return fmt::format(
      "{}: {} counters, {} equal, {} within 1 %, {} within 10 %, {} within a "
      "factor of two\n",
      name, CountText(counts.all()), share(Closeness::kEqual), share(Closeness::kWithin1Percent),
      share(Closeness::kWithin10Percent), share(Closeness::kWithinFactor2));
}

std::string SummaryText(const ReferenceSummary& summary) {
  std::string text = FamilyLine("all", SumOf(summary.closeness));
  for (const auto& [family, counts] : summary.closeness) text += FamilyLine(family, counts);
  text += fmt::format(
      "{} workloads compared: attempts equal in {}, requeues and hints all within 10 % in {}\n",
      summary.workloads, summary.attempts_equal, summary.requeues_and_hints_within_10_percent);
  text += fmt::format("throughput: {} workloads with times", summary.throughputs);
  if (summary.rank_correlation) {
    text += fmt::format(", rank correlation {:.2f}", *summary.rank_correlation);
  }
  return text + '\n';
}

std::string NotCompared(const RunDocument& document, size_t width) {
  std::string text;
  size_t without = 0;
  for (const WorkloadResult& result : document.workloads) {
    if (!result.reference) ++without;
    if (!result.reference || !result.reference->not_compared) continue;
    text += Wrapped(fmt::format("not compared: {}/{}: {}", result.test_case, result.workload,
                                *result.reference->not_compared),
                    width, 2) +
            '\n';
  }
  if (without > 0) text += fmt::format("without a reference: {} workloads\n", without);
  return text;
}

}  // namespace

std::string ReferenceTable(const RunDocument& document, const TableLayout& layout) {
  if (!document.reference) return "";
  TextTable table({{"against upstream", Align::kLeft},
                   {"equal"},
                   {"1 %"},
                   {"10 %"},
                   {"x2"},
                   {"worse"},
                   {"ratio"},
                   {"farthest counter", Align::kLeft, Shown::kIfRoom},
                   {"here", Align::kRight, Shown::kIfRoom},
                   {"upstream", Align::kRight, Shown::kIfRoom},
                   {"pods/s", Align::kRight, Shown::kWide},
                   {"upstream pods/s", Align::kRight, Shown::kWide},
                   {"runs", Align::kRight, Shown::kWide}});
  for (const WorkloadResult& result : document.workloads) {
    if (result.reference && !result.reference->not_compared) AddRow(result, &table);
  }
  const std::string rows = document.reference->workloads == 0 ? "" : table.Render(layout);
  return "\n" + rows + SummaryText(*document.reference) + NotCompared(document, layout.width_max);
}

}  // namespace schedq
