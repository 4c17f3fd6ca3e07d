#include "bench/sim/calls/queued_calls.h"

#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "bench/sim/calls/direct_calls.h"
#include "dispatcher/report/nomination_reporter.h"
#include "dispatcher/report/pre_flight.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/time/time.h"
#include "schedq/attempt.h"

namespace schedq {
namespace {

// kube-scheduler has no bound on the calls in flight.
constexpr uint32_t kInFlightMax = std::numeric_limits<uint32_t>::max();

}  // namespace

PodCalls::PodCalls(MetricsRegistry* metrics)
    : events_(PodEventsIn(metrics)),
      direct_(&metrics->Counters({.name = "schedq_direct_api_calls_total",
                                  .help = "API calls that went past the dispatcher.",
                                  .labels = {"call"}})) {}

std::unique_ptr<PodCalls> MakePodCalls(const PodCallsOptions& options) {
  if (options.gates.On(Gate::kSchedulerAsyncAPICalls)) {
    return std::make_unique<QueuedCalls>(options);
  }
  return std::make_unique<DirectCalls>(options);
}

QueuedCalls::QueuedCalls(const PodCallsOptions& options)
    : PodCalls(options.metrics),
      options_(options),
      rate_(ClientRate::Of(options.settings, *options.costs)),
      clock_(options.cluster->clock()),
      sink_({.cluster = options.cluster,
             .costs = options.costs,
             .random = options.random,
             .events = events(),
             .take_token = [this] { return NextToken(); }}),
      arrivals_(&clock_, &sink_, options.settings, rate_) {}

std::optional<ApiCallOptions> QueuedCalls::ApiCallsWanted() {
  ApiCallOptions wanted;
  wanted.sink = &sink_;
  wanted.driver = CallDriver::kClock;
  wanted.in_flight_max = kInFlightMax;
  wanted.calls_per_second = rate_.calls_per_second;
  wanted.burst = rate_.burst;
  wanted.events_have_client = options_.settings.events_have_client;
  if (goes_by_arrival()) {
    wanted.sink = &arrivals_;
    wanted.calls_per_second = 0;
  }
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

Duration QueuedCalls::NextToken() {
  if (goes_by_arrival()) return arrivals_.TakeToken();
  return calls_->queue().TakeToken(clock_.Now()) - clock_.Now();
}

void QueuedCalls::TakeEventToken() {
  if (options_.settings.events_have_client) return;
  goes_by_arrival() ? arrivals_.TakeEventToken() : calls_->queue().TakeEventToken(clock_.Now());
}

uint64_t QueuedCalls::WaitWith(Then then) {
  waiting_[++last_tag_] = std::move(then);
  return last_tag_;
}

void QueuedCalls::PatchCondition(const PodKey& key, const PodRef& pod, FailureText failure,
                                 std::function<void()> ended) {
  ApiCall call;
  call.object = key.id;
  call.pod = pod;
  call.condition = {ConditionPatch::Kind::kSet, failure.reason, std::move(failure.message)};
  if (ended) {
    call.listener = this;
    call.tag = WaitWith([ended = std::move(ended)](const Status&) { ended(); });
  }
  calls_->queue().Add(std::move(call));
}

// A nomination that fails does not end the binding.
void QueuedCalls::BeginBinding(const PodKey& key, const PodRef& pod, const std::string& node,
                               bool has_work, std::function<void()> then) {
  if (calls_->nominates() && has_work) {
    const std::array<PreFlight, 1> answers = {PreFlight::kSuccess};
    BindingStart start;
    start.pod = pod;
    start.object = key.id;
    start.node = node;
    start.pre_flights = answers;
    const Status started = calls_->ReportBindingStart(std::move(start));
    SCHEDQ_CHECK(started.ok(), "no built-in plugin rejects here");
  }
  then();
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
  calls_->SendBinding(key, pod, node, this, WaitWith(std::move(then)));
}

// A dropped call may end inside an operation of the queue, which `then` may call, so `then` runs
// later.
void QueuedCalls::OnEnd(const ApiCall& call, CallEnd end, const Status& status) {
  const auto found = waiting_.find(call.tag);
  if (found == waiting_.end()) return;
  Then then = std::move(found->second);
  waiting_.erase(found);
  if (end == CallEnd::kSuccess || end == CallEnd::kError) return then(status);
  clock_.At(clock_.Now(), [then = std::move(then)] { then(Error("the pod is gone")); });
}

}  // namespace schedq
