// Pods that have made room for themselves and whose victims have not all gone yet.
//
// Purpose: DefaultPreemption gates such a pod: an attempt before the victims are gone is wasted.
// Threads: any; Begin and End for one pod must come in their order. Lock-free, and a question
// writes and allocates nothing.
// Memory: the uids of the pods that wait for victims (interner.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "engine/base/names/interner.h"

namespace schedq {

class RunningPreemptions {
 public:
  // By uid: a pod created anew under the same name has nothing to do with the old one's victims.
  void Begin(std::string_view pod_uid) {
    if (Contains(pod_uid)) return;
    pod_uids_.Acquire(pod_uid);
    running_.fetch_add(1);
  }
  // The victims are gone, or the preemption failed.
  void End(std::string_view pod_uid) {
    const auto number = pod_uids_.Find(pod_uid);
    if (!number) return;
    pod_uids_.Release(*number);
    running_.fetch_sub(1);
  }
  bool Contains(std::string_view pod_uid) const {
    // Every pod that enters the queue is asked about, and hardly ever does a preemption run.
    return running_.load() != 0 && pod_uids_.Find(pod_uid).has_value();
  }

 private:
  Interner pod_uids_;  // One reference for each pod that waits.
  // How many wait. Raised after the uid is known: who has heard of a Begin reads it so.
  std::atomic<uint64_t> running_{0};
};

}  // namespace schedq
