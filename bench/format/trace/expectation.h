// Compares the outcome of an operation with what its trace wants.
#pragma once

#include <string>
#include <vector>

#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"

namespace schedq {

// One line for each difference, "wanted ..., got ..."; empty where they agree.
std::vector<std::string> Differences(TraceOp op, const TraceWant& want,
                                     const TraceOutcome& outcome);

}  // namespace schedq
