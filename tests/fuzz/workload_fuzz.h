// The fuzzed functions of workload decoding, which must return soon for any bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace schedq {

// Decodes the bytes as a workload file, whose templates are the same bytes.
void FuzzWorkloadFile(const uint8_t* data, size_t size);

// Compiles the bytes as a template, renders it with data of every type, and reads the output as an
// object.
void FuzzTemplate(const uint8_t* data, size_t size);

}  // namespace schedq
