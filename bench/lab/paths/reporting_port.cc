#include "bench/lab/paths/reporting_port.h"

#include <atomic>
#include <memory>
#include <utility>

#include "engine/base/result.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/lockfree/queue_shape.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"

namespace schedq {
namespace {

// One file compiles both engines, so that they differ in nothing else.
template <bool kIsCompiledIn>
struct PortShape : LockfreeQueueShape {
  static constexpr bool kMayBeObserved = kIsCompiledIn;
};

template <bool kIsCompiledIn>
std::unique_ptr<SchedulingQueue> MakeWith(QueueOptions options) {
  return std::make_unique<BasicLockfreeQueue<std::atomic, PortShape<kIsCompiledIn>>>(
      std::move(options));
}

StageOptions StageOf(const UnobservedAdds& adds) {
  StageOptions options;
  options.observers = adds.observers;
  const bool is_compiled_in = adds.port == ReportingPort::kCompiledIn;
  options.make_queue = is_compiled_in ? MakeWith<true> : MakeWith<false>;
  return options;
}

std::vector<PodRef> PodsOf(const UnobservedAdds& adds) {
  std::vector<PodRef> pods = MakePods(adds.pods, ClaimUse::kNone);
  if (!adds.are_gated) return pods;
  for (PodRef& pod : pods) {
    auto gated = std::make_shared<Pod>(*pod);
    gated->scheduling_gates = {"gate"};
    pod = std::move(gated);
  }
  return pods;
}

}  // namespace

AddUnobserved::AddUnobserved(const UnobservedAdds& adds)
    : are_gated_(adds.are_gated), pods_(PodsOf(adds)), stage_(StageOf(adds)) {}

void AddUnobserved::Run() {
  SchedulingQueue& queue = stage_.queue();
  for (const PodRef& pod : pods_) MustSucceed(queue.Add(pod));
}

PathOutcome AddUnobserved::Outcome() {
  PathOutcome outcome{.operations = pods_.size()};
  const QueueCounts counts = stage_.queue().Counts();
  if ((are_gated_ ? counts.gated : counts.active) != pods_.size()) {
    outcome.fault = "a pod is not where it should be";
  }
  return outcome;
}

}  // namespace schedq
