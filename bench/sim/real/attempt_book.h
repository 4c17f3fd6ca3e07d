// Which pods are in an attempt: finds a pod that was popped twice.
//
// Purpose: the audit of runs on the real clock. A pod is in its attempt from its pop until just
// before the queue gets it back; one that is bound stays in it.
// Threads: any. Each step is one exchange.
// Memory: a byte for each pod that ever was.
#pragma once

#include <tbb/concurrent_vector.h>

#include <atomic>
#include <cstdint>

namespace schedq {

class AttemptBook {
 public:
  void Begin(uint64_t pod_number) {
    if (pod_number >= is_in_attempt_.size()) is_in_attempt_.grow_to_at_least(pod_number + 1);
    if (is_in_attempt_[pod_number].exchange(true)) doubled_.fetch_add(1);
  }
  // Before the attempt fails, or is abandoned.
  void End(uint64_t pod_number) { is_in_attempt_[pod_number].store(false); }

  // Pops of pods that were in an attempt already.
  uint64_t doubled() const { return doubled_.load(); }

 private:
  tbb::concurrent_vector<std::atomic<bool>> is_in_attempt_;  // By number.
  std::atomic<uint64_t> doubled_{0};
};

}  // namespace schedq
