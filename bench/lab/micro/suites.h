// All suites of micro-benchmarks.
#pragma once

#include "bench/lab/micro/benchmark_list.h"

namespace schedq {

BenchmarkList AllBenchmarks(BenchmarkSize size);

// Each suite has a function, in a file of its own that draws its topology.
void AddPriorityQueueBenchmarks(BenchmarkList& list, BenchmarkSize size);
void AddEngineBenchmarks(BenchmarkList& list, BenchmarkSize size);
void AddPathBenchmarks(BenchmarkList& list, BenchmarkSize size);
void AddBackoffWindowBenchmarks(BenchmarkList& list, BenchmarkSize size);
void AddClaimIndexBenchmarks(BenchmarkList& list, BenchmarkSize size);
void AddCallBenchmarks(BenchmarkList& list, BenchmarkSize size);
void AddWheelBenchmarks(BenchmarkList& list, BenchmarkSize size);

}  // namespace schedq
