// A workload file to test cases: scheduler_perf's YAML, decoded strictly.
//
// Everything that can be known before a run is checked here, so that nothing starts on bad input:
// the YAML, every key and type, parameters (each must be read), metrics, gates, templates (compiled
// and rendered for the first and the last object of each operation). The first thing that is wrong
// is the error: `file:line:column: what, what was expected`.
//
// One thing is not an error of the file: a workload that names a parameter that it does not define.
// It decodes with no operations and Feature::kDefect, whose detail is the line; running it is an
// error. (scheduler_perf itself fails such a workload only when it is selected.)
#pragma once

#include <string>
#include <vector>

#include "bench/format/suite/file_source.h"
#include "bench/format/workload/model.h"
#include "engine/base/result.h"

namespace schedq {

Result<std::vector<TestCase>> DecodeWorkloadFile(const std::string& path, const FileSource& source);

}  // namespace schedq
