#include "bench/sim/run/simulation.h"

#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/real/real_scheduler.h"
#include "bench/sim/real/wall_pace.h"
#include "bench/sim/scheduler/scheduler_loop.h"
#include "engine/backoff.h"

namespace schedq {
namespace {

// Each part that draws has its own stream of random numbers, so that none affects another.
enum Stream : uint64_t { kWorkload, kController, kScheduler, kClient, kDriver, kFaults };

// Between two calls of RunOptions::progress and RunOptions::interrupted: on the virtual clock so
// many timers, on the real one so long.
constexpr uint64_t kTimersPerPoll = 1024;
constexpr Duration kPollInterval = std::chrono::milliseconds(50);

ClusterOptions OptionsOfCluster(Clock* clock, const RunOptions& options, const Random& random) {
  ClusterOptions cluster;
  cluster.clock = clock;
  cluster.informer_delay = options.costs->informer_delay;
  cluster.devices = options.devices;
  cluster.fault_random = random;
  cluster.clears_nomination_at_bind =
      options.gates.On(Gate::kClearingNominatedNodeNameAfterBinding);
  cluster.delivers_at_once =
      options.clock == ClockKind::kReal && options.costs->informer_delay == Duration(0);
  cluster.needed_features = options.node_features;
  if (options.clock == ClockKind::kVirtual) {
    cluster.processors = {options.costs->call_work, options.costs->processors};
  }
  return cluster;
}

// A gate that is off turns its part off in every profile.
SchedulerSettings WithGates(SchedulerSettings settings, const Gates& gates) {
  for (SchedulerProfile& profile : settings.profiles) {
    profile.shares_searches = gates.On(Gate::kOpportunisticBatching);
    if (gates.On(Gate::kNodeDeclaredFeatures)) continue;
    profile.plugins["NodeDeclaredFeatures"].is_off.fill(true);
  }
  return settings;
}

BackoffPolicy BackoffOf(const SchedulerSettings& settings) {
  BackoffPolicy backoff;
  backoff.initial = settings.pod_initial_backoff.value_or(backoff.initial);
  backoff.maximum = settings.pod_max_backoff.value_or(backoff.maximum);
  return backoff;
}

SchedulerLoopOptions OptionsOfLoop(Cluster* cluster, const RunOptions& options,
                                   const SchedulerSettings& settings, const Random& random) {
  SchedulerLoopOptions loop;
  loop.cluster = cluster;
  loop.costs = options.costs;
  loop.status_model = options.status_model;
  loop.calls = options.calls;
  loop.random = random;
  loop.queue.engine = options.engine;
  loop.queue.gates = options.gates;
  loop.queue.backoff = BackoffOf(settings);
  loop.queue.recorder = options.recorder;
  loop.queue.alternatives = options.alternatives;
  loop.queue.make_queue = options.make_queue;
  loop.queue.further_plugins = options.further_plugins;
  loop.queue.pod_rules = options.pod_rules;
  loop.placing_plugins = options.placing_plugins;
  loop.devices = options.devices;
  loop.settings = settings;
  loop.queue.settings = settings;
  return loop;
}

RealSchedulerOptions OptionsOfRealScheduler(Cluster* cluster, WallPace* pace,
                                            const RunOptions& options,
                                            const SchedulerSettings& settings,
                                            const Random& random) {
  RealSchedulerOptions real;
  real.cluster = cluster;
  real.pace = pace;
  real.costs = options.costs;
  real.engine = options.engine;
  real.scheduling_threads = options.scheduling_threads;
  real.gates = options.gates;
  real.backoff = BackoffOf(settings);
  real.status_model = options.status_model;
  real.random = random;
  real.further_plugins = options.further_plugins;
  real.pod_rules = options.pod_rules;
  real.settings = settings;
  real.placing_plugins = options.placing_plugins;
  real.devices = options.devices;
  real.make_queue = options.make_queue;
  return real;
}

}  // namespace

Simulation::Simulation(const RunOptions& options, const SchedulerSettings& settings)
    : options_(options),
      seed_(options.seed),
      random_(seed_.Fork(kWorkload)),
      controller_random_(seed_.Fork(kController)),
      pace_(options.clock == ClockKind::kReal ? std::make_unique<WallPace>() : nullptr),
      start_(pace_ != nullptr ? pace_->Now() : kRunStart),
      cluster_(OptionsOfCluster(&clock_, options, seed_.Fork(kFaults))),
      controller_(&cluster_,
                  {options.costs->claim_workers, [this] { return ControllerLatency(); }}),
      volume_controller_(&cluster_, options.costs->claim_workers,
                         [this] { return ControllerLatency(); }),
      driver_random_(seed_.Fork(kDriver)),
      driver_(&cluster_,
              [this] {
                return cluster_.processors().BeginCall() + costs().status.Draw(&driver_random_);
              }),
      budget_controller_(&cluster_, options.costs->claim_workers,
                         [this] { return costs().create.Draw(&controller_random_); }),
      scheduler_(MakeScheduler(WithGates(settings, options.gates))),
      shown_(real_scheduler_ != nullptr ? options.live : nullptr, real_scheduler_, pace_.get()),
      pods_(&cluster_),
      client_(&cluster_, *options.costs, seed_.Fork(kClient)) {
  for (const Fault& fault : options.faults) cluster_.faults().Begin(fault);
}

Simulation::~Simulation() = default;

Duration Simulation::ControllerLatency() {
  return cluster_.processors().BeginCall() + costs().create.Draw(&controller_random_) +
         cluster_.faults().ControllerDelay();
}

RunProgress Simulation::Progress() const {
  RunProgress progress{.elapsed = elapsed(), .bound = pods_.bound(), .queue = {}};
  if (real_scheduler_ != nullptr) progress.queue = real_scheduler_->queue().Counts();
  return progress;
}

Instant Simulation::Now() const { return pace_ != nullptr ? pace_->Now() : clock_.Now(); }

std::unique_ptr<Scheduler> Simulation::MakeScheduler(const SchedulerSettings& settings) {
  const Random random = seed_.Fork(kScheduler);
  if (pace_ == nullptr) {
    return std::make_unique<SchedulerLoop>(OptionsOfLoop(&cluster_, options_, settings, random));
  }
  auto real = std::make_unique<RealScheduler>(
      OptionsOfRealScheduler(&cluster_, pace_.get(), options_, settings, random));
  real_scheduler_ = real.get();
  return real;
}

bool Simulation::RunUntil(const std::function<bool()>& done, Instant deadline) {
  if (pace_ != nullptr) return pace_->RunUntil(&clock_, done, deadline);
  const bool is_done = clock_.RunUntil(done, deadline);
  if (!is_done) clock_.AdvanceTo(deadline);
  return is_done;
}

WaitResult Simulation::Wait(const std::function<bool()>& done, Duration limit) {
  WaitResult result = WaitResult::kTimeout;
  uint64_t timers = 0;
  Instant next_poll = Now() + kPollInterval;
  const auto polls_now = [&] {
    if (pace_ == nullptr) return ++timers % kTimersPerPoll == 0;
    if (pace_->Now() < next_poll) return false;
    next_poll = pace_->Now() + kPollInterval;
    return true;
  };
  const auto ends = [&] {
    if (done()) {
      result = WaitResult::kDone;
      return true;
    }
    if (IsFull()) return true;
    if (!polls_now()) return false;
    if (options_.progress) options_.progress(Progress());
    if (!options_.interrupted || !options_.interrupted()) return false;
    result = WaitResult::kInterrupted;
    return true;
  };
  RunUntil(ends, Now() + limit);
  return result;
}

}  // namespace schedq
