// How long the queue takes from an event to the pods that it gives another attempt.
//
// Purpose: the latency "event to requeued". It begins when an informer's change is delivered: at
// the instant for which the cluster's timer was set, so that a late cluster hides nothing. It ends
// when a pod has left the pool, for active, or for backoff where its backoff is not over yet.
// Not counted: pods that go back at the end of their own attempt because of an event that came
// meanwhile, and what scheduling threads and the binder themselves tell the queue.
// Threads: one meter a lane of the informers. Handling by the lane's thread, and so are the moves
// that count: an event is handled by one thread. Take by any thread.
// Memory: two histograms a meter.
#pragma once

#include "bench/sim/real/latency_meter.h"
#include "bench/sim/real/wall_pace.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "perf/statistics/histogram.h"

namespace schedq {

class RequeueMeter {
 public:
  // `pace` outlives it.
  explicit RequeueMeter(const WallPace* pace) : pace_(*pace) {}

  // While it lives, what the calling thread requeues counts from `delivered`.
  class Handling {
   public:
    Handling(RequeueMeter* meter, Instant delivered);
    ~Handling();
    Handling(const Handling&) = delete;
    Handling& operator=(const Handling&) = delete;
  };

  // Since the last Take.
  LatencyHistogram Take() { return requeued_.Take(); }

 private:
  friend class RequeueObserver;

  const WallPace& pace_;
  LatencyMeter requeued_;
};

// Tells the meter of the calling thread, if it handles a change, of pods that leave the pool.
class RequeueObserver final : public QueueObserver {
 public:
  void OnMoved(const PodRef& pod, Place from, Place to, EventLabel label) override;
};

}  // namespace schedq
