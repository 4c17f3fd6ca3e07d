// Counts the instructions per operation at every point that was timed, by function.
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/lab/paths/measured_path.h"
#include "bench/lab/profile/profile_kind.h"
#include "bench/lab/profile/profiler.h"
#include "engine/base/result.h"
#include "perf/documents/profile_document.h"
#include "perf/documents/scenario_document.h"

namespace schedq {

// The text that --run-once prints in the process under valgrind, and its reader in this process.
std::string RunOnceText(const PathOutcome& outcome);
Result<uint64_t> OperationsOf(const std::string& run_once_text);

// Runs this program under callgrind for each point of `result`. Adds the measurement
// "instructions", its fit and its functions. An interrupt ends the counting; finished counts stay.
Status AddInstructions(
    const std::string& kind, ProfilerResult* result,
    const std::function<void(const std::string& subject, uint64_t size)>& progress);

// One verdict for each promise and size that were counted.
std::vector<PromiseVerdict> JudgeInstructions(const std::vector<InstructionPromise>& promises,
                                              const std::vector<ProfileSeries>& series);

}  // namespace schedq
