// The fuzzed function for traces: reader, replayer and writer must return for any bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace schedq {

// Reads the bytes as a trace. The first line is the header; every engine replays the others until
// it refuses one. All that was read must be written and read back as the same. Returns the number
// of operations that every engine accepted.
size_t FuzzTrace(const uint8_t* data, size_t size);

}  // namespace schedq
