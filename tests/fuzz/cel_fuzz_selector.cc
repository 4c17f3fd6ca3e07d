// libFuzzer's entry for selectors of devices (clang, SCHEDQ_FUZZ).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/cel_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  schedq::FuzzCelSelector(data, size);
  return 0;
}
