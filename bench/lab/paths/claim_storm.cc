#include "bench/lab/paths/claim_storm.h"

#include <cstddef>

#include "engine/base/result.h"
#include "engine/queue.h"

namespace schedq {

ClaimStorm::ClaimStorm(const Options& options)
    : options_(options),
      stage_(StageOptions{.engine = options.engine, .narrows = options.narrows}),
      changes_(MakeClaimUpdates(options.pods)),
      event_(MakeEvent(Resource::kResourceClaim, Action::kUpdate)) {
  SCHEDQ_CHECK(options.events <= options.pods, "a storm has at most one event a claim");
  changes_.resize(static_cast<size_t>(options.events));
  RejectAll(stage_, MakePods(options.pods, ClaimUse::kOwnClaim),
            stage_.PluginNamed("DynamicResources"));
}

void ClaimStorm::Run() {
  SchedulingQueue& queue = stage_.queue();
  for (const ObjectChange& change : changes_) queue.Event(event_, change);
}

PathOutcome ClaimStorm::Outcome() {
  PathOutcome outcome;
  outcome.operations = changes_.size();
  outcome.pods_judged = stage_.HintsAsked("DynamicResources", event_);
  const auto left = static_cast<uint64_t>(options_.pods - options_.events);
  if (stage_.queue().Counts().unschedulable != left) {
    outcome.fault = "an event did not requeue one pod";
  }
  const uint64_t expected = options_.narrows ? outcome.operations : PodsWaiting();
  if (outcome.pods_judged != expected) outcome.fault = "other pods were judged than should be";
  return outcome;
}

uint64_t ClaimStorm::PodsWaiting() const {
  const auto pods = static_cast<uint64_t>(options_.pods);
  const auto events = static_cast<uint64_t>(options_.events);
  return pods * events - (events == 0 ? 0 : events * (events - 1) / 2);
}

}  // namespace schedq
