// Results to compare: whatever our commands and scheduler_perf write, as one list of metrics.
//
// Purpose: a path is a file or a folder. results.json, bench.json and floor.json are read as such;
// any other JSON file in a folder counts as one repetition of DataItems, unless results.json is
// beside it, which says the same and more.
// Threads: pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "perf/documents/run_document.h"
#include "perf/statistics/comparison.h"

namespace schedq {

struct ResultMetric {
  std::string unit;
  std::vector<double> values;  // One a repetition.
};

struct Results {
  std::string path;
  std::optional<RunDocument> run;               // Of results.json.
  std::map<std::string, ResultMetric> metrics;  // By a name that says what, where and which bucket.

  // Runs on the virtual clock: every value is exact.
  bool is_exact() const { return run && run->clock == ClockKind::kVirtual; }
};

// An error names the file and what was expected.
Result<Results> ReadResults(const std::string& path);

// Adds what the document holds; for results that were never in a file.
void AddRun(RunDocument document, Results* results);

}  // namespace schedq
