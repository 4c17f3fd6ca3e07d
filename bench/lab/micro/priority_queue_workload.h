// The workload of the priority-queue benchmarks and its answer by a sequential model.
//
// A queue is filled with `entries` keys of rising timestamps. Then `threads` threads do push+pop
// pairs; a pushed key is younger than all that were there before. At the end the queue is emptied.
//
// The answer, for a strict queue:
// 1. Every pop finds a key (each thread pushes before it pops), and what is popped and what is left
//    is what was pushed: equal counts and equal sums of a hash of each key.
// 2. What is left comes out in strictly falling order.
// 3. With one thread, the sequence of all pops is that of std::priority_queue: a hash in which the
//    order matters is equal.
// Threads: pure functions, except FaultOf (the main thread only: it remembers models).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/lab/micro/rivals/queue_key.h"
#include "engine/base/random.h"

namespace schedq {

enum class Priorities {
  kEight,   // Eight different ones, equally likely: what real clusters have at most.
  kRandom,  // All 32 bits: adversarial to structures that keep a lane per priority.
};

struct PairsWorkload {
  Priorities priorities = Priorities::kEight;
  int64_t entries = 0;
  int threads = 1;
  int64_t pairs = 0;  // Of all threads together.

  int64_t PairsOfThread(int thread) const {
    return pairs / threads + (thread < pairs % threads ? 1 : 0);
  }
};

// The same stream gives the same keys in queue and model.
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
// Younger than the fill and unique among threads.
inline uint64_t PairTimestamp(const PairsWorkload& workload, int thread, int64_t pair) {
  return static_cast<uint64_t>(workload.entries + pair * workload.threads + thread);
}

// Sums up keys as they pass by.
struct KeyDigest {
  uint64_t count = 0;
  uint64_t sum = 0;       // Order does not matter: digests of threads may be added.
  uint64_t sequence = 0;  // Order matters.

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

// What a queue did with a workload.
struct PairsOutcome {
  double seconds = 0;  // Of the pairs alone.
  KeyDigest pushed;    // Fill and pairs.
  KeyDigest popped;    // By the pairs. `sequence` counts only with one thread.
  KeyDigest left;      // Emptied at the end.
  int64_t pops_without_key = 0;
  bool left_in_order = true;
};

// "engine/active_queue/8_priorities/1000_entries/2_threads"
std::string PairsGroup(const PairsWorkload& workload);

// What anchors.json says about this queue on this workload, in nanoseconds a pair.
std::optional<double> PairsAnchor(const PairsWorkload& workload, const std::string& queue);

// Nullptr if the outcome is right, else what is wrong with it.
const char* FaultOf(const PairsWorkload& workload, const PairsOutcome& outcome);

}  // namespace schedq
