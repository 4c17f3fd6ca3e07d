#include "bench/sim/scheduler/scheduler_loop.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "bench/sim/placing/further_plugins.h"
#include "dispatcher/server/pod_patch.h"
#include "engine/base/result.h"
#include "engine/pod_key.h"
#include "engine/queueing_fields.h"
#include "schedq/attempt.h"

namespace schedq {
namespace {

constexpr const char* kNoNodes = "no nodes available to schedule pods";
constexpr const char* kBindingFailed = "the pod could not be bound to its node";

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
      metrics_(NamesOf(options.settings)),
      calls_(MakePodCalls({.cluster = cluster_,
                           .costs = &costs_,
                           .gates = options.queue.gates,
                           .status_model = options.status_model,
                           .random = &random_,
                           .metrics = metrics_.shared_registry(),
                           .settings = options.calls})),
      queue_(Complete(options.queue, &clock_, costs_, calls_.get())),
      cache_(WithFurther(
                 options.placing_plugins,
                 [this](const PlacingTools&) { return FurtherPlacingPlugins(queue_.plugins()); }),
             options.queue.gates, options.devices, options.settings),
      lock_(&clock_),
      handlers_(&queue_, &cache_, &waiting_pods_, &lock_, &cluster_->processors(), costs_,
                &metrics_),
      preempts_in_cycle_(!options.queue.gates.On(Gate::kSchedulerAsyncPreemption)) {
  cache_.nominations().SetSource(
      [this](std::string_view node) { return queue_.queue().NominatedPods(node); });
  placers_.AuditVictims(&faults_);
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
  if (!cache_.ProfileOf(pod)) return true;
  const std::string name = QualifiedName(pod.namespace_name, pod.name);
  return queue_.queue().Where(name).place != Place::kAbsent;
}

size_t SchedulerLoop::ProfileOf(const Attempt& attempt) const {
  return cache_.ProfileOf(attempt.pod()).value_or(0);
}

void SchedulerLoop::CountAttempt(const Attempt& attempt, AttemptResult result) const {
  metrics_.CountAttempt(result, clock_.Now() - attempt.started, ProfileOf(attempt));
}

void SchedulerLoop::After(Duration delay, std::function<void()> action) {
  clock_.At(clock_.Now() + delay, std::move(action));
}

void SchedulerLoop::Call(const char* call, const CallLatency& latency,
                         std::function<void()> action) {
  const Duration wait = calls_->TakeToken(call);
  const Duration for_processor = cluster_->processors().BeginCall();
  After(wait + for_processor + latency.Draw(&random_), std::move(action));
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
        if (*found && attempt->popped.group != nullptr) return StartGroup(attempt->popped);
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
  attempt->decision =
      placers_.Decide(attempt->pod(), {.now = clock_.Now(), .cycle = attempt->popped.cycle});
  const Decision& decision = attempt->decision;
  metrics_.CountSharing(decision.sharing, ProfileOf(*attempt));
  // Nobody was ahead of the only scheduling thread: a plugin refused what it had offered itself.
  if (!decision.node.empty() &&
      !cache_.Assume(AsClusterPod(attempt->popped.pod), &attempt->decision)) {
    const size_t looked_at = decision.nodes_looked_at;
    attempt->decision = {};
    attempt->decision.nodes_looked_at = looked_at;
    attempt->decision.was_overtaken = true;
  }
  if (!decision.node.empty()) {
    queue_.watch().CountPlaced(attempt->pod());
    // From here on the pod takes its room by itself.
    if (cache_.nominations().MayBeAny() &&
        !queue_.queue().NominatedNode(attempt->popped.key).empty()) {
      queue_.Nominate(attempt->popped.pod, "");
    }
    attempt->permit = cache_.framework_of(attempt->pod())
                          .Permit(attempt->popped.pod, attempt->decision, &waiting_pods_);
  }
  const Duration filter = CostOfNodes(attempt->pod(), decision.nodes_looked_at);
  metrics_.ObserveExtensionPoint("Filter", !decision.node.empty(), filter, ProfileOf(*attempt));
  const Duration preemption = static_cast<int64_t>(NodesPreempted(*attempt)) * costs_.preempt_node;
  const Duration time = cluster_->processors().BeginWork(costs_.attempt, filter + preemption);
  After(time, [this, attempt, time] {
    attempt->algorithm = time;
    Finish(attempt);
  });
}

Duration SchedulerLoop::CostOfNodes(const ClusterPod& pod, size_t count) const {
  const auto nodes = static_cast<int64_t>(count);
  const bool needs_devices = !pod.spec().claims.empty() || !pod.device_requests.empty();
  if (!needs_devices || count == 0) return nodes * costs_.filter_node;
  return costs_.allocate + nodes * (costs_.filter_node + costs_.allocate_node);
}

size_t SchedulerLoop::NodesPreempted(const Attempt& attempt) const {
  const Decision& decision = attempt.decision;
  const ClusterPod& pod = attempt.pod();
  const Framework& framework = cache_.framework_of(pod);
  if (framework.At(ExtensionPoint::kPostFilter).empty() || pod.never_preempts) return 0;
  const PostFilterResult* const found = decision.post_filter.get();
  const size_t nodes = cluster_->nodes().size();
  if (found != nullptr) {
    const SchedulerProfile& profile = framework.profile();
    constexpr size_t kPercent = 100;
    const size_t wanted =
        std::max(profile.candidates_min, nodes * profile.candidates_percentage / kPercent);
    return found->victims_are_going ? 0 : std::min(nodes, wanted);
  }
  for (size_t i = 0; i < framework.size(); ++i) {
    const bool has_rejected = (decision.rejectors & Framework::BitOf(i)) != 0;
    if (!has_rejected || !framework.plugin(i).rejects_for_pods()) continue;
    // A pod that is too large for each empty node is too large without other pods.
    if (framework.plugin(i).name() != "NodeResourcesFit" || MayFitAnyNode(pod)) return nodes;
  }
  return 0;
}

bool SchedulerLoop::MayFitAnyNode(const ClusterPod& pod) const {
  return std::any_of(cluster_->nodes().begin(), cluster_->nodes().end(), [&pod](const auto& node) {
    return !AnyLarger(pod.requests, node.second->allocatable);
  });
}

void SchedulerLoop::Finish(const AttemptRef& attempt) {
  if (preempts_in_cycle_ && attempt->decision.preempts()) return PreemptInCycle(attempt);
  End(attempt);
}

void SchedulerLoop::PreemptInCycle(const AttemptRef& attempt) {
  const Instant began = clock_.Now();
  victims_.DeleteAll(attempt->decision.post_filter->victims,
                     [this, attempt, began](bool are_going) {
                       attempt->algorithm += clock_.Now() - began;
                       if (!are_going) KeepNomination(&attempt->decision);
                       End(attempt);
                     });
}

void SchedulerLoop::End(const AttemptRef& attempt) {
  metrics_.ObserveAlgorithm(attempt->algorithm);
  lock_.Run(
      [this, attempt] {
        if (attempt->decision.node.empty()) return Fail(attempt);
        const size_t rejector = attempt->permit.rejector;
        if (rejector != WaitingPods::kAllowed) return FailPermit(attempt, rejector);
        if (!attempt->permit.waits.empty()) {
          Wait(attempt);
          return Duration(0);
        }
        queue_.Done(attempt->popped);
        BeginBinding(attempt);
        return costs_.queue_done;
      },
      [this] { calls_->WaitForPatches([this] { PopNext(); }); });
}

Duration SchedulerLoop::Fail(const AttemptRef& attempt) {
  // Without any node no plugin rejected the pod; upstream, too, treats this as an error.
  const PluginSet rejectors = rejectors_.Of(attempt->decision);
  if (const std::string& idle = attempt->decision.idle_claim; !idle.empty()) {
    calls_->TakeToken(kIdleClaimCall);
    if (!cluster_->faults().Refuses(CallKind::kClaim)) {
      cluster_->DeallocateIdleClaim(idle, attempt->pod().number);
    }
  }
  BeginPreemption(attempt);
  // What shows a nomination is gated by nothing.
  const PostFilterResult* const result = attempt->decision.post_filter.get();
  const bool nominates = result != nullptr && !result->node.empty();
  if (!calls_->gates_reentry() || nominates) {
    const Duration cost = FailInQueue(attempt, rejectors);
    ReportFailure(attempt, rejectors);
    NominateFor(attempt);
    return cost;
  }
  ReportFailure(attempt, rejectors, kNoNodes, [this, attempt, rejectors] {
    lock_.Run(
        [this, attempt, rejectors] {
          const Duration cost = FailInQueue(attempt, rejectors);
          NominateFor(attempt);
          return cost;
        },
        [] {});
  });
  return Duration(0);
}

Duration SchedulerLoop::FailInQueue(const AttemptRef& attempt, PluginSet rejectors) {
  const uint64_t asked_before = queue_.asked();
  queue_.Fail(attempt->popped, rejectors);
  const bool is_error = attempt->decision.was_overtaken;
  CountAttempt(*attempt, is_error ? AttemptResult::kError : AttemptResult::kUnschedulable);
  const uint64_t asked = queue_.asked() - asked_before;
  return costs_.queue_fail + static_cast<int64_t>(asked) * costs_.queue_judge;
}

void SchedulerLoop::BeginPreemption(const AttemptRef& attempt) {
  const Decision& decision = attempt->decision;
  if (cache_.framework_of(attempt->pod()).At(ExtensionPoint::kPostFilter).empty() ||
      decision.rejectors == 0)
    return;
  const PostFilterResult* const result = decision.post_filter.get();
  metrics_.CountPostFilter(result != nullptr ? result->victims.size() : 0,
                           result != nullptr ? result->violations : 0);
  if (result == nullptr || result->victims.empty() || preempts_in_cycle_) return;
  victims_.Begin(attempt->popped.pod, result->victims);
}

// Pods of a lower priority that are nominated to the node may not fit there any more.
void SchedulerLoop::NominateFor(const AttemptRef& attempt) {
  const PostFilterResult* const result = attempt->decision.post_filter.get();
  const PodRef newest = NewestOf(attempt);
  FailedNomination nomination;
  if (result != nullptr) nomination = {result->node, result->victims_are_going};
  // At once, because an update that comes while the pod is in flight changes no nomination.
  const bool ends = nomination.node.empty() && !nomination.victims_are_going;
  if (ends && cache_.nominations().MayBeAny() &&
      !queue_.queue().NominatedNode(attempt->popped.key).empty()) {
    queue_.Nominate(attempt->popped.pod, "");
  }
  if (result == nullptr && newest->nominated_node_name.empty()) return;
  if (!nomination.node.empty()) {
    for (const PodRef& other : queue_.queue().NominatedPods(nomination.node)) {
      if (other->priority >= newest->priority) continue;
      queue_.Nominate(other, "");
      calls_->EndFailedCycle(queue_.queue().KeyOf(*other), other, {});
    }
    cache_.nominations().Expect();
    queue_.Nominate(attempt->popped.pod, nomination.node);
  }
  calls_->EndFailedCycle(attempt->popped.key, newest, nomination);
}

// On the cluster's thread, as all here.
VictimDeletions::Surroundings SchedulerLoop::SurroundingsOfVictims() {
  return {.running = queue_.preemptions(),
          .remove =
              [this](const VictimCallsRef& calls) {
                Call(kVictimPatchCall, costs_.status, [this, calls] {
                  if (!calls->Mark(cluster_)) return;
                  Call(kVictimDeletionCall, costs_.remove, [this, calls] {
                    calls->Delete(cluster_);
                    calls_->SendEvent(kPreemptedEvent);
                  });
                });
              },
          .activate = [this](const PodRef& pod) { queue_.Activate(pod); }};
}

void SchedulerLoop::Wait(const AttemptRef& attempt) {
  calls_->ShowNode(attempt->popped.key, NewestOf(attempt), attempt->decision.node);
  // Whoever ends the wait may hold the lock.
  waiting_pods_.Begin(attempt->pod(), attempt->permit.waits, [this, attempt](size_t rejector) {
    After(Duration(0), [this, attempt, rejector] { EndWait(attempt, rejector); });
  });
}

void SchedulerLoop::EndWait(const AttemptRef& attempt, size_t rejector) {
  lock_.Run(
      [this, attempt, rejector] {
        if (rejector != WaitingPods::kAllowed) return FailPermit(attempt, rejector);
        queue_.Done(attempt->popped);
        BeginBinding(attempt);
        return costs_.queue_done;
      },
      [this] { calls_->WaitForPatches([] {}); });
}

// The pod itself is not to be woken by the room that it gives back.
Duration SchedulerLoop::FailPermit(const AttemptRef& attempt, size_t rejector) {
  cache_.Forget(attempt->pod(), attempt->decision, 0);
  PluginSet rejectors;
  if (rejector != WaitingPods::kRemoved) rejectors = rejectors_.Of(rejector);
  queue_.Fail(attempt->popped, rejectors);
  const Duration update_cost = handlers_.CatchUp(attempt->pod_ref());
  CountAttempt(*attempt, AttemptResult::kUnschedulable);
  ReportFailure(attempt, rejectors);
  calls_->EndFailedCycle(attempt->popped.key, NewestOf(attempt), {});
  const Pod& itself = attempt->pod();
  return costs_.queue_fail + update_cost +
         handlers_.SendRoom(itself, attempt->decision.node,
                            [&itself](const Pod& pod) { return pod.uid != itself.uid; });
}

void SchedulerLoop::ReportFailure(const AttemptRef& attempt, PluginSet rejectors,
                                  const char* otherwise, std::function<void()> patched) {
  std::string message;
  rejectors.ForEach([&](PluginId id) {
    message += (message.empty() ? "" : "; ") + queue_.plugins().plugin(id).rejection_message;
  });
  if (message.empty()) message = otherwise;
  // With another number of nodes the text is another one, and patched again.
  if (const size_t nodes = attempt->decision.nodes_looked_at; nodes != 0) {
    message = fmt::format(FMT_COMPILE("0 of {} nodes: {}"), nodes, message);
  }
  Show(attempt, {kUnschedulableReason, std::move(message)}, std::move(patched));
}

// The second event of a pod makes a series of the first, and further ones are counted in it without
// a call.
void SchedulerLoop::Show(const AttemptRef& attempt, FailureText failure,
                         std::function<void()> patched) {
  constexpr int kEventCalls = 2;
  if (attempt->popped.fields.attempts <= kEventCalls) calls_->SendEvent(kFailedSchedulingEvent);
  calls_->PatchCondition(attempt->popped.key, NewestOf(attempt), std::move(failure),
                         std::move(patched));
}

PodRef SchedulerLoop::NewestOf(const AttemptRef& attempt) const {
  const Pod& popped = *attempt->popped.pod;
  PodRef newest = queue_.queue().Where(QualifiedName(popped.namespace_name, popped.name)).pod;
  return newest != nullptr && newest->uid == popped.uid ? newest : attempt->popped.pod;
}

void SchedulerLoop::BeginBinding(const AttemptRef& attempt) {
  const Decision& decision = attempt->decision;
  const bool has_work = !decision.claims.empty() || decision.volumes != nullptr;
  calls_->BeginBinding(attempt->popped.key, has_work ? NewestOf(attempt) : attempt->popped.pod,
                       decision.node, has_work, [this, attempt] { StoreNextClaim(attempt); });
}

void SchedulerLoop::StoreNextClaim(const AttemptRef& attempt) {
  if (attempt->pre_bind_steps ==
      cache_.framework_of(attempt->pod()).PreBindSteps(attempt->decision)) {
    return BindAfterClaims(attempt);
  }
  if (const Duration delay = PreBindDelay(attempt); delay > Duration(0)) {
    attempt->waited += delay;
    return After(delay, [this, attempt] { StoreNextClaim(attempt); });
  }
  const auto take = [this, attempt] {
    if (!TakePreBindStep(attempt)) return FailBinding(attempt);
    StoreNextClaim(attempt);
  };
  // A step that waited looks at what it knows already.
  attempt->waited > Duration(0) ? After(Duration(0), take)
                                : Call(kPreBindCall, costs_.status, take);
}

bool SchedulerLoop::TakePreBindStep(const AttemptRef& attempt) {
  if (!cache_.framework_of(attempt->pod())
           .PreBind(attempt->pre_bind_steps, cluster_, attempt->pod(), attempt->decision)) {
    return false;
  }
  ++attempt->pre_bind_steps;
  attempt->waited = Duration(0);
  return true;
}

Duration SchedulerLoop::PreBindDelay(const AttemptRef& attempt) const {
  return cache_.framework_of(attempt->pod())
      .PreBindDelay(attempt->pre_bind_steps, attempt->waited, *cluster_, attempt->pod(),
                    attempt->decision);
}

void SchedulerLoop::BindAfterClaims(const AttemptRef& attempt) {
  const Instant binding_started = clock_.Now();
  const auto end = [this, attempt, binding_started](const Status& bound) {
    metrics_.ObserveExtensionPoint("Bind", bound.ok(), clock_.Now() - binding_started,
                                   ProfileOf(*attempt));
    if (!bound.ok()) return FailBinding(attempt);
    const QueueingFields& fields = attempt->popped.fields;
    CountAttempt(*attempt, AttemptResult::kScheduled);
    metrics_.CountScheduled(fields.attempts,
                            clock_.Now() - fields.first_attempt.value_or(attempt->started));
    calls_->SendEvent(kScheduledEvent);
    // Nobody waits for that call, but it takes its work.
    cluster_->processors().BeginCall();
  };
  calls_->Bind(attempt->popped.key, attempt->popped.pod, attempt->decision.node, end);
}

void SchedulerLoop::FailBinding(const AttemptRef& attempt) {
  CountAttempt(*attempt, AttemptResult::kError);
  lock_.Run(
      [this, attempt] {
        cache_.Forget(attempt->pod(), attempt->decision, attempt->pre_bind_steps);
        const Duration event_cost = handlers_.SendRoom(attempt->pod(), attempt->decision.node);
        queue_.Fail(attempt->popped, PluginSet());
        const Duration update_cost = handlers_.CatchUp(attempt->pod_ref());
        Show(attempt, {kSchedulerErrorReason, kBindingFailed}, {});
        calls_->ClearNomination(attempt->popped.key, NewestOf(attempt));
        return event_cost + costs_.queue_fail + update_cost;
      },
      [this] { calls_->WaitForPatches([] {}); });
}

}  // namespace schedq
