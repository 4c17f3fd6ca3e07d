// The threshold of a workload against what was measured.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "engine/base/result.h"
#include "perf/documents/run_document.h"

namespace schedq {

// The topic of a workload file: the folder that it is in, "builtin" for the suite in the program.
std::string TopicOf(const std::string& file);

// The median over the repetitions of what the selector finds. nullopt: the threshold is off. An
// error: the selector finds nothing.
Result<std::optional<ThresholdOutcome>> JudgeThreshold(const TestCase& test_case,
                                                       const Workload& workload,
                                                       std::span<const Repetition> repetitions,
                                                       bool comparable);

}  // namespace schedq
