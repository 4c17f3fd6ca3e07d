// Writes traces: the inverse of trace.h. What it writes, ParseTraceHeader and ParseTraceOperation
// read back as the same values.
#pragma once

#include <string>

#include "bench/format/trace/trace.h"

namespace schedq {

// One line without its end.
std::string FormatTraceHeader(const TraceHeader& header);
// With operation.want, if it has one.
std::string FormatTraceOperation(const TraceOperation& operation);

}  // namespace schedq
