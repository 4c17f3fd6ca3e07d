// The nodes that an earlier search found, for the pods that follow it and say the same.
//
// Purpose: kube-scheduler's opportunistic batching. Where consecutive pods have one signature and
// each fills its node, the search of the first one serves all: the next best of its nodes is tried
// before any search. A node that still takes the pod competes again (Placer).
// When not to use it: where a pod's place depends on more than what its signature says; such pods
// have none.
// Threads: one, its placer's.
// Memory: a number for each node that a search found.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "engine/base/time/time.h"

namespace schedq {

// When an attempt is made: the time, and the number of the queue's cycle; 0: it has none.
struct PlacingTime {
  Instant now{};
  uint64_t cycle = 0;
};

// What the profile's plugins say of a pod, as text: pods of one signature may go to the same nodes
// and prefer the same ones. nullopt: one of the plugins looks at more than that.
std::optional<std::string> SignatureOf(const ClusterPod& pod, const SchedulerProfile& profile);

class SharedSearch {
 public:
  // Upstream's; cached scores get old.
  static constexpr Duration kAgeMax = std::chrono::milliseconds(500);

  // Whether what was found serves this pod: the attempt before placed a pod, and it is not old.
  bool Serves(const std::string& signature, const PlacingTime& time) const {
    return !slots_.empty() && time.cycle == last_cycle_ + 1 && signature == signature_ &&
           time.now <= made_ + kAgeMax;
  }

  // The slot that the last pod went to.
  uint32_t last_slot() const { return last_slot_; }
  // The worst first.
  const std::vector<uint32_t>& slots() const { return slots_; }
  void Replace(std::vector<uint32_t> slots) { slots_ = std::move(slots); }
  uint32_t TakeBest() {
    const uint32_t best = slots_.back();
    slots_.pop_back();
    return best;
  }

  // A pod goes to that node.
  void Placed(uint32_t slot, const PlacingTime& time) {
    last_slot_ = slot;
    last_cycle_ = time.cycle;
  }
  // A search found these beside the node that was taken. Without any there is nothing to share.
  void Keep(std::string signature, std::vector<uint32_t> slots, Instant now) {
    signature_ = std::move(signature);
    slots_ = std::move(slots);
    made_ = now;
  }
  void Forget() { slots_.clear(); }

 private:
  std::string signature_;
  std::vector<uint32_t> slots_;
  Instant made_{};
  uint32_t last_slot_ = 0;
  uint64_t last_cycle_ = 0;
};

}  // namespace schedq
