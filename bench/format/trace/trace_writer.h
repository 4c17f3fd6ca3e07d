// Writes traces. ParseTraceHeader and ParseTraceOperation read its lines back as the same values.
#pragma once

#include <string>

#include "bench/format/trace/trace.h"

namespace schedq {

// Both return one line without its line break. A header is written with the version of VersionOf.
std::string FormatTraceHeader(const TraceHeader& header);
// Writes operation.want too, if there is one. In version 1 the groups of pods are left out.
std::string FormatTraceOperation(const TraceOperation& operation, int version = 1);

}  // namespace schedq
