#include "bench/sim/real/real_scheduler.h"

#include <fmt/format.h>

#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "bench/sim/placing/further_plugins.h"
#include "bench/sim/placing/profile_plugins.h"
#include "bench/sim/real/tell_of_room.h"
#include "dispatcher/api_sink.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "engine/queue_answers.h"
#include "hints/plugin.h"
#include "hints/world.h"

namespace schedq {
namespace {

// kube-scheduler has no bound on the calls in flight.
constexpr uint32_t kCallsInFlight = std::numeric_limits<uint32_t>::max();
// After so many conflicts in a row the pod backs off as after an error.
constexpr int kConflictsMax = 32;

AssemblyOptions OptionsOfQueue(const RealSchedulerOptions& options, ApiSink* sink,
                               QueueObserver* observer, MetricsRegistry* metrics) {
  AssemblyOptions assembly;
  assembly.engine = options.engine;
  assembly.clock = &options.pace->wall();
  assembly.plugins = [gates = options.gates, rules = options.pod_rules,
                      settings = options.settings](World* world) {
    return Result<std::vector<Plugin>>(WithProfiles(BuiltinPlugins(world, gates, rules), settings));
  };
  assembly.further_plugins = options.further_plugins;
  assembly.gates = options.gates;
  assembly.backoff = options.backoff;
  assembly.make_queue = options.make_queue;
  assembly.observers = {observer};
  if (!options.gates.On(Gate::kSchedulerAsyncAPICalls)) return assembly;
  ApiCallOptions calls;
  calls.sink = sink;
  calls.in_flight_max = kCallsInFlight;
  calls.calls_per_second = 0;
  calls.status_model = options.status_model;
  calls.metrics = metrics;
  // Others would wait for what should have followed: it ends the program.
  calls.on_exception = [] { std::terminate(); };
  assembly.api_calls = calls;
  return assembly;
}

bool HaveNoLatency(const CostModel& costs) {
  return costs.status.IsNone() && costs.bind.IsNone() && costs.remove.IsNone();
}

}  // namespace

RealScheduler::RealScheduler(const RealSchedulerOptions& options)
    : options_(options),
      random_(options.random),
      metrics_(NamesOf(options.settings)),
      server_({.cluster = options.cluster,
               .costs = options.costs,
               .random = &random_,
               .events = PodEventsIn(metrics_.shared_registry()),
               .answers_at_once = HaveNoLatency(*options.costs)}),
      sink_(options.pace, &server_, HaveNoLatency(*options.costs)),
      waiting_pods_(&options.pace->wall()) {
  Result<std::unique_ptr<AssembledQueue>> queue = AssembledQueue::Create(
      OptionsOfQueue(options_, &sink_, &requeues_, metrics_.shared_registry()));
  SCHEDQ_CHECK(queue.ok(), "a run's plugins and gates were checked before it");
  queue_ = std::move(*queue);
  const auto further = [this](const PlacingTools&) {
    return FurtherPlacingPlugins(queue_->plugins());
  };
  cache_ = std::make_unique<SchedulerCache>(WithFurther(options.placing_plugins, further),
                                            options.gates, options.devices, options.settings);
  binder_ = std::make_unique<Binder>(Binder::Surroundings{.queue = queue_.get(),
                                                          .cache = cache_.get(),
                                                          .attempts = &attempts_,
                                                          .cluster = options.cluster,
                                                          .pace = options.pace,
                                                          .metrics = &metrics_});
  informers_ = std::make_unique<Informers>(
      Informers::Surroundings{.queue = queue_.get(),
                              .cache = cache_.get(),
                              .attempts = &attempts_,
                              .waiting_pods = &waiting_pods_,
                              .cluster_clock = &options.cluster->clock(),
                              .pace = options.pace});
  options.cluster->Watch([this](const ClusterChange& change) { informers_->Deliver(change); });
  for (int i = 0; i < options.scheduling_threads; ++i) {
    // What a thread held for a moment may have kept another thread's pod from its node.
    std::function<void(const ClusterPod&, const std::string&)> released;
    if (options.scheduling_threads > 1) {
      released = [this](const ClusterPod& pod, const std::string& node) {
        TellOfRoom(queue_.get(), pod, node);
      };
    }
    threads_.push_back(std::make_unique<SchedulingThread>(
        cache_.get(), random_.Fork(kFirstPlacing + threads_.size()), std::move(released)));
  }
  rejectors_.emplace(cache_->framework(), queue_->plugins());
  victims_.emplace(SurroundingsOfVictims());
  cache_->nominations().SetSource(
      [this](std::string_view node) { return queue_->NominatedPods(node); });
  options.pace->AskWhetherQuiet([this] { return IsQuiet(); });
  try {
    queue_->Run();
    for (const auto& each : threads_) {
      each->thread.Start([this, self = each.get()](PartClock* parts) { Run(self, parts); });
    }
  } catch (...) {
    // There are no more threads, or no memory. Those that there are wait in the queue. No call is
    // in flight, so that no further thread is needed to close it.
    sink_.Refuse();
    queue_->Close();
    JoinAll();
    throw;
  }
}

RealScheduler::~RealScheduler() { Stop(); }

// Closing the queue waits for calls in flight, which this thread, the cluster's, must answer.
void RealScheduler::Stop() {
  options_.pace->AskWhetherQuiet({});
  {
    const std::lock_guard lock(going_mutex_);
    is_stopping_ = true;
  }
  going_.notify_all();
  sink_.Refuse();
  std::atomic<bool> is_closed{false};
  std::jthread closer([this, &is_closed] {
    queue_->Close();
    is_closed.store(true);
  });
  while (!is_closed.load()) {
    if (!options_.pace->RunCalls()) std::this_thread::yield();
  }
  closer.join();
  JoinAll();
  while (options_.pace->RunCalls()) {
  }
}

void RealScheduler::JoinAll() {
  for (const auto& each : threads_) each->thread.Join();
  informers_->Stop();
  binder_->Stop();
  waiting_pods_.Clear();
}

const MetricsRegistry& RealScheduler::queue_metrics() const {
  return std::as_const(*queue_).metrics();
}

bool RealScheduler::IsCaughtUp() const {
  return informers_->IsIdle() && binder_->IsIdle() && options_.pace->IsIdle();
}

bool RealScheduler::IsQuiet() const {
  if (!IsCaughtUp()) return false;
  const QueueCounts counts = queue_->Counts();
  return counts.active == 0 && counts.in_flight == 0;
}

bool RealScheduler::Knows(const ClusterPod& pod) const {
  if (cache_->IsAssumed(pod.slot())) return true;
  if (!cache_->ProfileOf(pod)) return true;
  const std::string name = QualifiedName(pod.namespace_name, pod.name);
  return queue_->Where(name).place != Place::kAbsent;
}

std::vector<std::string> RealScheduler::Faults() const {
  if (attempts_.doubled() == 0) return {};
  return {fmt::format("{} pops of a pod that was in an attempt already", attempts_.doubled())};
}

LatencyHistogram RealScheduler::TakePopLatencies() {
  LatencyHistogram all;
  for (const auto& each : threads_) all.Merge(each->popped.Take());
  return all;
}

std::map<std::string, ThreadUsage> RealScheduler::Usage() const {
  std::map<std::string, ThreadUsage> usages = informers_->Usage();
  for (size_t i = 0; i < threads_.size(); ++i) {
    usages["scheduler " + std::to_string(i + 1)] = threads_[i]->thread.usage();
  }
  usages["binder"] = binder_->usage();
  return usages;
}

// A pop that sleeps counts as idle as a whole.
void RealScheduler::Run(SchedulingThread* self, PartClock* parts) {
  for (;;) {
    parts->SwitchTo(Part::kQueue);
    std::optional<Attempt> attempt = queue_->TryPop();
    if (!attempt) {
      parts->SwitchTo(Part::kIdle);
      attempt = queue_->Pop();
    }
    if (!attempt) return;
    if (attempt->is_group()) {
      ScheduleGroup(self, parts, *std::move(attempt));
    } else {
      Schedule(self, parts, *std::move(attempt));
    }
  }
}

void RealScheduler::Schedule(SchedulingThread* self, PartClock* parts, Attempt attempt) {
  const Instant started = options_.pace->Now();
  const ClusterPod& pod = AsClusterPod(attempt.pod());
  attempts_.Begin(pod.slot());
  if (attempt.attempts() == 1) self->popped.Record(started - pod.created);
  if (pod.deleting) {
    attempts_.End(pod.slot());
    const Status abandoned = attempt.Abandon();
    SCHEDQ_CHECK(abandoned.ok(), "an attempt is abandoned once, before it is done");
    return;
  }
  Decision decision = DecideAndAssume(self, parts, attempt);
  const size_t profile = cache_->ProfileOf(pod).value_or(0);
  metrics_.CountSharing(decision.sharing, profile);
  if (!decision.node.empty() && Go(parts, &attempt, &decision, started)) return;
  if (decision.preempts() && preempts_in_cycle() &&
      !DeleteInCycle(parts, decision.post_filter->victims)) {
    KeepNomination(&decision);
  }
  parts->SwitchTo(Part::kQueue);
  attempts_.End(pod.slot());
  const PodRef popped = attempt.pod_ref();
  Fail(&attempt, decision);
  if (!decision.node.empty()) TellOthersOfRoom(queue_.get(), *popped, decision.node);
  const bool is_error = decision.rejectors == 0;
  metrics_.CountAttempt(is_error ? AttemptResult::kError : AttemptResult::kUnschedulable,
                        options_.pace->Now() - started, profile);
}

bool RealScheduler::Go(PartClock* parts, Attempt* attempt, Decision* decision, Instant started) {
  parts->SwitchTo(Part::kBinding);
  const PodRef& pod = attempt->pod_ref();
  // From here on the pod takes its room by itself. Refused where it is gone.
  if (cache_->nominations().MayBeAny() && !queue_->NominatedNode(*pod).empty()) {
    static_cast<void>(queue_->Nominate(pod, ""));
  }
  // A pod that was deleted since it was assumed asks for no others.
  PermitOutcome permit;
  permit.rejector = WaitingPods::kRemoved;
  if (!cache_->IsGone(AsClusterPod(*pod))) {
    permit = cache_->framework_of(AsClusterPod(*pod)).Permit(pod, *decision, &waiting_pods_);
  }
  // What is deleted from here on ends its wait.
  if (!permit.waits.empty() && cache_->IsGone(AsClusterPod(*pod))) {
    permit.rejector = WaitingPods::kRemoved;
    waiting_pods_.Drop(*pod);
  }
  if (permit.rejector != WaitingPods::kAllowed) {
    cache_->Forget(AsClusterPod(*pod), *decision, 0);
    const bool is_removed = permit.rejector == WaitingPods::kRemoved;
    decision->rejectors = is_removed ? 0 : Framework::BitOf(permit.rejector);
    return false;
  }
  auto binding = std::make_shared<Binding>(std::move(*attempt), std::move(*decision), started);
  if (permit.waits.empty()) {
    binder_->Begin(std::move(binding));
  } else {
    Wait(binding, permit);
  }
  return true;
}

// Before the wait its node is shown, because it may be long.
void RealScheduler::Wait(const BindingRef& binding, const PermitOutcome& permit) {
  const Status shown = binding->attempt.ShowNode(binding->decision.node);
  SCHEDQ_CHECK(shown.ok(), "the attempt is open");
  binding->is_shown = true;
  const ClusterPod& pod = binding->pod();
  waiting_pods_.Begin(pod, permit.waits, [this, binding](size_t rejector) {
    if (rejector != WaitingPods::kAllowed) binding->step = Binding::Step::kRejected;
    if (rejector < rejectors_->size()) binding->rejectors = rejectors_->Of(rejector);
    binder_->Begin(binding);
  });
}

// The queue refuses where the pod is queued again, but the attempt ends in any case.
void RealScheduler::Fail(Attempt* attempt, const Decision& decision) {
  const PluginSet rejectors = rejectors_->Of(decision);
  if (!decision.idle_claim.empty()) {
    const uint64_t pod = AsClusterPod(attempt->pod()).number;
    options_.pace->Post([this, pod, claim = decision.idle_claim] {
      if (options_.cluster->faults().Refuses(CallKind::kClaim)) return;
      options_.cluster->DeallocateIdleClaim(claim, pod);
    });
  }
  const PostFilterResult* const result = decision.post_filter.get();
  const bool was_asked =
      decision.node.empty() &&
      !cache_->framework_of(AsClusterPod(attempt->pod())).At(ExtensionPoint::kPostFilter).empty();
  if (was_asked && decision.rejectors != 0) {
    metrics_.CountPostFilter(result != nullptr ? result->victims.size() : 0,
                             result != nullptr ? result->violations : 0);
  }
  if (result == nullptr && !cache_->nominations().MayBeAny()) {
    return static_cast<void>(attempt->Fail(rejectors));
  }
  if (result == nullptr) return static_cast<void>(attempt->Fail(rejectors, PluginSet(), {}));
  if (decision.preempts() && !preempts_in_cycle())
    victims_->Begin(attempt->pod_ref(), result->victims);
  if (!result->node.empty()) {
    // Pods of a lower priority that are nominated to the node may not fit there any more.
    for (const PodRef& other : queue_->NominatedPods(result->node)) {
      if (other->priority < attempt->pod().priority) queue_->ClearNomination(other);
    }
    cache_->nominations().Expect();
  }
  static_cast<void>(
      attempt->Fail(rejectors, PluginSet(), {result->node, result->victims_are_going}));
}

// The answers come on the cluster's thread, which makes no calls any more once it stops this one.
bool RealScheduler::DeleteInCycle(PartClock* parts, const std::vector<ClusterPodRef>& victims) {
  parts->SwitchTo(Part::kIdle);
  const auto answer = std::make_shared<std::optional<bool>>();
  victims_->DeleteAll(victims, [this, answer](bool are_going) {
    const std::lock_guard lock(going_mutex_);
    *answer = are_going;
    going_.notify_all();
  });
  std::unique_lock lock(going_mutex_);
  going_.wait(lock, [&] { return is_stopping_ || answer->has_value(); });
  return answer->value_or(false);
}

VictimDeletions::Surroundings RealScheduler::SurroundingsOfVictims() {
  const auto remove = [this](const VictimCallsRef& calls) {
    options_.pace->Post([this, calls] {
      Clock& clock = options_.cluster->clock();
      const auto then_delete = [this, calls, &clock] {
        if (!calls->Mark(options_.cluster)) return;
        clock.At(clock.Now() + options_.costs->remove.Draw(&random_),
                 [this, calls] { calls->Delete(options_.cluster); });
      };
      clock.At(clock.Now() + options_.costs->status.Draw(&random_), then_delete);
    });
  };
  return {.running = queue_->world().mutable_preemptions(),
          .remove = remove,
          .activate = [this](const PodRef& pod) {
            queue_->Activate({&pod, 1});
          }};
}

Decision RealScheduler::DecideAndAssume(SchedulingThread* self, PartClock* parts,
                                        const Attempt& attempt) {
  const ClusterPodRef pod = AsClusterPod(attempt.pod_ref());
  for (int i = 0; i < kConflictsMax; ++i) {
    parts->SwitchTo(Part::kPlacing);
    Decision decision =
        self->placers.Decide(*pod, {.now = options_.pace->Now(), .cycle = attempt.cycle()});
    nodes_looked_at_.fetch_add(decision.nodes_looked_at, std::memory_order_relaxed);
    if (decision.node.empty() && !decision.was_overtaken) return decision;
    parts->SwitchTo(Part::kCache);
    if (!decision.was_overtaken && cache_->Assume(pod, &decision)) return decision;
    conflicts_.fetch_add(1, std::memory_order_relaxed);
    if (decision.was_overtaken) continue;
    // What this thread held for a moment may have kept another thread's pod from its node.
    parts->SwitchTo(Part::kEvents);
    TellOfRoom(queue_.get(), *pod, decision.node);
  }
  return {};
}

}  // namespace schedq
