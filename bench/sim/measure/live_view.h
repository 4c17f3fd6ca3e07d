// What can be seen of a run on the real clock while it goes on.
//
// Purpose: the metrics of the scheduler that runs, and where its pods are. Runs come and go; the
// view stays.
// Threads: Announce and Shown by the cluster's thread; the rest from any thread. Both sides meet at
// one lock, so the end of a run waits for a text that is being made.
// Cost: nothing until somebody asks; then a look at each queued pod.
// Memory: none but the texts.
#pragma once

#include <mutex>
#include <string>

#include "engine/base/time/time.h"

namespace schedq {

class RealScheduler;
class WallPace;

class LiveView {
 public:
  // Shows a run while it lives; one at a time.
  class Shown {
   public:
    // All outlive it. `view` may be null.
    Shown(LiveView* view, RealScheduler* scheduler, const WallPace* pace);
    ~Shown();
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;

   private:
    LiveView* const view_;
  };

  // What is said of the run that begins next.
  void Announce(const std::string& workload, const std::string& engine);

  // In Prometheus' text form; empty while nothing runs.
  std::string MetricsText() const;
  // One JSON object: the workload, the engine, seconds since the start, pods by place with the
  // oldest of each, and the API calls that have not ended. While nothing runs, only that.
  std::string StateText() const;

 private:
  mutable std::mutex mutex_;  // Guards all members.
  std::string workload_;
  std::string engine_;
  RealScheduler* scheduler_ = nullptr;
  const WallPace* pace_ = nullptr;
  Instant started_{};
};

}  // namespace schedq
