// Decodes a workload file, scheduler_perf's YAML, to test cases.
//
// The decoder checks all that can be known before a run, so that no run starts on bad input: the
// YAML, every key and type, parameters (each must be read), metrics, gates, and templates
// (compiled, and rendered for the first and the last object of each operation). The error is the
// first problem: `file:line:column: what, what was expected`.
//
// A workload that names a parameter that it does not define is no error of the file. It decodes to
// no operations and Feature::kDefect, whose detail is the line; running it is an error.
// (scheduler_perf too fails such a workload only when it is selected.)
#pragma once

#include <string>
#include <vector>

#include "bench/format/suite/file_source.h"
#include "bench/format/workload/given_params.h"
#include "bench/format/workload/model.h"
#include "engine/base/result.h"

namespace schedq {

// `given` goes before the parameters of the workloads; it may be null.
Result<std::vector<TestCase>> DecodeWorkloadFile(const std::string& path, const FileSource& source,
                                                 GivenParams* given = nullptr);

}  // namespace schedq
