// The fuzzed functions for results, and for expressions on their names: readers, comparison and
// reports must return for any bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace schedq {

// Reads the bytes as a result file of each kind that names itself. What was read must be written
// and read back as the same; a run is compared with itself, and worded for people, Markdown and
// JUnit. Returns whether a reader accepted the bytes.
bool FuzzResults(const uint8_t* data, size_t size);

// Reads the bytes as DataItems, as scheduler_perf writes them.
bool FuzzDataItems(const uint8_t* data, size_t size);

// The first line is an expression, the rest a text to search. An expression must be compiled or
// refused, and one that is made of a text must find that text.
bool FuzzPattern(const uint8_t* data, size_t size);

}  // namespace schedq
