// Which pods are in an attempt: finds a pod that was popped twice.
//
// Purpose: the audit of runs on the real clock. A pod is in its attempt from its pop until just
// before the queue gets it back; one that is bound stays in it until it is deleted.
// Threads: any. Each step is one exchange.
// Memory: a byte for each pod that there was at one time.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/base/segmented_array.h"

namespace schedq {

class AttemptBook {
 public:
  // `slot` is the pod's ClusterPod::slot.
  void Begin(uint64_t slot) {
    is_in_attempt_.ReserveThrough(slot);
    if (is_in_attempt_[slot].exchange(true)) doubled_.fetch_add(1);
  }
  // Before the attempt fails, or is abandoned, or when the bound pod is gone.
  void End(uint64_t slot) {
    is_in_attempt_.ReserveThrough(slot);
    is_in_attempt_[slot].store(false);
  }

  // Pops of pods that were in an attempt already.
  uint64_t doubled() const { return doubled_.load(); }

 private:
  // The pods of the first segment; each further one doubles them.
  static constexpr uint32_t kFirstPodsBits = 12;

  SegmentedArray<std::atomic<bool>> is_in_attempt_{kFirstPodsBits};  // By slot.
  std::atomic<uint64_t> doubled_{0};
};

}  // namespace schedq
