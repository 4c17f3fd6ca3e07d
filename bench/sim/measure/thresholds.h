// Compares the threshold of a workload with the measured value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "engine/base/result.h"
#include "perf/documents/run_document.h"

namespace schedq {

// The topic of a workload file: the name of its folder, or "builtin" for the suite in the program.
std::string TopicOf(const std::string& file);

// Judges the median, over the repetitions, of the value that the selector finds. nullopt: the
// threshold is off. Returns an error where the selector finds nothing.
Result<std::optional<ThresholdOutcome>> JudgeThreshold(const TestCase& test_case,
                                                       const Workload& workload,
                                                       std::span<const Repetition> repetitions,
                                                       bool comparable);

}  // namespace schedq
