#include "bench/program/commands/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/program/output_file.h"
#include "bench/sim/measure/step_times.h"
#include "bench/sim/scheduler/cost_model.h"
#include "perf/documents/run_document.h"
#include "perf/files/file_io.h"

namespace schedq {
namespace {

// A folder inside, so that what reads `out` does not read it.
std::string FolderFor(const std::string& out, const std::vector<RunReport>& reports,
                      bool is_partial) {
  std::error_code ignored;
  for (const RunReport& report : reports) {
    const std::string of_engine = out + "/" + report.document.engine + "/results.json";
    if (!is_partial) break;
    if (std::filesystem::exists(out + "/results.json", ignored) ||
        std::filesystem::exists(of_engine, ignored)) {
      return out + "/partial";
    }
  }
  return out;
}

bool IsWhole(const std::vector<WorkloadResult>& workloads) {
  for (const WorkloadResult& result : workloads) {
    if (result.outcome != WorkloadOutcome::kMeasured) return false;
  }
  return true;
}

// The steps of the repetition whose section was of median length: a slow one would bend means.
StepTimes StepsOfMedian(const RunReport& report) {
  const std::vector<Repetition>& repetitions = report.document.workloads.front().repetitions;
  std::vector<size_t> order(std::min(repetitions.size(), report.steps.size()));
  if (order.empty()) return {};
  std::iota(order.begin(), order.end(), size_t{0});
  const auto median = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
  std::nth_element(order.begin(), median, order.end(), [&](size_t a, size_t b) {
    return repetitions[a].seconds < repetitions[b].seconds;
  });
  return report.steps[*median];
}

}  // namespace

Status WriteRun(const std::string& out, const std::string& record,
                const std::vector<RunReport>& reports, bool is_partial) {
  Status first;
  const auto keep = [&first](Status status) {
    if (first.ok()) first = std::move(status);
  };
  const bool has_measured = std::any_of(reports.begin(), reports.end(), HasResults);
  if (!out.empty() && HasResultFor(out, has_measured, !is_partial)) {
    const std::string folder = FolderFor(out, reports, is_partial);
    if (folder != out) {
      fmt::print(stderr, "schedq run: {} stays as it is; what was measured now is in {}\n", out,
                 folder);
    }
    for (const RunReport& report : reports) {
      // Of an engine whose turn had not come.
      if (is_partial && !HasResults(report)) continue;
      keep(WriteRunFiles(report,
                         reports.size() == 1 ? folder : folder + "/" + report.document.engine));
    }
  }
  if (!record.empty() && !reports.front().trace.empty()) {
    const bool is_whole = !is_partial && IsWhole(reports.front().document.workloads);
    keep(WriteFileAtomically(ResultPath(record, is_whole), reports.front().trace));
  }
  return first;
}

Status WriteCosts(const std::string& path, const RunReport& report, bool is_partial) {
  if (path.empty() || report.document.workloads.empty()) return Status::Ok();
  const WorkloadResult& result = report.document.workloads.front();
  const Result<CostModel> costs = CostsOf(StepsOfMedian(report), "measured");
  if (!costs) return Error("--write-costs " + path + ": " + costs.error().message());
  const std::string comment = fmt::format(
      "What the steps of {}/{} took on the real clock, engine {}; the median of {} rounds.",
      result.test_case, result.workload, report.document.engine, result.repetitions.size());
  const bool is_whole = !is_partial && result.outcome == WorkloadOutcome::kMeasured;
  return WriteFileAtomically(ResultPath(path, is_whole), CostModelText(*costs, comment));
}

}  // namespace schedq
