#include "schedq/api_calls.h"

#include <optional>
#include <utility>

#include "dispatcher/server/pod_patch.h"

namespace schedq {
namespace {

CallQueueOptions OptionsOfQueue(const ApiCallOptions& options,
                                const ApiCalls::Surroundings& surroundings) {
  CallQueueOptions queue;
  queue.clock = surroundings.clock;
  queue.metrics = options.metrics != nullptr ? options.metrics : surroundings.metrics;
  queue.in_flight_max = options.in_flight_max;
  queue.calls_per_second = options.calls_per_second;
  queue.burst = options.burst;
  queue.events_have_client = options.events_have_client;
  queue.on_exception = options.on_exception;
  return queue;
}

}  // namespace

ApiCalls::ApiCalls(const ApiCallOptions& options, Surroundings surroundings)
    : reports_failures_(options.reports_failures),
      sees_with_updates_(options.sees_with_updates),
      nominates_(surroundings.gates.On(Gate::kNominatedNodeNameForExpectation)),
      pod_names_(*surroundings.pod_names) {
  const CallQueueOptions queue_options = OptionsOfQueue(options, surroundings);
  if (options.driver == CallDriver::kClock) {
    by_clock_ = std::make_unique<ClockDispatcher>(queue_options, options.sink);
  } else {
    by_thread_ = std::make_unique<ThreadDispatcher>(queue_options, options.sink);
  }
  nominations_ = std::make_unique<NominationReporter>(&queue());
  if (!surroundings.gates.On(Gate::kSchedulerPreEnqueuePodStatus)) return;
  StatusReporterOptions reporter;
  reporter.queue = &queue();
  reporter.model = options.status_model;
  reporter.delay = options.status_delay;
  reporter.user_message = std::move(surroundings.user_message);
  statuses_ = std::make_unique<StatusReporter>(std::move(reporter));
}

ApiCalls::~ApiCalls() = default;

CallQueue<>& ApiCalls::queue() {
  return by_clock_ != nullptr ? by_clock_->queue() : by_thread_->queue();
}

QueueObserver* ApiCalls::observer() {
  if (statuses_ != nullptr) return statuses_.get();
  return &deletions_;
}

void ApiCalls::DeletionObserver::OnDeleted(const PodRef&, const PodMove& move) {
  calls_.queue().Cancel(move.pod.id);
}

void ApiCalls::Seen(const Pod& before, const PodRef& after) {
  const std::optional<PodId> id = pod_names_.Find(before.namespace_name, before.name);
  if (id) queue().Sync(*id, after);
}

void ApiCalls::ReportUnschedulable(const PodKey& key, const PodRef& pod, std::string message) {
  ApiCall call;
  call.object = key.id;
  call.pod = pod;
  call.condition = {ConditionPatch::Kind::kSet, kUnschedulableReason, std::move(message)};
  queue().Add(std::move(call));
}

void ApiCalls::ReportFailedCycle(const FailedCycle& cycle) {
  // What a preemption nominates is shown, and taken back, with or without the gate.
  const bool shows_one = cycle.pod != nullptr && !cycle.pod->nominated_node_name.empty();
  if (!nominates_ && cycle.post_filter_node.empty() && !shows_one) return;
  nominations_->OnFailedCycle(cycle);
}

Status ApiCalls::ReportBindingStart(BindingStart start) {
  if (!nominates_) return Status::Ok();
  return nominations_->OnBindingStart(std::move(start));
}

void ApiCalls::SendBinding(const PodKey& key, const PodRef& pod, const std::string& node,
                           CallListener* listener, uint64_t tag) {
  ApiCall call;
  call.object = key.id;
  call.type = CallType::kBinding;
  call.pod = pod;
  call.listener = listener;
  call.tag = tag;
  call.placement.Mutable().node = node;
  queue().Add(std::move(call));
}

void ApiCalls::Close() {
  if (by_thread_ != nullptr) return by_thread_->Close();
  by_clock_->queue().Close();
}

}  // namespace schedq
