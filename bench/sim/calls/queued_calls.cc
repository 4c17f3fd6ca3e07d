#include "bench/sim/calls/queued_calls.h"

#include <array>
#include <utility>

#include "bench/sim/calls/direct_calls.h"
#include "dispatcher/server/pod_patch.h"

namespace schedq {
namespace {

// kube-scheduler has as many calls in flight as its parallelism, 16 unless it is told otherwise.
constexpr uint32_t kInFlightMax = 16;

CallQueueOptions OptionsOfQueue(const PodCallsOptions& options) {
  CallQueueOptions queue;
  queue.clock = &options.cluster->clock();
  queue.metrics = options.metrics;
  queue.in_flight_max = kInFlightMax;
  queue.calls_per_second = static_cast<double>(kSecond.count()) /
                           static_cast<double>(options.costs->client_interval.count());
  queue.burst = static_cast<uint32_t>(queue.calls_per_second);
  return queue;
}

}  // namespace

std::unique_ptr<PodCalls> MakePodCalls(const PodCallsOptions& options) {
  if (options.gates.On(Gate::kSchedulerAsyncAPICalls)) {
    return std::make_unique<QueuedCalls>(options);
  }
  return std::make_unique<DirectCalls>(options);
}

QueuedCalls::QueuedCalls(const PodCallsOptions& options)
    : options_(options),
      clock_(options.cluster->clock()),
      sink_({.cluster = options.cluster,
             .costs = options.costs,
             .random = options.random,
             .metrics = options.metrics,
             .store_claims = [this](uint64_t pod_number) { return StoreClaims(pod_number); }}),
      dispatcher_(OptionsOfQueue(options), &sink_) {
  nomination_reporter_ = std::make_unique<NominationReporter>(&dispatcher_.queue());
  if (!options.gates.On(Gate::kSchedulerPreEnqueuePodStatus)) return;
  StatusReporterOptions reporter;
  reporter.queue = &dispatcher_.queue();
  reporter.model = options.status_model;
  reporter.user_message = options.user_message;
  status_reporter_ = std::make_unique<StatusReporter>(std::move(reporter));
}

std::vector<QueueObserver*> QueuedCalls::observers() {
  if (status_reporter_ != nullptr) return {status_reporter_.get()};
  return {this};
}

void QueuedCalls::OnDeleted(const PodRef&, const PodMove& move) {
  dispatcher_.queue().Cancel(move.pod.id);
}

void QueuedCalls::Seen(const PodKey& key, const PodRef& pod) {
  dispatcher_.queue().Sync(key.id, pod);
}

void QueuedCalls::PatchCondition(const PodKey& key, const PodRef& pod, PodCondition condition) {
  ApiCall call;
  call.object = key.id;
  call.pod = pod;
  call.condition = {ConditionPatch::Kind::kSet, kUnschedulableReason, std::move(condition.message)};
  dispatcher_.queue().Add(std::move(call));
}

// A nomination that fails stops no binding, but claims that were not stored do.
void QueuedCalls::BeginBinding(BindingBegin begin, Begun then) {
  if (!Nominates() || begin.claims.empty()) return then(ClaimsAfterBegin::kToStore);
  const uint64_t pod_number = AsClusterPod(*begin.pod).number;
  const std::array<PreFlight, 1> answers = {PreFlight::kSuccess};
  BindingStart start;
  start.pod = std::move(begin.pod);
  start.object = begin.key.id;
  start.node = std::move(begin.node);
  start.pre_flights = answers;
  for (std::string& claim : begin.claims) start.claims.push_back({std::move(claim), start.node});
  start.listener = this;
  start.tag = ++last_binding_;
  claims_[pod_number] = std::move(begin.store_claims);
  binding_[start.tag] = [this, pod_number, then = std::move(then)](const Status& status) {
    claims_.erase(pod_number);
    then(status.ok() ? ClaimsAfterBegin::kStored : ClaimsAfterBegin::kFailed);
  };
  const Status started = nomination_reporter_->OnBindingStart(std::move(start));
  SCHEDQ_CHECK(started.ok(), "no built-in plugin rejects here");
}

bool QueuedCalls::StoreClaims(uint64_t pod_number) const {
  const auto found = claims_.find(pod_number);
  return found != claims_.end() && found->second();
}

void QueuedCalls::ClearNomination(const PodKey& key, const PodRef& pod) {
  if (!Nominates()) return;
  nomination_reporter_->OnFailedCycle(
      {.pod = pod, .object = key.id, .failure = CycleFailure::kBinding, .post_filter_node = {}});
}

void QueuedCalls::Bind(const PodKey& key, const PodRef& pod, const std::string& node, Then then) {
  ApiCall call;
  call.object = key.id;
  call.type = CallType::kBinding;
  call.pod = pod;
  call.listener = this;
  call.tag = ++last_binding_;
  call.placement.Mutable().node = node;
  binding_[call.tag] = std::move(then);
  dispatcher_.queue().Add(std::move(call));
}

// A call that is dropped may end inside an operation of the queue, which `then` may want to use.
void QueuedCalls::OnEnd(const ApiCall& call, CallEnd end, const Status& status) {
  const auto found = binding_.find(call.tag);
  if (found == binding_.end()) return;
  Then then = std::move(found->second);
  binding_.erase(found);
  if (end == CallEnd::kSuccess || end == CallEnd::kError) return then(status);
  clock_.At(clock_.Now(), [then = std::move(then)] { then(Error("the pod is gone")); });
}

}  // namespace schedq
