// What is fuzzed of workload decoding: functions that take any bytes and must come back, soon.
#pragma once

#include <cstddef>
#include <cstdint>

namespace schedq {

// The bytes as a workload file; its templates are the bytes too.
void FuzzWorkloadFile(const uint8_t* data, size_t size);

// The bytes as a template, rendered with data of every type and read as an object.
void FuzzTemplate(const uint8_t* data, size_t size);

}  // namespace schedq
