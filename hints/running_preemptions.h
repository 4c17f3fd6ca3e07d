// Pods and groups that preempted others and whose victims are not all gone yet.
//
// Purpose: DefaultPreemption gates such a pod, or all members of such a group: an attempt before
// the victims are gone is wasted.
// Threads: any; Begin and End for one pod must come in their order. Lock-free; Contains writes and
// allocates nothing.
// Memory: the uids of the pods that wait for victims (interner.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/names/interner.h"

namespace schedq {

// By which a group is known here; no uid has a space.
inline std::string PreemptionKeyOfGroup(const std::string& namespace_name,
                                        const std::string& group) {
  return "podgroup " + namespace_name + '/' + group;
}

class RunningPreemptions {
 public:
  // By uid, or the key of a group: a pod created anew under the same name has nothing to do with
  // the old one's victims.
  void Begin(std::string_view pod_uid) {
    if (Contains(pod_uid)) return;
    // A pod for whose uid there is no room (interner.h) does not wait.
    if (pod_uids_.Acquire(pod_uid) == kNoName) return;
    running_.fetch_add(1);
  }
  // The victims are gone, or the preemption failed.
  void End(std::string_view pod_uid) {
    const auto number = pod_uids_.Find(pod_uid);
    if (!number) return;
    pod_uids_.Release(*number);
    running_.fetch_sub(1);
  }
  bool IsEmpty() const { return running_.load() == 0; }
  bool Contains(std::string_view pod_uid) const {
    // This is asked for every pod that enters the queue, and preemptions are rare.
    return running_.load() != 0 && pod_uids_.Find(pod_uid).has_value();
  }

 private:
  Interner pod_uids_;  // One reference for each pod that waits.
  // The number of pods that wait. Raised after the uid is known, so a thread that was told of a
  // Begin reads the raised value.
  std::atomic<uint64_t> running_{0};
};

}  // namespace schedq
