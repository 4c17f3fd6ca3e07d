#include "bench/sim/calls/queued_calls.h"

#include <array>
#include <memory>
#include <utility>

#include "bench/sim/calls/direct_calls.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "dispatcher/report/nomination_reporter.h"
#include "dispatcher/report/pre_flight.h"
#include "engine/base/time/time.h"
#include "schedq/attempt.h"

namespace schedq {
namespace {

// kube-scheduler has at most as many calls in flight as its parallelism, which is 16 by default.
constexpr uint32_t kInFlightMax = 16;

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
             .store_claims = [this](uint64_t pod_number) { return StoreClaims(pod_number); }}) {}

std::optional<ApiCallOptions> QueuedCalls::ApiCallsWanted() {
  ApiCallOptions wanted;
  wanted.sink = &sink_;
  wanted.driver = CallDriver::kClock;
  wanted.in_flight_max = kInFlightMax;
  wanted.calls_per_second = static_cast<double>(kSecond.count()) /
                            static_cast<double>(options_.costs->client_interval.count());
  wanted.burst = static_cast<uint32_t>(wanted.calls_per_second);
  wanted.status_model = options_.status_model;
  wanted.reports_failures = false;   // The scheduler itself patches the condition of failed pods.
  wanted.sees_with_updates = false;  // The scheduler's handlers lag behind the watch.
  wanted.metrics = options_.metrics;
  wanted.on_exception = [this] {
    if (thrown_ == nullptr) thrown_ = std::current_exception();
  };
  return wanted;
}

void QueuedCalls::OnNewVersion(const PodKey& key, const PodRef& pod) {
  calls_->queue().Sync(key.id, pod);
}

void QueuedCalls::PatchCondition(const PodKey& key, const PodRef& pod, PodCondition condition) {
  calls_->ReportUnschedulable(key, pod, std::move(condition.message));
}

// A failed nomination does not end the binding, but claims that were not stored do.
void QueuedCalls::BeginBinding(BindingBegin begin, Begun then) {
  if (!calls_->nominates() || begin.claims.empty()) return then(ClaimsAfterBegin::kToStore);
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
  const Status started = calls_->ReportBindingStart(std::move(start));
  SCHEDQ_CHECK(started.ok(), "no built-in plugin rejects here");
}

bool QueuedCalls::StoreClaims(uint64_t pod_number) const {
  const auto found = claims_.find(pod_number);
  return found != claims_.end() && found->second();
}

void QueuedCalls::ShowNode(const PodKey& key, const PodRef& pod, const std::string& node) {
  BindingStart start;
  start.pod = pod;
  start.object = key.id;
  start.node = node;
  start.permit_waits = true;
  const Status started = calls_->ReportBindingStart(std::move(start));
  SCHEDQ_CHECK(started.ok(), "no PreBind plugin was asked yet");
}

void QueuedCalls::EndFailedCycle(const PodKey& key, const PodRef& pod,
                                 const FailedNomination& nomination) {
  FailedCycle cycle;
  cycle.pod = pod;
  cycle.object = key.id;
  cycle.post_filter_node = nomination.node;
  cycle.victims_are_going = nomination.victims_are_going;
  calls_->ReportFailedCycle(cycle);
}

void QueuedCalls::ClearNomination(const PodKey& key, const PodRef& pod) {
  FailedCycle cycle;
  cycle.pod = pod;
  cycle.object = key.id;
  cycle.failure = CycleFailure::kBinding;
  calls_->ReportFailedCycle(cycle);
}

void QueuedCalls::Bind(const PodKey& key, const PodRef& pod, const std::string& node, Then then) {
  binding_[++last_binding_] = std::move(then);
  calls_->SendBinding(key, pod, node, this, last_binding_);
}

// A dropped call may end inside an operation of the queue, which `then` may call, so `then` runs
// later.
void QueuedCalls::OnEnd(const ApiCall& call, CallEnd end, const Status& status) {
  const auto found = binding_.find(call.tag);
  if (found == binding_.end()) return;
  Then then = std::move(found->second);
  binding_.erase(found);
  if (end == CallEnd::kSuccess || end == CallEnd::kError) return then(status);
  clock_.At(clock_.Now(), [then = std::move(then)] { then(Error("the pod is gone")); });
}

}  // namespace schedq
