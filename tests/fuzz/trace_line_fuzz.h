// The fuzzed function for single lines of traces. It needs the reader and the writer alone: a
// program without engines runs many times faster.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/format/trace/trace.h"

namespace schedq {

// Reads the bytes as one line of a trace, which no engine replays: a header where they name one,
// else an operation of version 2. What was read must be written and read back as the same; what
// version 1 reads, version 2 reads too. Returns whether the bytes were accepted.
bool FuzzTraceLine(const uint8_t* data, size_t size);

// Check that what was read is written as a line that reads back as the same.
void CheckReadsBack(const TraceHeader& header);
void CheckReadsBack(const TraceOperation& operation, int version);

}  // namespace schedq
