// Everything that one run of a workload needs: clock, cluster, controller, scheduler, client.
//
// Purpose: one place that makes these parts, in the order in which the informers notify them. A run
// starts at a fixed instant, so that equal inputs give equal bytes.
// Threads: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/format/suite/object_estimate.h"
#include "bench/format/workload/model.h"
#include "bench/sim/cluster/claim_controller.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/measure/pod_watch.h"
#include "bench/sim/queue/rejected_alternatives.h"
#include "bench/sim/queue/trace_recorder.h"
#include "bench/sim/run/client.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/scheduler_loop.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/gates.h"
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"

namespace schedq {

// 2026-01-01T00:00:00.3Z. The fraction makes windows of absolute time differ from seconds since the
// start.
inline constexpr Instant kRunStart{std::chrono::seconds(1767225600) +
                                   std::chrono::milliseconds(300)};

struct RunOptions {
  EngineKind engine = EngineKind::kLockfree;
  const CostModel* costs = nullptr;
  uint64_t seed = 0;
  Gates gates;
  StatusModel status_model = StatusModel::kImplicitDelayed;
  TraceRecorder* recorder = nullptr;          // May be null.
  RejectedAlternatives alternatives;          // Must be empty with a recorder.
  QueueMaker make_queue;                      // Empty: the plain engine.
  std::vector<PluginSource> further_plugins;  // Plugins beside the built-in ones.
  uint64_t objects_max = kObjectCountMax;     // What a workload may hold at once.
  // Polled during the run; true ends it early. May be empty.
  std::function<bool()> interrupted;
  // Called from time to time with the virtual time since the start. May be empty.
  std::function<void(Duration elapsed)> progress;
};

enum class WaitResult : uint8_t { kDone, kTimeout, kInterrupted };

class Simulation {
 public:
  Simulation(const RunOptions& options, const SchedulerSettings& settings);

  // Lets virtual time pass until `done` returns true, but at most for `limit`. Ends early, with
  // kTimeout, where IsFull().
  WaitResult Wait(const std::function<bool()>& done, Duration limit);

  // Whether there are more objects than a workload may have.
  bool IsFull() const { return cluster_.object_count() > options_.objects_max; }
  uint64_t objects_max() const { return options_.objects_max; }

  Duration elapsed() const { return clock_.Now() - kRunStart; }
  VirtualClock& clock() { return clock_; }
  Cluster& cluster() { return cluster_; }
  SchedulerLoop& scheduler() { return scheduler_; }
  PodWatch& pods() { return pods_; }
  Client& client() { return client_; }
  const CostModel& costs() const { return *options_.costs; }
  Random& random() { return random_; }

 private:
  const RunOptions options_;
  const Random seed_;
  Random random_;
  Random controller_random_;
  VirtualClock clock_{kRunStart};
  Cluster cluster_;
  ClaimController controller_;
  SchedulerLoop scheduler_;
  PodWatch pods_;
  Client client_;
};

}  // namespace schedq
