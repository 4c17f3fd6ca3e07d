#include "bench/lab/paths/pod_life.h"

#include <limits>
#include <optional>

#include "engine/base/result.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"

namespace schedq {

PodLife::PodLife(EngineKind engine, int64_t pod_count)
    : pods_(MakePods(pod_count, ClaimUse::kNone)), stage_(StageOptions{.engine = engine}) {}

void PodLife::Run() {
  SchedulingQueue& queue = stage_.queue();
  for (const PodRef& pod : pods_) MustSucceed(queue.Add(pod));
  int32_t previous_priority = std::numeric_limits<int32_t>::max();
  while (const std::optional<PoppedPod> popped = queue.TryPop()) {
    is_in_order_ = is_in_order_ && popped->pod->priority <= previous_priority;
    previous_priority = popped->pod->priority;
    queue.Done(popped->key);
    ++popped_count_;
  }
}

PathOutcome PodLife::Outcome() {
  PathOutcome outcome{.operations = pods_.size()};
  if (popped_count_ != pods_.size()) outcome.fault = "a pod was lost or doubled";
  if (!is_in_order_) outcome.fault = "a pod came before one of higher priority";
  return outcome;
}

}  // namespace schedq
