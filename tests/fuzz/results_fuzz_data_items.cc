// libFuzzer's entry for DataItems (clang, SCHEDQ_FUZZ).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/results_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  schedq::FuzzDataItems(data, size);
  return 0;
}
