// Strict priority queues under push+pop pairs.
//
//        fill: 1k, 100k or 1M keys
//                    |
//                    v
//     push     +-----------+     pop
//   T1 ------> |           | ------> T1        1, 2 or 8 threads; each pushes one key and pops
//   T2 ------> |   queue   | ------> T2        one, so the size stays what it was. A pushed key is
//   ..         |           |         ..        younger than all before it; its priority is one of
//   Tn ------> +-----------+ ------> Tn        eight, or any 32 bits.
//                    |
//                    v
//        emptied, and all that came out is checked
//
// Time: wall time of the pairs / pairs of all threads. Fill and emptying are not timed.
// Pops take the fill from the top while younger keys arrive. With eight priorities, mostly the
// lowest is left after `entries` pairs, and keys of higher priorities are popped soon after their
// push.
// Answer: see priority_queue_workload.h.

#include <cstdint>
#include <vector>

#include "bench/lab/micro/benchmark_list.h"
#include "bench/lab/micro/counted_lines.h"
#include "bench/lab/micro/priority_queue_pairs.h"
#include "bench/lab/micro/priority_queue_workload.h"
#include "bench/lab/micro/rivals/active_queue_contestant.h"
#include "bench/lab/micro/rivals/rival_priority_queues.h"
#include "bench/lab/micro/suites.h"

namespace schedq {
namespace {

// The mound is ten times slower than the others; anchors.json has it at this size only.
constexpr int64_t kMoundEntriesMax = 1000;

void AddContestants(BenchmarkList& list, const PairsWorkload& workload, bool is_tiny) {
  // The path of `schedq scale` has these priorities and so many entries.
  const bool is_counted = workload.priorities == Priorities::kEight && workload.entries == 1000;
  AddPairs<ActiveQueueContestant>(list, workload, ContenderRole::kProduct,
                                  is_counted ? CountedOn("pairs", is_tiny) : nullptr);
  AddPairs<LockedBinaryHeap>(list, workload, ContenderRole::kRival);
  AddPairs<LockedOctonaryHeap>(list, workload, ContenderRole::kRival);
  AddPairs<TbbPriorityQueue>(list, workload, ContenderRole::kRival);
  AddPairs<FollyFlatCombiningQueue>(list, workload, ContenderRole::kRival);
  AddPairs<FollyUndedicatedCombiningQueue>(list, workload, ContenderRole::kRival);
  AddPairs<CdsFlatCombiningQueue>(list, workload, ContenderRole::kRival);
  if (workload.entries <= kMoundEntriesMax)
    AddPairs<FollyStrictMound>(list, workload, ContenderRole::kRival);
}

}  // namespace

void AddPriorityQueueBenchmarks(BenchmarkList& list, BenchmarkSize size) {
  const bool is_tiny = size == BenchmarkSize::kTiny;
  const std::vector<int64_t> sizes =
      is_tiny ? std::vector<int64_t>{100, 1000} : std::vector<int64_t>{1000, 100'000, 1'000'000};
  for (const Priorities priorities : {Priorities::kEight, Priorities::kRandom}) {
    for (const int64_t entries : sizes) {
      for (const int threads : {1, 2, 8}) {
        AddContestants(list, {priorities, entries, threads, is_tiny ? 2000 : 200'000}, is_tiny);
      }
    }
  }
}

}  // namespace schedq
