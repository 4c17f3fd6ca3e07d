// libFuzzer's entry for YAML and cost models (clang, SCHEDQ_FUZZ).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/workload_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  schedq::FuzzYaml(data, size);
  return 0;
}
