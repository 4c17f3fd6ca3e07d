#include "dispatcher/report/nomination_reporter.h"

#include <algorithm>
#include <utility>

namespace schedq {
namespace {

// "" clears.
ApiCall NominationOf(PodRef pod, ObjectId object, std::string node) {
  ApiCall call;
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
  ApiCall call = NominationOf(std::move(start.pod), start.object, std::move(start.node));
  call.placement.Mutable().claims = std::move(start.claims);
  call.listener = start.listener;
  call.tag = start.tag;
  Send(std::move(call));
  return Status::Ok();
}

void NominationReporter::OnFailedCycle(const FailedCycle& cycle) {
  const bool is_unschedulable = cycle.failure == CycleFailure::kUnschedulable;
  const std::string node = is_unschedulable ? cycle.post_filter_node : "";
  if (is_unschedulable && node.empty() && cycle.victims_are_going) return;
  Send(NominationOf(cycle.pod, cycle.object, node));
}

void NominationReporter::Send(ApiCall&& call) {
  calls_.fetch_add(1);
  queue_.Add(std::move(call));
}

}  // namespace schedq
