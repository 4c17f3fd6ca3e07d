// What `schedq run` prints and writes.
//
// Threads: the main thread only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/sim/measure/step_times.h"
#include "engine/base/result.h"
#include "perf/compare/reference.h"
#include "perf/documents/run_document.h"
#include "perf/text/table.h"

namespace schedq {

struct RunReport {
  RunDocument document;
  double virtual_seconds = 0;                       // Of all runs, for the names of files.
  std::map<std::string, std::string> topics;        // "case/workload" to topic.
  std::map<std::string, std::string> metrics_text;  // By "case/workload", of the last repetition.
  std::map<std::string, std::vector<WholeRun>> wholes;  // By "case/workload", of each repetition.
  std::vector<StepTimes> steps;                         // On the real clock, of each repetition.
  std::string trace;                                    // Of the last repetition that was recorded.
  // The first thing wrong with the input that only showed while running: a workload that cannot be
  // run as it is written, a selector that found nothing.
  std::optional<Error> input_error;

  // Adds what another report of the same engine has.
  void Add(RunReport other);
  // Adds the next repetition of the only workload, with what it says of the workload's outcome.
  void AddRepetition(RunReport repetition);
};

// Whether anything was measured.
bool HasResults(const RunReport& report);

// One row a workload, then what was skipped and why, and what is named only.
std::string RunTable(const RunDocument& document, const TableLayout& layout);
// The published figures that a workload of the run has, what was predicted, and the error.
std::string PredictionTable(const RunDocument& document, const TableLayout& layout);
// results.json, results.benchstat, a DataItems file a topic, and a .prom file a workload. A file
// that cannot be written does not keep the others from being written; the first error is returned.
Status WriteRunFiles(const RunReport& report, const std::string& folder);

}  // namespace schedq
