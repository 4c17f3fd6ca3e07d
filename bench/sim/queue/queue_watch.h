// What waits in a queue and what the waiting costs: waits, inversions of priority, idleness.
//
// Purpose: the figures that KEP-5142 is about, for every run. A pod waits while it is in active or
// in backoff, where nothing but time and others keep it from its next attempt; error backoff is
// meant to keep pods and does not count.
//  - A wait: from when the pod came to wait until it was popped.
//  - An inversion: a pod is placed on a node while one of higher priority waits.
//  - Idle time: the scheduling thread has nothing to do although pods wait in backoff.
// Threads: one, that which advances the clock.
// Memory: a record a waiting pod.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

#include "engine/base/time/clock.h"
#include "engine/ports.h"

namespace schedq {

class QueueWatch final : public QueueObserver {
 public:
  using WaitListener = std::function<void(Duration waited)>;

  explicit QueueWatch(const Clock* clock) : clock_(clock) {}

  // Told of each wait that ends with a pop. Empty: nobody.
  void ListenToWaits(WaitListener listener) { listener_ = std::move(listener); }
  // The scheduling thread found nothing to pop, or has something again.
  void SetIdle(bool is_idle);
  // The pod gets a node.
  void CountPlaced(const Pod& pod);

  // Since the start.
  uint64_t inversions() const { return inversions_; }
  Duration idle() const;

  void OnMoved(const PodRef& pod, Place from, Place to, EventLabel label) override;

 private:
  struct Waiting {
    Place place;
    Instant since;
    int32_t priority;
  };

  // Adds what was idle until now; before anything changes that decides on it.
  void Account();

  const Clock* const clock_;
  WaitListener listener_;
  std::unordered_map<uint64_t, Waiting> waiting_;  // By the pod's number.
  std::multiset<int32_t> priorities_;              // Of all that wait.
  uint64_t in_backoff_ = 0;
  uint64_t inversions_ = 0;
  bool is_idle_ = true;
  Instant accounted_{};
  Duration idle_{};
};

}  // namespace schedq
