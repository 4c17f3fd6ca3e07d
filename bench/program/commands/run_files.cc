#include "bench/program/commands/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "bench/program/output_file.h"
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

}  // namespace schedq
