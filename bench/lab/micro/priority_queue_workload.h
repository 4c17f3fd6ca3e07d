// The workload of the priority-queue benchmarks and its answer by a sequential model.
//
// A queue is filled with `entries` keys of rising timestamps. Then `threads` threads do push+pop
// pairs; a pushed key is younger than all keys before it. At the end the queue is emptied.
//
// The answer of a strict queue:
//  1. Every pop finds a key, because each thread pushes before it pops.
//  2. The popped keys and the keys left are the pushed keys: their counts and the sums of their
//     hashes are equal.
//  3. The keys left come out in strictly falling order.
//  4. With one thread, the pops have the order of std::priority_queue: a hash that depends on the
//     order is equal.
// Threads: pure functions, except FaultOf, which only the main thread may call: it keeps the
// answers of models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/lab/micro/rivals/queue_key.h"
#include "engine/base/random.h"

namespace schedq {

enum class Priorities {
  kEight,   // Eight different ones, equally likely; real clusters have no more.
  kRandom,  // All 32 bits, the worst case for structures with a lane for each priority.
};

struct PairsWorkload {
  Priorities priorities = Priorities::kEight;
  int64_t entries = 0;
  int threads = 1;
  int64_t pairs = 0;  // The pairs of all threads together.

  int64_t PairsOfThread(int thread) const {
    return pairs / threads + (thread < pairs % threads ? 1 : 0);
  }
};

// A stream of keys. Queue and model draw the same keys from the same stream.
class KeySource {
 public:
  KeySource(Priorities priorities, uint64_t stream)
      : priorities_(priorities), random_(Random(1).Fork(stream)) {}

  QueueKey Next(uint64_t timestamp) {
    const uint64_t bits = random_.Next();
    const auto priority = priorities_ == Priorities::kEight
                              ? static_cast<int32_t>(bits & 7) * 1000
                              : static_cast<int32_t>(static_cast<uint32_t>(bits));
    return {priority, timestamp, bits};
  }

 private:
  Priorities priorities_;
  Random random_;
};

// The keys of the fill and of each thread come from streams of their own.
inline KeySource FillSource(const PairsWorkload& workload) { return {workload.priorities, 0}; }
inline KeySource ThreadSource(const PairsWorkload& workload, int thread) {
  return {workload.priorities, static_cast<uint64_t>(thread) + 1};
}
// A timestamp that is younger than those of the fill and unique among threads.
inline uint64_t PairTimestamp(const PairsWorkload& workload, int thread, int64_t pair) {
  return static_cast<uint64_t>(workload.entries + pair * workload.threads + thread);
}

// A digest of keys.
struct KeyDigest {
  uint64_t count = 0;
  uint64_t sum = 0;       // Independent of the order, so that digests of threads can be added.
  uint64_t sequence = 0;  // Depends on the order.

  void Add(const QueueKey& key) {
    const uint64_t hash = key.identity ^ (key.timestamp * 0x9e3779b97f4a7c15ULL) ^
                          (static_cast<uint64_t>(static_cast<uint32_t>(key.priority)) << 32);
    ++count;
    sum += hash;
    sequence = (sequence ^ hash) * 0x100000001b3ULL;
  }
  void AddUnordered(const KeyDigest& other) {
    count += other.count;
    sum += other.sum;
  }
};

// The outcome of a workload on a queue.
struct PairsOutcome {
  double seconds = 0;  // The time of the pairs, without fill and emptying.
  KeyDigest pushed;    // By the fill and the pairs.
  KeyDigest popped;    // By the pairs. `sequence` is meaningful only with one thread.
  KeyDigest left;      // Popped at the end, by the emptying.
  int64_t pops_without_key = 0;
  bool left_in_order = true;
};

// "engine/active_queue/8_priorities/1000_entries/2_threads"
std::string PairsGroup(const PairsWorkload& workload);

// The figure of anchors.json for this queue and workload, in nanoseconds a pair.
std::optional<double> PairsAnchor(const PairsWorkload& workload, const std::string& queue);

// Returns what is wrong with the outcome; null: it is right.
const char* FaultOf(const PairsWorkload& workload, const PairsOutcome& outcome);

}  // namespace schedq
