// Which workloads a command line means: files or a built-in suite, narrowed by name and labels.
#pragma once

#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "engine/base/result.h"

namespace schedq {

struct WorkloadSelection {
  std::vector<std::string> paths;  // None: a built-in suite.
  std::string name;                // Regular expression, searched in "case/workload"; empty: all.
  std::string labels;              // See LabelFilter.
  std::string suite = {};          // Without paths; empty: the default one.
  bool may_be_empty = false;
};

// Every file is decoded in full; then cases keep the workloads that are meant, and cases without
// any go. An empty result is an error, unless it may be: nobody means nothing.
Result<std::vector<TestCase>> SelectWorkloads(const WorkloadSelection& selection);

}  // namespace schedq
