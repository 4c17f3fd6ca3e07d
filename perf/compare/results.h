// Results to compare: what schedq's commands and scheduler_perf write, as one list of metrics.
//
// Purpose: a path names a file or a folder. In a folder, the reader looks for results.json,
// bench.json and floor.json. If none is there, each JSON file of the folder is one repetition of
// DataItems: results.json holds what the DataItems beside it hold, and more. Where there is no JSON
// file either, each .txt, .bench or .benchstat file is the output of Go benchmarks.
// Names: a workload has the same name in all of them. Go's begin with "BenchmarkPerfScheduling/"
// and, in the output of benchmarks, end with the number of processors; neither counts.
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
  std::vector<double> values;  // One value a repetition.
  std::string place;           // "case/workload/section", or the benchmark.
  std::string what;            // "SchedulingThroughput Average"; empty: the place says it.
  // Throughput, and what a threshold selects; of benchmarks what the product takes.
  bool is_asked_for = false;
  std::optional<MeasureKind> kind;  // Where more is known of it than its unit says.
};

struct Results {
  std::string path;
  std::optional<RunDocument> run;               // The content of results.json.
  std::map<std::string, ResultMetric> metrics;  // By "place: what".

  // True for runs on the virtual clock, whose every value is exact.
  bool is_exact() const { return run && run->clock == ClockKind::kVirtual; }
};

// An error names the file and what was expected.
Result<Results> ReadResults(const std::string& path);

// Adds the document's metrics to `results`, for a run that was never written to a file.
void AddRun(RunDocument document, Results* results);

}  // namespace schedq
