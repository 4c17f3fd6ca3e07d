// The processors that the API server shares with the scheduling thread, on the virtual clock.
//
// Purpose: scheduler, API server and store run on one machine, as in kube-scheduler's own
// benchmark. Calls are worked on in the order in which they come, and wait where all processors
// have work; an attempt takes longer while calls are worked on.
// Shares: the scheduler and the API server are one process, the store is another. Each runs as many
// goroutines at a time as there are processors, and the scheduling thread is one of these. So
// beside waiting calls it has half a processor, and the calls have the rest.
// Nodes: kube-scheduler looks at up to 16 nodes side by side. API server and store keep one
// processor, so that of two processors one is left for nodes, and of many all others.
// When not to use it: on the real clock, whose machine has its own processors.
// Threads: one, the one that advances the clock. Memory: constant.
#pragma once

#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"

namespace schedq {

struct ProcessorOptions {
  Duration call_work{};  // Of one call, on a processor. 0: nothing is shared.
  int count = 1;
};

class Processors {
 public:
  Processors(const Clock* clock, const ProcessorOptions& options)
      : clock_(*clock), options_(options) {}

  // A call begins. Returns how long it waits for a processor, beside its own latency.
  Duration BeginCall();
  // The scheduling thread begins this much work, and this much that is split by nodes. Returns how
  // long it takes for both.
  Duration BeginWork(Duration work, Duration of_nodes = {});
  // Another of the scheduler's threads begins this much work, for which calls wait as for one of
  // theirs. Returns how long it takes.
  Duration BeginHandling(Duration work);

 private:
  // Side by side, of the goroutines that look at nodes.
  int Helpers() const;
  Duration TimeOf(Duration work) const;
  // How much work begun calls have left until all are worked on.
  Duration Backlog() const;

  const Clock& clock_;
  const ProcessorOptions options_;
  Instant calls_end_{};   // When the calls that have begun are worked on.
  Instant thread_end_{};  // When the scheduling thread's work ends.
};

}  // namespace schedq
