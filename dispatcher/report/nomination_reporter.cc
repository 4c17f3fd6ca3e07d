#include "dispatcher/report/nomination_reporter.h"

#include <algorithm>
#include <utility>

#include "dispatcher/api_call.h"
#include "engine/pod.h"

namespace schedq {
namespace {

// "" clears.
ApiCall NominationOf(PodRef pod, ObjectId object, std::string node, CallListener* listener) {
  ApiCall call;
  call.listener = listener;
  call.object = object;
  call.type = CallType::kStatusPatch;
  call.pod = std::move(pod);
  call.placement.Mutable().nomination = std::move(node);
  return call;
}

}  // namespace

Status NominationReporter::OnBindingStart(BindingStart start) {
  const auto says = [&](PreFlight answer) {
    return std::find(start.pre_flights.begin(), start.pre_flights.end(), answer) !=
           start.pre_flights.end();
  };
  if (says(PreFlight::kError)) return Error("a PreBind plugin rejected the pod before its work");
  if (!start.permit_waits && !says(PreFlight::kSuccess)) {
    saved_.fetch_add(1);
    return Status::Ok();
  }
  ApiCall call = NominationOf(std::move(start.pod), start.object, std::move(start.node), this);
  call.placement.Mutable().claims = std::move(start.claims);
  call.placement.Mutable().asked_by = start.listener;
  call.tag = start.tag;
  queue_.Add(std::move(call));
  return Status::Ok();
}

void NominationReporter::OnFailedCycle(const FailedCycle& cycle) {
  const bool is_unschedulable = cycle.failure == CycleFailure::kUnschedulable;
  const std::string node = is_unschedulable ? cycle.post_filter_node : "";
  if (is_unschedulable && node.empty() && cycle.victims_are_going) return;
  queue_.Add(NominationOf(cycle.pod, cycle.object, node, this));
}

void NominationReporter::OnEnd(const ApiCall& call, CallEnd end, const Status& status) {
  const bool is_made = end == CallEnd::kSuccess || end == CallEnd::kError;
  (is_made ? made_ : dropped_).fetch_add(1);
  CallListener* const asked_by = call.placement->asked_by;
  if (asked_by != nullptr) asked_by->OnEnd(call, end, status);
}

NominationCounts NominationReporter::counts() const {
  return {.made = made_.load(), .dropped = dropped_.load(), .saved = saved_.load()};
}

}  // namespace schedq
