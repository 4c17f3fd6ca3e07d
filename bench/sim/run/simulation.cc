#include "bench/sim/run/simulation.h"

namespace schedq {
namespace {

// Each part that draws has its own stream of random numbers, so that none affects another.
enum Stream : uint64_t { kWorkload, kController, kScheduler, kClient };

// The number of timers between two calls of RunOptions::progress and RunOptions::interrupted.
constexpr uint64_t kTimersPerPoll = 1024;

ClusterOptions OptionsOfCluster(Clock* clock, const RunOptions& options) {
  ClusterOptions cluster;
  cluster.clock = clock;
  cluster.informer_delay = options.costs->informer_delay;
  cluster.clears_nomination_at_bind =
      options.gates.On(Gate::kClearingNominatedNodeNameAfterBinding);
  return cluster;
}

SchedulerLoopOptions OptionsOfLoop(Cluster* cluster, const RunOptions& options,
                                   const SchedulerSettings& settings, const Random& random) {
  SchedulerLoopOptions loop;
  loop.cluster = cluster;
  loop.costs = options.costs;
  loop.status_model = options.status_model;
  loop.random = random;
  loop.queue.engine = options.engine;
  loop.queue.gates = options.gates;
  loop.queue.backoff.initial = settings.pod_initial_backoff.value_or(loop.queue.backoff.initial);
  loop.queue.backoff.maximum = settings.pod_max_backoff.value_or(loop.queue.backoff.maximum);
  loop.queue.recorder = options.recorder;
  loop.queue.alternatives = options.alternatives;
  loop.queue.make_queue = options.make_queue;
  loop.queue.further_plugins = options.further_plugins;
  return loop;
}

}  // namespace

Simulation::Simulation(const RunOptions& options, const SchedulerSettings& settings)
    : options_(options),
      seed_(options.seed),
      random_(seed_.Fork(kWorkload)),
      controller_random_(seed_.Fork(kController)),
      cluster_(OptionsOfCluster(&clock_, options)),
      controller_(&cluster_, {options.costs->claim_workers,
                              [this] { return costs().create.Draw(&controller_random_); }}),
      scheduler_(OptionsOfLoop(&cluster_, options, settings, seed_.Fork(kScheduler))),
      pods_(&cluster_),
      client_(&clock_, *options.costs, seed_.Fork(kClient)) {}

WaitResult Simulation::Wait(const std::function<bool()>& done, Duration limit) {
  WaitResult result = WaitResult::kTimeout;
  uint64_t timers = 0;
  const auto ends = [&] {
    if (done()) {
      result = WaitResult::kDone;
      return true;
    }
    if (IsFull()) return true;
    if (++timers % kTimersPerPoll != 0) return false;
    if (options_.progress) options_.progress(elapsed());
    if (!options_.interrupted || !options_.interrupted()) return false;
    result = WaitResult::kInterrupted;
    return true;
  };
  const Instant deadline = clock_.Now() + limit;
  if (!clock_.RunUntil(ends, deadline)) clock_.AdvanceTo(deadline);
  return result;
}

}  // namespace schedq
