// Runs the pairs workload on any priority queue. One line adds a queue to the comparison:
//
//   AddPairs<MyQueue>(list, workload, ContenderRole::kProduct);
//
// The queue is default constructible and has `void Push(const QueueKey&)`, `bool TryPop(QueueKey&)`
// and `static constexpr const char* kName`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/interrupt.h"
#include "bench/lab/micro/benchmark_list.h"
#include "bench/lab/micro/counted_lines.h"
#include "bench/lab/micro/priority_queue_workload.h"
#include "bench/lab/micro/rivals/queue_key.h"
#include "bench/lab/paths/thread_team.h"
#include "perf/documents/bench_document.h"

namespace schedq {

template <typename Queue>
void FillQueue(Queue& queue, const PairsWorkload& workload, PairsOutcome& outcome) {
  KeySource source = FillSource(workload);
  for (int64_t entry = 0; entry < workload.entries; ++entry) {
    const QueueKey key = source.Next(static_cast<uint64_t>(entry));
    queue.Push(key);
    outcome.pushed.Add(key);
  }
}

struct ThreadOutcome {
  KeyDigest pushed;
  KeyDigest popped;
  int64_t pops_without_key = 0;
};

template <typename Queue>
ThreadOutcome RunPairsOfThread(Queue& queue, const PairsWorkload& workload, int thread) {
  ThreadOutcome outcome;
  KeySource source = ThreadSource(workload, thread);
  const int64_t pairs = workload.PairsOfThread(thread);
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const QueueKey pushed = source.Next(PairTimestamp(workload, thread, pair));
    queue.Push(pushed);
    outcome.pushed.Add(pushed);
    QueueKey popped;
    if (queue.TryPop(popped)) {
      outcome.popped.Add(popped);
    } else {
      ++outcome.pops_without_key;
    }
  }
  return outcome;
}

template <typename Queue>
void EmptyQueue(Queue& queue, PairsOutcome& outcome) {
  QueueKey previous;
  QueueKey key;
  while (queue.TryPop(key)) {
    if (outcome.left.count > 0 && !(key < previous)) outcome.left_in_order = false;
    outcome.left.Add(key);
    previous = key;
  }
}

template <typename Queue>
PairsOutcome RunPairs(const PairsWorkload& workload) {
  PairsOutcome outcome;
  const auto queue = std::make_unique<Queue>();
  FillQueue(*queue, workload, outcome);

  std::vector<ThreadOutcome> of_threads(static_cast<size_t>(workload.threads));
  outcome.seconds = RunTeam(workload.threads, [&](int thread) {
    of_threads[static_cast<size_t>(thread)] = RunPairsOfThread(*queue, workload, thread);
  });
  for (const ThreadOutcome& one : of_threads) {
    outcome.pushed.AddUnordered(one.pushed);
    outcome.popped.AddUnordered(one.popped);
    outcome.pops_without_key += one.pops_without_key;
  }
  if (workload.threads == 1) outcome.popped.sequence = of_threads[0].popped.sequence;

  EmptyQueue(*queue, outcome);
  return outcome;
}

// Measures one repetition. All iterations of google-benchmark are one run of the workload.
template <typename Queue>
void MeasurePairs(benchmark::State& state, PairsWorkload workload) {
  if (Interrupted()) {
    state.SkipWithError("interrupted");
    return;
  }
  workload.pairs = state.max_iterations;
  const PairsOutcome outcome = RunPairs<Queue>(workload);
  if (const char* fault = FaultOf(workload, outcome)) {
    state.SkipWithError(fault);
    return;
  }
  while (state.KeepRunningBatch(workload.pairs)) state.SetIterationTime(outcome.seconds);
}

template <typename Queue>
void AddPairs(BenchmarkList& list, const PairsWorkload& workload, ContenderRole role,
              CountOnce counters = {}) {
  BenchmarkCase one;
  one.group = PairsGroup(workload);
  one.topology = "fill -> threads x (push, pop) -> empty";
  one.parameters = {{"entries", static_cast<uint64_t>(workload.entries)},
                    {"threads", static_cast<uint64_t>(workload.threads)}};
  one.contestant = Queue::kName;
  one.role = role;
  one.operations = workload.pairs;
  one.body = [workload](benchmark::State& state) { MeasurePairs<Queue>(state, workload); };
  one.anchor_ns = PairsAnchor(workload, Queue::kName);
  one.counters = std::move(counters);
  list.Add(std::move(one));
}

}  // namespace schedq
