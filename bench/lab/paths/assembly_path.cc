#include "bench/lab/paths/assembly_path.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "engine/base/result.h"
#include "hints/world.h"

namespace schedq {

std::string_view QueueOperationName(QueueOperation operation) {
  constexpr std::string_view kNames[] = {"add", "pop", "fail", "event"};
  return kNames[static_cast<size_t>(operation)];
}

AssemblyPath::AssemblyPath(Wiring wiring, QueueOperation operation, int64_t pods)
    : is_by_hand_(wiring == Wiring::kByHand),
      operation_(operation),
      pods_(MakePods(pods, ClaimUse::kOwnClaim)),
      event_(MakeEvent(Resource::kResourceClaim, Action::kUpdate)),
      stage_(StageOptions{}),
      rejector_(stage_.PluginNamed("DynamicResources")) {
  popped_.reserve(pods_.size());
  attempts_.reserve(pods_.size());
  if (operation_ == QueueOperation::kEvent) {
    changes_ = MakeClaimUpdates(pods);
    RejectAll(stage_, pods_, rejector_);
    return;
  }
  for (const PodRef& pod : pods_) {
    stage_.assembled->world().ClaimSeen(pod->namespace_name, pod->claims.front());
  }
  if (operation_ != QueueOperation::kAdd) Add();
  if (operation_ == QueueOperation::kFail) Pop();
}

void AssemblyPath::Run() {
  switch (operation_) {
    case QueueOperation::kAdd:
      return Add();
    case QueueOperation::kPop:
      return Pop();
    case QueueOperation::kFail:
      return Fail();
    case QueueOperation::kEvent:
      return SendEvents();
  }
}

void AssemblyPath::Add() {
  if (!is_by_hand_) {
    for (const PodRef& pod : pods_) MustSucceed(stage_.assembled->PodAdded(pod));
    return;
  }
  World& world = stage_.assembled->world();
  for (const PodRef& pod : pods_) {
    world.PodChanged(nullptr, pod.get());
    MustSucceed(stage_.queue().Add(pod));
  }
}

void AssemblyPath::Pop() {
  if (!is_by_hand_) {
    while (std::optional<Attempt> attempt = stage_.assembled->TryPop()) {
      attempts_.push_back(std::move(*attempt));
    }
    return;
  }
  while (std::optional<PoppedPod> popped = stage_.queue().TryPop()) {
    popped_.push_back(std::move(*popped));
  }
}

void AssemblyPath::Fail() {
  for (Attempt& attempt : attempts_) static_cast<void>(attempt.Fail(rejector_));
  for (const PoppedPod& popped : popped_) {
    static_cast<void>(stage_.queue().Fail(popped.key, rejector_, PluginSet()));
  }
}

void AssemblyPath::SendEvents() {
  if (!is_by_hand_) {
    for (const ObjectChange& change : changes_) stage_.assembled->Event(event_, change);
    return;
  }
  World& world = stage_.assembled->world();
  for (const ObjectChange& change : changes_) {
    world.ClaimSeen(change.after->namespace_name, change.after->name);
    stage_.queue().Event(event_, change);
  }
}

PathOutcome AssemblyPath::Outcome() {
  PathOutcome outcome{.operations = pods_.size()};
  const QueueCounts counts = stage_.queue().Counts();
  uint64_t found = 0;
  switch (operation_) {
    case QueueOperation::kAdd:
      found = counts.active;
      break;
    case QueueOperation::kPop:
      found = counts.in_flight;
      break;
    case QueueOperation::kFail:
      found = counts.unschedulable;
      break;
    case QueueOperation::kEvent:
      found = counts.active + counts.backoff;
      break;
  }
  if (found != pods_.size()) outcome.fault = "a pod is not where the operation puts it";
  return outcome;
}

}  // namespace schedq
