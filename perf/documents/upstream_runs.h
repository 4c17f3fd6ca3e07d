// Measured runs of the real scheduler: one file a workload.
//
// Purpose: the truth that `schedq run --reference` compares with. Counters are those of the whole
// process, from its start to its end.
// Reading is strict: an unknown version or key, a key that is missing and a value of another type
// are errors. Keys that nothing here needs are known and not kept.
// Threads: pure data and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace schedq {

// The part of a run between two operations that scheduler_perf measures.
struct UpstreamSection {
  uint64_t pods_bound = 0;
  double seconds = 0;  // From the first pod that was created or bound to the last that was bound.
};

struct UpstreamRun {
  std::map<std::string, uint64_t> attempts;       // By result.
  std::map<std::string, uint64_t> incoming_pods;  // By "queue|event".
  std::map<std::string, uint64_t> hints;          // By "plugin|event|answer".
  std::map<std::string, uint64_t> api_calls;      // By "type|result".
  std::vector<UpstreamSection> sections;
  bool has_throughput = false;  // The run was long enough for scheduler_perf's own samples.
  double busy_by_others_cores = 0;
};

struct UpstreamRuns {
  std::string file;  // Its name, for messages.
  std::string test_case;
  std::string workload;
  std::map<std::string, bool> gates;         // Of the workload's file, and those that were forced.
  std::map<std::string, bool> gates_forced;  // Set for the measurement.
  std::vector<UpstreamRun> runs;             // At least one.

  std::string Name() const { return test_case + "/" + workload; }
};

// `name` stands in the error, which is one line.
Result<UpstreamRuns> ParseUpstreamRuns(std::string_view text, const std::string& name);

// Each .json file of the folder, in the order of their names. No file, or two of one workload with
// the same gates, is an error.
Result<std::vector<UpstreamRuns>> ReadUpstreamFolder(const std::string& folder);

}  // namespace schedq
