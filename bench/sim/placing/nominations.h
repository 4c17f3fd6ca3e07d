// Pods that are nominated to a node and not on their way there: what a scheduling thread respects.
//
// Purpose: a nomination keeps the room of its pod from others of the same or a lower priority; pods
// of a higher one take it. The queue knows which pods are nominated (engine/queue.h, Nominate), and
// is asked only once there may be any.
// Threads: SetSource before the others; these from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "engine/pod.h"

namespace schedq {

class Nominations {
 public:
  using Source = std::function<std::vector<PodRef>(std::string_view node)>;

  void SetSource(Source source) { source_ = std::move(source); }

  // Knows from here on what the other knows.
  void Follow(const Nominations& other) {
    source_ = other.source_;
    may_be_any_.store(other.MayBeAny());
  }

  // A pod was nominated, or came with a nomination.
  void Expect() { may_be_any_.store(true, std::memory_order_relaxed); }
  // Relaxed: a thread that hears late of a nomination overtakes it, as it may in any case.
  bool MayBeAny() const { return may_be_any_.load(std::memory_order_relaxed); }

  // The pods whose nominations to the node keep room from `pod`.
  std::vector<ClusterPodRef> AheadOf(const ClusterPod& pod, const std::string& node) const;

 private:
  Source source_;                        // Empty: there are none.
  std::atomic<bool> may_be_any_{false};  // Set by any thread, never taken back.
};

}  // namespace schedq
