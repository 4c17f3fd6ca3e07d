#include "bench/lab/micro/suites.h"

namespace schedq {

BenchmarkList AllBenchmarks(BenchmarkSize size) {
  BenchmarkList list;
  AddPriorityQueueBenchmarks(list, size);
  AddEngineBenchmarks(list, size);
  AddPathBenchmarks(list, size);
  AddBackoffWindowBenchmarks(list, size);
  AddClaimIndexBenchmarks(list, size);
  AddCallBenchmarks(list, size);
  AddWheelBenchmarks(list, size);
  return list;
}

}  // namespace schedq
