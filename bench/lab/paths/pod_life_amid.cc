#include "bench/lab/paths/pod_life_amid.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "engine/base/result.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"

namespace schedq {
namespace {

std::vector<PodRef> MakeGatedPods(int64_t count) {
  std::vector<PodRef> pods;
  pods.reserve(static_cast<size_t>(count));
  for (const PodRef& pod : MakePods(count, ClaimUse::kNone, "gated-")) {
    auto gated = std::make_shared<Pod>(*pod);
    gated->scheduling_gates = {"example.com/wait"};
    pods.push_back(std::move(gated));
  }
  return pods;
}

}  // namespace

PodLifeAmid::PodLifeAmid(const Options& options)
    : options_(options),
      pods_(MakePods(options.pods, ClaimUse::kNone)),
      gated_(options.load == GatedLoad::kNone ? std::vector<PodRef>()
                                              : MakeGatedPods(options.gated)),
      stage_(StageOptions{.engine = options.engine}) {
  for (const PodRef& pod : gated_) MustSucceed(stage_.queue().Add(pod));
}

void PodLifeAmid::Storm(const std::atomic<bool>& is_over) {
  SchedulingQueue& queue = stage_.queue();
  for (size_t i = 0; !is_over.load(); i = (i + 1) % gated_.size()) {
    if (options_.load == GatedLoad::kReadded) {
      queue.Delete(*gated_[i]);
      MustSucceed(queue.Add(gated_[i]));
      continue;
    }
    auto after = std::make_shared<Pod>(*gated_[i]);
    after->labels = after->labels.empty() ? Labels{{"turn", "odd"}} : Labels{};
    MustSucceed(queue.Update(gated_[i], after));
    gated_[i] = std::move(after);
  }
}

void PodLifeAmid::Run() {
  SchedulingQueue& queue = stage_.queue();
  std::atomic<bool> is_over{false};
  std::thread storm;
  if (options_.load == GatedLoad::kUpdated || options_.load == GatedLoad::kReadded) {
    storm = std::thread([&] { Storm(is_over); });
  }
  for (const PodRef& pod : pods_) MustSucceed(queue.Add(pod));
  while (const std::optional<PoppedPod> popped = queue.TryPop()) {
    queue.Done(popped->key);
    ++popped_count_;
  }
  is_over.store(true);
  if (storm.joinable()) storm.join();
}

PathOutcome PodLifeAmid::Outcome() {
  PathOutcome outcome{.operations = pods_.size()};
  if (popped_count_ != pods_.size()) outcome.fault = "a pod was lost or doubled";
  if (stage_.queue().Counts().gated != gated_.size()) outcome.fault = "a gated pod is not gated";
  return outcome;
}

}  // namespace schedq
