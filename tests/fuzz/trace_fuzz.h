// What is fuzzed of traces: the reader, the replayer and the writer take any bytes and come back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace schedq {

// The bytes as a trace, line by line: the first is the header, the others are replayed on every
// engine until one is refused. What is read must be written and read back as the same. Returns how
// many operations every engine accepted.
size_t FuzzTrace(const uint8_t* data, size_t size);

}  // namespace schedq
