#include "bench/lab/paths/producer_consumer.h"

#include <chrono>
#include <optional>
#include <thread>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"

namespace schedq {

ProducerConsumer::ProducerConsumer(EngineKind engine, int64_t pod_count)
    : pods_(MakePods(pod_count, ClaimUse::kNone)),
      stage_(StageOptions{.engine = engine}),
      is_popped_(pods_.size()) {}

void ProducerConsumer::Run() {
  SchedulingQueue& queue = stage_.queue();
  std::thread producer([&] {
    for (const PodRef& pod : pods_) MustSucceed(queue.Add(pod));
  });
  // The time limit ends the path if the queue lost a pod.
  constexpr Duration kPopTimeMax = std::chrono::seconds(10);
  while (popped_count_ < pods_.size()) {
    const std::optional<PoppedPod> popped = queue.Pop(kPopTimeMax);
    if (!popped) break;
    queue.Done(popped->key);
    ++popped_count_;
    if (popped->key.id < is_popped_.size()) is_popped_[popped->key.id] = true;
  }
  producer.join();
}

PathOutcome ProducerConsumer::Outcome() {
  PathOutcome outcome{.operations = pods_.size()};
  uint64_t different = 0;
  for (const bool is_popped : is_popped_) different += is_popped ? 1 : 0;
  if (popped_count_ != pods_.size()) outcome.fault = "a pod was lost";
  if (different != pods_.size()) outcome.fault = "a pod was popped twice";
  return outcome;
}

}  // namespace schedq
