// The workloads that a command line names: files or a built-in suite, narrowed by name and labels.
#pragma once

#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "engine/base/result.h"

namespace schedq {

struct WorkloadSelection {
  std::vector<std::string> paths;  // Empty: a built-in suite.
  std::string name;                // Regular expression, searched in "case/workload"; empty: all.
  std::string labels;              // See LabelFilter.
  std::string suite = {};          // The built-in suite to use without paths; empty: the default.
  bool may_be_empty = false;
  std::vector<std::string> params = {};            // NAME=VALUE (given_params.h).
  std::vector<std::string>* files_read = nullptr;  // Receives their names and those of templates.
};

// Decodes every file in full, then keeps the selected workloads and the cases that have any. An
// empty result is an error unless `may_be_empty`.
Result<std::vector<TestCase>> SelectWorkloads(const WorkloadSelection& selection);

}  // namespace schedq
