#include "bench/lab/paths/add_during_storm.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "bench/lab/paths/engine_stage.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "perf/statistics/histogram.h"

namespace schedq {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr SteadyClock::duration kInterval = std::chrono::milliseconds(1);
// A sleep ends late, so the last part of the wait polls the clock.
constexpr SteadyClock::duration kAwakeBefore = std::chrono::microseconds(200);

void WaitUntil(SteadyClock::time_point instant) {
  std::this_thread::sleep_until(instant - kAwakeBefore);
  while (SteadyClock::now() < instant) {
  }
}

}  // namespace

AddDuringStorm MeasureAddDuringStorm(EngineKind engine, int64_t pod_count, int64_t adds_max) {
  EngineStage stage(StageOptions{.engine = engine, .narrows = false});
  SchedulingQueue& queue = stage.queue();
  RejectAll(stage, MakePods(pod_count, ClaimUse::kOwnClaim), stage.PluginNamed("DynamicResources"));
  const std::vector<PodRef> added = MakePods(adds_max, ClaimUse::kNone, "added-");
  const std::vector<ObjectChange> changes = MakeClaimUpdates(pod_count);
  const ClusterEvent event = MakeEvent(Resource::kResourceClaim, Action::kUpdate);

  // Both flags are seq_cst: they are accessed once an event, and an event takes far longer.
  std::atomic<bool> is_over{false};
  std::atomic<bool> is_enough{false};
  uint64_t events = 0;
  std::thread storm([&] {
    for (const ObjectChange& change : changes) {
      if (is_enough.load()) break;
      queue.Event(event, change);
      ++events;
    }
    is_over.store(true);
  });
  LatencyHistogram latencies;
  SteadyClock::time_point intended = SteadyClock::now() + kInterval;
  uint64_t adds = 0;
  for (const PodRef& pod : added) {
    WaitUntil(intended);
    if (is_over.load()) break;
    MustSucceed(queue.Add(pod));
    const std::chrono::nanoseconds latency = SteadyClock::now() - intended;
    latencies.Record(static_cast<uint64_t>(latency.count()));
    ++adds;
    intended += kInterval;
  }
  is_enough.store(true);
  storm.join();

  AddDuringStorm result{.latency = LatencySummary::Of(latencies)};
  const QueueCounts counts = queue.Counts();
  if (counts.unschedulable != static_cast<uint64_t>(pod_count) - events) {
    result.fault = "an event did not requeue one pod";
  }
  // Pods may be in backoff at the end, because no ticker runs that flushes them.
  if (counts.active + counts.backoff != adds + events) result.fault = "an added pod was lost";
  if (adds == 0) result.fault = "the storm was over before the first add";
  return result;
}

}  // namespace schedq
