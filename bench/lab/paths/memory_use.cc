#include "bench/lab/paths/memory_use.h"

#include <vector>

#include "bench/allocation_meter.h"
#include "bench/lab/paths/engine_stage.h"
#include "engine/base/result.h"
#include "engine/pod.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "hints/world.h"  // IWYU pragma: keep

namespace schedq {
namespace {

// Adds, pops and binds every pod.
void RunPodLives(SchedulingQueue& queue, const std::vector<PodRef>& pods) {
  for (const PodRef& pod : pods) MustSucceed(queue.Add(pod));
  while (const std::optional<PoppedPod> popped = queue.TryPop()) queue.Bind(popped->key);
}

}  // namespace

std::optional<double> MeasureBytesPerPod(EngineKind engine, int64_t pod_count) {
  const std::vector<PodRef> pods = MakePods(pod_count, ClaimUse::kOwnClaim);
  EngineStage stage(StageOptions{.engine = engine});
  for (const PodRef& pod : pods) {
    stage.assembled->world().ClaimSeen(pod->namespace_name, pod->claims.front());
  }
  const std::optional<double> before = BytesInUse();
  for (const PodRef& pod : pods) {
    MustSucceed(stage.assembled->PodAdded(pod));
  }
  const std::optional<double> after = BytesInUse();
  SCHEDQ_CHECK(stage.queue().Counts().active == pods.size(), "every pod is queued");
  if (!before || !after) return std::nullopt;
  return (*after - *before) / static_cast<double>(pod_count);
}

std::optional<double> MeasureAllocationsPerOperation(EngineKind engine, int64_t pod_count) {
  const std::vector<PodRef> pods = MakePods(pod_count, ClaimUse::kNone);
  EngineStage stage(StageOptions{.engine = engine});
  RunPodLives(stage.queue(), pods);
  const AllocationMeter meter;
  RunPodLives(stage.queue(), pods);
  const std::optional<Allocations> taken = meter.SinceStart();
  SCHEDQ_CHECK(stage.queue().SchedulingCycle() == 2 * pods.size(), "every pod was popped twice");
  if (!taken) return std::nullopt;
  constexpr double kOperationsPerPod = 3;
  return taken->requests / (kOperationsPerPod * static_cast<double>(pod_count));
}

}  // namespace schedq
