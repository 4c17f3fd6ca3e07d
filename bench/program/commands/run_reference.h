// The measured runs that `schedq run --reference DIR` compares with, and which of them belong to
// the workloads of a run.
//
// A workload's reference has its case, its name and its gates. Gates of one name must have one
// value on both sides; a gate that the reference does not name had upstream's default.
// Threads: immutable once Choose has returned; any thread.
// Memory: the references.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/program/reports/run_report.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/gates.h"
#include "perf/documents/upstream_runs.h"

namespace schedq {

// Of the gates that schedq models, as the real scheduler has them where nothing sets them: the
// release that the measured runs are of.
GateRequest UpstreamGateDefaults();

// The processes that were measured ended so long after the last operation of their workload: until
// then churns went on, and counters count the whole process.
inline constexpr Duration kReferenceTail = std::chrono::milliseconds(1300);

// A workload that looks for its reference.
struct ReferenceQuestion {
  std::string name;  // "case/workload"
  Gates gates;       // In force.
  std::map<std::string, bool>
      gates_asked;  // On the command line, also those that are not modelled.
  bool has_other_params = false;
};

class RunReference {
 public:
  // An error names the file and what was expected.
  static Result<RunReference> Read(const std::string& folder);

  // Finds the reference of each workload. An error: no reference is of any of them, or all have
  // other gates.
  Status Choose(const std::vector<ReferenceQuestion>& questions);

  // Writes into the report how its workloads compare. Returns how many were compared.
  size_t Compare(RunReport* report) const;

 private:
  explicit RunReference(std::vector<UpstreamRuns> all) : all_(std::move(all)) {}

  // Why the reference of that name does not belong to the workload; empty: it does.
  static std::string WhyNot(const UpstreamRuns& reference, const ReferenceQuestion& question);

  std::vector<UpstreamRuns> all_;
  std::map<std::string, size_t> chosen_;           // By the workload's name: its place in `all_`.
  std::map<std::string, std::string> not_chosen_;  // Why; of workloads with other gates only.
};

}  // namespace schedq
