// The fuzzed functions of YAML and workload decoding, which must return soon for any bytes. Each
// returns whether it accepted them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace schedq {

// Parses the bytes as YAML, and reads them as a cost model.
bool FuzzYaml(const uint8_t* data, size_t size);

// Decodes the bytes as a workload file, whose templates are the same bytes.
bool FuzzWorkloadFile(const uint8_t* data, size_t size);

// Compiles the bytes as a template, renders it with data of every type, and reads the output as an
// object.
bool FuzzTemplate(const uint8_t* data, size_t size);

}  // namespace schedq
