// Instructions per operation of every point that was timed, and the functions that they are in.
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/lab/profile/profile_kind.h"
#include "bench/lab/profile/profiler.h"
#include "perf/documents/scenario_document.h"

namespace schedq {

// What --run-once prints, and its reading: the two ends of the conversation with the process that
// valgrind runs.
std::string RunOnceText(const PathOutcome& outcome);
Result<uint64_t> OperationsOf(const std::string& run_once_text);

// Runs this program under callgrind for each point of `result` and adds the measurement
// "instructions", its fit and its functions. An interrupt leaves out the rest.
Status AddInstructions(
    const std::string& kind, ProfilerResult* result,
    const std::function<void(const std::string& subject, uint64_t size)>& progress);

// One verdict a promise and size that were counted.
std::vector<PromiseVerdict> JudgeInstructions(const std::vector<InstructionPromise>& promises,
                                              const std::vector<ProfileSeries>& series);

}  // namespace schedq
