// Measures waiting pods: their waits, inversions of priority, and idle time.
//
// Purpose: the figures that KEP-5142 is about, for every run. A pod waits while it is in active or
// in backoff, where only time and other pods keep it from its next attempt. Error backoff does not
// count, because it keeps pods on purpose.
//  - A wait begins when the pod enters active or backoff, and ends with its pop.
//  - An inversion: a pod is placed on a node while a pod of higher priority waits.
//  - Idle time: the scheduling thread has nothing to do although pods wait in backoff.
// Threads: one, the one that advances the clock.
// Memory: a record a waiting pod.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/ports.h"

namespace schedq {

class QueueWatch final : public QueueObserver {
 public:
  using WaitListener = std::function<void(Duration waited)>;

  explicit QueueWatch(const Clock* clock) : clock_(clock) {}

  // The listener is called for each wait that ends with a pop. Empty: there is none.
  void ListenToWaits(WaitListener listener) { listener_ = std::move(listener); }
  // True when the scheduling thread found nothing to pop, false when it has a pod again.
  void SetIdle(bool is_idle);
  // Counts a pod that gets a node.
  void CountPlaced(const Pod& pod);

  // Both count since the start.
  uint64_t inversions() const { return inversions_; }
  Duration idle() const;

  void OnMoved(const PodRef& pod, Place from, Place to, EventLabel label) override;

 private:
  struct Waiting {
    Place place;
    Instant since;
    int32_t priority;
  };

  // Adds the idle time until now. Called before each change of the conditions for idle time.
  void AddIdleTime();

  const Clock* const clock_;
  WaitListener listener_;
  std::unordered_map<uint64_t, Waiting> waiting_;  // By the pod's number.
  std::multiset<int32_t> priorities_;              // The priorities of all waiting pods.
  uint64_t in_backoff_ = 0;
  uint64_t inversions_ = 0;
  bool is_idle_ = true;
  Instant accounted_{};
  Duration idle_{};
};

}  // namespace schedq
