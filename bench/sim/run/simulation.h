// Everything that one run of a workload needs: clock, cluster, controller, scheduler, client.
//
// Purpose: one place that makes these parts, in the order in which the informers notify them. On
// the virtual clock a run starts at a fixed instant, so that equal inputs give equal bytes. On the
// real clock the same cluster, controller and client run on the calling thread at the machine's
// pace, and the scheduler on threads of its own (real_scheduler.h).
// Threads: one, the cluster's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/format/suite/object_estimate.h"
#include "bench/format/workload/device_features.h"
#include "bench/format/workload/fault.h"
#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/calls/call_settings.h"
#include "bench/sim/cluster/budget_controller.h"
#include "bench/sim/cluster/claim_controller.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/device_driver.h"
#include "bench/sim/cluster/volume_controller.h"
#include "bench/sim/measure/live_view.h"
#include "bench/sim/measure/pod_watch.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/queue/rejected_alternatives.h"
#include "bench/sim/queue/trace_recorder.h"
#include "bench/sim/run/client.h"
#include "bench/sim/run/run_progress.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/scheduler.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/gates.h"
#include "engine/object.h"
#include "hints/plugins/builtin.h"
#include "perf/documents/run_document.h"
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"

namespace schedq {

class RealScheduler;
class WallPace;

// 2026-01-01T00:00:00.3Z. The fraction makes windows of absolute time differ from seconds since the
// start.
inline constexpr Instant kRunStart{std::chrono::seconds(1767225600) +
                                   std::chrono::milliseconds(300)};

struct RunOptions {
  EngineKind engine = EngineKind::kLockfree;
  ClockKind clock = ClockKind::kVirtual;
  int scheduling_threads = 1;  // On the real clock; on the virtual one there is one.
  const CostModel* costs = nullptr;
  uint64_t seed = 0;
  Gates gates;
  DeviceFeatures devices;
  StatusModel status_model = StatusModel::kImplicitDelayed;
  CallSettings calls = {};                    // On the virtual clock.
  std::vector<Fault> faults;                  // From the run's start.
  TraceRecorder* recorder = nullptr;          // May be null, and is on the real clock.
  RejectedAlternatives alternatives;          // Must be empty with a recorder.
  QueueMaker make_queue;                      // Empty: the plain engine.
  std::vector<PluginSource> further_plugins;  // Plugins beside the built-in ones.
  PlacingPluginSource placing_plugins = BuiltinPlacingPlugins;
  uint64_t objects_max = kObjectCountMax;  // What a workload may hold at once.
  // How long churns and steady states go on; 0: as long as the workload says.
  Duration duration{};
  // What goes on by itself goes on for this time after the last operation, and is counted.
  Duration tail{};
  // Polled during the run; true ends it early. May be empty.
  std::function<bool()> interrupted;
  // Called from time to time. May be empty.
  std::function<void(const RunProgress&)> progress;
  // Of all pods of the workload.
  PodRulesUse pod_rules = PodRulesUse::kSome;
  // What each node declares, and each pod with resources of its own needs; null: what is real.
  std::shared_ptr<const FeatureNames> node_features = nullptr;
  LiveView* live = nullptr;  // Shows the run on the real clock while it goes on. May be null.
};

enum class WaitResult : uint8_t { kDone, kTimeout, kInterrupted };

class Simulation {
 public:
  Simulation(const RunOptions& options, const SchedulerSettings& settings);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Lets the run's time pass until `done` returns true, but at most for `limit`. Ends early, with
  // kTimeout, where IsFull().
  WaitResult Wait(const std::function<bool()>& done, Duration limit);

  // Whether there are more objects than a workload may have.
  bool IsFull() const { return cluster_.object_count() > options_.objects_max; }
  uint64_t objects_max() const { return options_.objects_max; }
  Duration duration() const { return options_.duration; }
  const Gates& gates() const { return options_.gates; }

  Duration elapsed() const { return clock_.Now() - start_; }
  // The present of the run's clock: on the real clock the machine's, also while a timer runs late.
  Instant Now() const;
  VirtualClock& clock() { return clock_; }
  Cluster& cluster() { return cluster_; }
  Scheduler& scheduler() { return *scheduler_; }
  // Null on the virtual clock, as is the pace.
  RealScheduler* real_scheduler() { return real_scheduler_; }
  const WallPace* pace() const { return pace_.get(); }
  PodWatch& pods() { return pods_; }
  Client& client() { return client_; }
  const Client& client() const { return client_; }
  const CostModel& costs() const { return *options_.costs; }
  const std::shared_ptr<const FeatureNames>& node_features() const {
    return options_.node_features;
  }
  Random& random() { return random_; }

 private:
  std::unique_ptr<Scheduler> MakeScheduler(const SchedulerSettings& settings);
  RunProgress Progress() const;
  // Of the next call of a controller.
  Duration ControllerLatency();
  // RunUntil of the run's clock.
  bool RunUntil(const std::function<bool()>& done, Instant deadline);

  const RunOptions options_;
  const Random seed_;
  Random random_;
  Random controller_random_;
  const std::unique_ptr<WallPace> pace_;  // Null on the virtual clock.
  const Instant start_;
  VirtualClock clock_{start_};
  Cluster cluster_;
  ClaimController controller_;
  VolumeController volume_controller_;
  Random driver_random_;
  DeviceDriver driver_;
  BudgetController budget_controller_;
  RealScheduler* real_scheduler_ = nullptr;  // The scheduler, on the real clock.
  const std::unique_ptr<Scheduler> scheduler_;
  const LiveView::Shown shown_;
  PodWatch pods_;
  Client client_;
};

}  // namespace schedq
