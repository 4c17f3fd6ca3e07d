#include "bench/lab/paths/backoff_paths.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queue_answers.h"

namespace schedq {
namespace {

constexpr Duration kSpread = std::chrono::seconds(10);
// The start is no multiple of a window, as on real clocks.
constexpr Instant kStart{std::chrono::seconds(1'800'000'000) + std::chrono::milliseconds(300)};
// Flushes a second apart: the last pod fails after ten of them, its backoff takes one, its window
// may end one later, and the last flush comes behind it.
constexpr int kFlushes = 13;

}  // namespace

BackoffStage::BackoffStage(const BackoffOptions& options)
    : clock_(kStart),
      stage_(StageOptions{.engine = options.engine,
                          .pops_from_backoff = options.pops_from_backoff,
                          .clock = &clock_}),
      rejector_(stage_.PluginNamed("NodeResourcesFit")),
      event_(MakeEvent(Resource::kNode, Action::kAdd)),
      pods_(static_cast<uint64_t>(options.pods)) {
  for (const PodRef& pod : MakePods(options.pods, ClaimUse::kNone)) {
    MustSucceed(stage_.assembled->PodAdded(pod));
  }
  auto node = std::make_shared<ObjectView>();
  node->resource = Resource::kNode;
  node->name = "node";
  change_ = ObjectChange{nullptr, std::move(node)};
}

void BackoffStage::FailAll() {
  const Duration step = kSpread / static_cast<int64_t>(pods_);
  for (uint64_t pod = 0; pod < pods_; ++pod) {
    const PodKey key = queue().TryPop()->key;
    queue().Event(event_, change_);
    static_cast<void>(queue().Fail(key, rejector_, PluginSet()));
    clock_.AdvanceBy(step);
  }
}

uint64_t BackoffStage::PodsJudged() const { return stage_.HintsAsked("NodeResourcesFit", event_); }

PathOutcome BackoffInsert::Outcome() {
  PathOutcome outcome{.operations = stage_.pods(), .pods_judged = stage_.PodsJudged()};
  if (stage_.queue().Counts().backoff != stage_.pods()) {
    outcome.fault = "a failed pod is not in backoff";
  }
  if (outcome.pods_judged != stage_.pods()) outcome.fault = "a pod was not judged once";
  return outcome;
}

void BackoffFlush::Run() {
  for (int flush = 0; flush < kFlushes; ++flush) {
    const uint64_t before = stage_.queue().Counts().backoff;
    stage_.queue().FlushBackoff();
    flushes_that_moved_ += stage_.queue().Counts().backoff < before ? 1 : 0;
    stage_.clock().AdvanceBy(kSecond);
  }
}

PathOutcome BackoffFlush::Outcome() {
  PathOutcome outcome{.operations = stage_.pods()};
  const QueueCounts counts = stage_.queue().Counts();
  if (counts.active != stage_.pods() || counts.backoff != 0) {
    outcome.fault = "a flushed pod is not in active";
  }
  if (flushes_that_moved_ < 2) outcome.fault = "all pods were in one window";
  return outcome;
}

void BackoffPop::Run() {
  Instant previous = Instant::min();
  while (const std::optional<PoppedPod> popped = stage_.queue().TryPop()) {
    // The popped fields are those of the failed attempt, whose timestamp gives the window.
    const Instant window = TruncateToSecond(popped->fields.timestamp);
    is_in_order_ = is_in_order_ && window >= previous;
    previous = window;
    ++popped_count_;
  }
}

PathOutcome BackoffPop::Outcome() {
  PathOutcome outcome{.operations = stage_.pods()};
  if (popped_count_ != stage_.pods()) outcome.fault = "a pod was lost or doubled";
  if (!is_in_order_) outcome.fault = "a pod came before one of an earlier window";
  return outcome;
}

}  // namespace schedq
