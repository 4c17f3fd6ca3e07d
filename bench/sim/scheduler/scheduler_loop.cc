#include "bench/sim/scheduler/scheduler_loop.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "bench/sim/placing/pre_bind.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/pod_key.h"
#include "engine/queueing_fields.h"
#include "schedq/cluster_events.h"

namespace schedq {
namespace {

QueueDriverOptions Complete(QueueDriverOptions options, Clock* clock, const CostModel& costs,
                            PodCalls* calls) {
  options.clock = clock;
  options.judge_cost = costs.queue_judge;
  options.api_calls = calls->ApiCallsWanted();
  return options;
}

}  // namespace

SchedulerLoop::SchedulerLoop(const SchedulerLoopOptions& options)
    : cluster_(options.cluster),
      costs_(*options.costs),
      random_(options.random),
      clock_(cluster_->clock()),
      lock_(&clock_),
      calls_(MakePodCalls({.cluster = cluster_,
                           .costs = &costs_,
                           .gates = options.queue.gates,
                           .status_model = options.status_model,
                           .random = &random_,
                           .metrics = metrics_.shared_registry()})),
      queue_(Complete(options.queue, &clock_, costs_, calls_.get())),
      handlers_(&queue_, &cache_, &lock_, costs_, &metrics_) {
  calls_->Attach(queue_.api_calls());
  queue_.SetWakeUp([this] { WakeUp(); });
  cluster_->Watch([this](const ClusterChange& change) {
    if (const ClusterPodRef& pod = change.pod_after; pod != nullptr) {
      if (const PodKey key = queue_.queue().KeyOf(*pod); key.id != kNoPod)
        calls_->OnNewVersion(key, pod);
    }
    handlers_.OnChange(change);
  });
}

bool SchedulerLoop::Knows(const ClusterPod& pod) const {
  if (cache_.IsAssumed(pod.slot())) return true;
  const std::string name = QualifiedName(pod.namespace_name, pod.name);
  return queue_.queue().Where(name).place != Place::kAbsent;
}

void SchedulerLoop::After(Duration delay, std::function<void()> action) {
  clock_.At(clock_.Now() + delay, std::move(action));
}

// Pops only if there may be a pod, so that an idle scheduling thread takes no time.
void SchedulerLoop::WakeUp() {
  if (is_scheduling_ || !queue_.MayPop()) return;
  is_scheduling_ = true;
  queue_.watch().SetIdle(false);
  After(Duration(0), [this] { PopNext(); });
}

void SchedulerLoop::PopNext() {
  auto attempt = std::make_shared<Attempt>();
  auto found = std::make_shared<bool>(false);
  lock_.Run(
      [this, attempt, found] {
        if (!queue_.MayPop()) return Duration(0);
        std::optional<PoppedPod> popped = queue_.Pop();
        if (!popped) return Duration(0);
        *found = true;
        attempt->popped = std::move(*popped);
        attempt->started = clock_.Now();
        return costs_.queue_pop;
      },
      [this, attempt, found] {
        if (*found) return Start(attempt);
        is_scheduling_ = false;
        queue_.watch().SetIdle(true);
        WakeUp();
      });
}

void SchedulerLoop::Start(const AttemptRef& attempt) {
  if (attempt->pod().deleting) {
    lock_.Run(
        [this, attempt] {
          queue_.Abandon(attempt->popped);
          return costs_.queue_done;
        },
        [this] { PopNext(); });
    return;
  }
  attempt->decision = placer_.Decide(attempt->pod());
  const Decision& decision = attempt->decision;
  if (!decision.node.empty()) {
    const bool is_assumed = cache_.Assume(attempt->pod(), &attempt->decision);
    SCHEDQ_CHECK(is_assumed, "what the only scheduling thread decides is free");
    queue_.watch().CountPlaced(attempt->pod());
  }
  const Duration filter = static_cast<int64_t>(decision.nodes_looked_at) * costs_.filter_node;
  metrics_.ObserveExtensionPoint("Filter", !decision.node.empty(), filter);
  metrics_.ObserveAlgorithm(costs_.attempt + filter);
  After(costs_.attempt + filter, [this, attempt] { Finish(attempt); });
}

void SchedulerLoop::Finish(const AttemptRef& attempt) {
  lock_.Run(
      [this, attempt] {
        if (attempt->decision.node.empty()) return Fail(attempt);
        queue_.Done(attempt->popped);
        BeginBinding(attempt);
        return costs_.queue_done;
      },
      [this] { PopNext(); });
}

Duration SchedulerLoop::Fail(const AttemptRef& attempt) {
  const uint64_t asked_before = queue_.asked();
  // Without any node no plugin rejected the pod; upstream, too, treats this as an error.
  const PluginSet rejectors = rejectors_.Of(attempt->decision);
  queue_.Fail(attempt->popped, rejectors);
  metrics_.CountAttempt(AttemptResult::kUnschedulable, clock_.Now() - attempt->started);
  ReportFailure(attempt, rejectors);
  const uint64_t asked = queue_.asked() - asked_before;
  return costs_.queue_fail + static_cast<int64_t>(asked) * costs_.queue_judge;
}

void SchedulerLoop::ReportFailure(const AttemptRef& attempt, PluginSet rejectors) {
  std::string message;
  rejectors.ForEach([&](PluginId id) {
    message += (message.empty() ? "" : "; ") + queue_.plugins().plugin(id).rejection_message;
  });
  if (message.empty()) message = "no nodes available to schedule pods";
  PodCondition condition{std::string(kPodScheduledCondition), "False", "Unschedulable",
                         std::move(message)};
  calls_->PatchCondition(attempt->popped.key, NewestOf(attempt), std::move(condition));
}

PodRef SchedulerLoop::NewestOf(const AttemptRef& attempt) const {
  const Pod& popped = *attempt->popped.pod;
  PodRef newest = queue_.queue().Where(QualifiedName(popped.namespace_name, popped.name)).pod;
  return newest != nullptr && newest->uid == popped.uid ? newest : attempt->popped.pod;
}

void SchedulerLoop::BeginBinding(const AttemptRef& attempt) {
  const bool has_claims = !attempt->decision.claims.empty();
  BindingBegin begin;
  begin.key = attempt->popped.key;
  begin.pod = has_claims ? NewestOf(attempt) : attempt->popped.pod;
  begin.node = attempt->decision.node;
  for (const ClaimDecision& claim : attempt->decision.claims) {
    begin.claims.push_back(claim.claim);
  }
  begin.store_claims = [this, attempt] { return StoreAllClaims(attempt); };
  calls_->BeginBinding(std::move(begin), [this, attempt](ClaimsAfterBegin claims) {
    ContinueBinding(attempt, claims);
  });
}

void SchedulerLoop::ContinueBinding(const AttemptRef& attempt, ClaimsAfterBegin claims) {
  switch (claims) {
    case ClaimsAfterBegin::kToStore:
      return StoreNextClaim(attempt);
    case ClaimsAfterBegin::kStored:
      return BindAfterClaims(attempt);
    case ClaimsAfterBegin::kFailed:
      return FailBinding(attempt);
  }
}

void SchedulerLoop::StoreNextClaim(const AttemptRef& attempt) {
  if (attempt->pre_bind_steps == PreBindSteps(cache_.plugins(), attempt->decision)) {
    return BindAfterClaims(attempt);
  }
  After(costs_.status.Draw(&random_), [this, attempt] {
    if (!TakePreBindStep(attempt)) return FailBinding(attempt);
    StoreNextClaim(attempt);
  });
}

bool SchedulerLoop::StoreAllClaims(const AttemptRef& attempt) {
  const size_t steps = PreBindSteps(cache_.plugins(), attempt->decision);
  for (size_t i = 0; i < steps; ++i) {
    if (!TakePreBindStep(attempt)) return false;
  }
  return true;
}

bool SchedulerLoop::TakePreBindStep(const AttemptRef& attempt) {
  if (!PreBind(cache_.plugins(), attempt->pre_bind_steps, cluster_, attempt->pod(),
               attempt->decision)) {
    return false;
  }
  ++attempt->pre_bind_steps;
  return true;
}

void SchedulerLoop::BindAfterClaims(const AttemptRef& attempt) {
  const Instant binding_started = clock_.Now();
  const auto end = [this, attempt, binding_started](const Status& bound) {
    metrics_.ObserveExtensionPoint("Bind", bound.ok(), clock_.Now() - binding_started);
    if (!bound.ok()) return FailBinding(attempt);
    const QueueingFields& fields = attempt->popped.fields;
    metrics_.CountAttempt(AttemptResult::kScheduled, clock_.Now() - attempt->started);
    metrics_.CountScheduled(fields.attempts,
                            clock_.Now() - fields.first_attempt.value_or(attempt->started));
  };
  calls_->Bind(attempt->popped.key, attempt->popped.pod, attempt->decision.node, end);
}

void SchedulerLoop::FailBinding(const AttemptRef& attempt) {
  metrics_.CountAttempt(AttemptResult::kError, clock_.Now() - attempt->started);
  calls_->ClearNomination(attempt->popped.key, NewestOf(attempt));
  lock_.Run(
      [this, attempt] {
        cache_.Forget(attempt->pod(), attempt->decision, attempt->pre_bind_steps);
        const Duration event_cost =
            handlers_.Send(MakeEvent(Resource::kAssignedPod, Action::kDelete),
                           {AssignedPodView(attempt->popped.pod), nullptr});
        queue_.Fail(attempt->popped, PluginSet());
        return event_cost + costs_.queue_fail;
      },
      [] {});
}

}  // namespace schedq
