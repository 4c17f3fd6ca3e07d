// libFuzzer's entry for single lines of traces (clang, SCHEDQ_FUZZ).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/trace_line_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  schedq::FuzzTraceLine(data, size);
  return 0;
}
