// libFuzzer's entry for templates (clang, SCHEDQ_FUZZ).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/workload_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  schedq::FuzzTemplate(data, size);
  return 0;
}
