#include "dispatcher/report/nomination_reporter.h"

#include <algorithm>
#include <utility>

namespace schedq {

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
  Nominate(start.pod, start.object, std::move(start.node), std::move(start.claims));
  return Status::Ok();
}

void NominationReporter::OnFailedCycle(const FailedCycle& cycle) {
  const bool is_unschedulable = cycle.failure == CycleFailure::kUnschedulable;
  if (is_unschedulable && !cycle.post_filter_node.empty()) {
    return Nominate(cycle.pod, cycle.object, cycle.post_filter_node, {});
  }
  if (is_unschedulable && cycle.victims_are_going) return;
  Nominate(cycle.pod, cycle.object, "", {});
}

void NominationReporter::Nominate(const PodRef& pod, ObjectId object, std::string node,
                                  std::vector<ClaimAllocation> claims) {
  calls_.fetch_add(1);
  ApiCall call;
  call.object = object;
  call.type = CallType::kStatusPatch;
  call.pod = pod;
  Placement& placement = call.placement.Mutable();
  placement.nomination = std::move(node);
  placement.claims = std::move(claims);
  queue_.Add(std::move(call));
}

}  // namespace schedq
