// Writes traces. ParseTraceHeader and ParseTraceOperation read its lines back as the same values.
#pragma once

#include <string>

#include "bench/format/trace/trace.h"

namespace schedq {

// Both return one line without its line break.
std::string FormatTraceHeader(const TraceHeader& header);
// Writes operation.want too, if there is one.
std::string FormatTraceOperation(const TraceOperation& operation);

}  // namespace schedq
