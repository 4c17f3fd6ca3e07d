#include "schedq/cluster_events.h"

#include <memory>

namespace schedq {

std::vector<ClusterEvent> NodeUpdateEvents(const ObjectView& before, const ObjectView& after) {
  std::vector<ClusterEvent> events;
  const auto add_if = [&](bool changed, Action action) {
    if (changed) events.push_back(MakeEvent(Resource::kNode, action));
  };
  // A node that is opened again is as good as one that lost a taint.
  add_if(before.unschedulable && !after.unschedulable, Action::kUpdateNodeTaint);
  add_if(before.allocatable != after.allocatable, Action::kUpdateNodeAllocatable);
  add_if(before.labels != after.labels, Action::kUpdateNodeLabel);
  add_if(before.taints != after.taints, Action::kUpdateNodeTaint);
  return events;
}

ObjectRef AssignedPodView(const PodRef& pod) {
  if (pod == nullptr) return nullptr;
  auto view = std::make_shared<ObjectView>();
  view->resource = Resource::kAssignedPod;
  view->namespace_name = pod->namespace_name;
  view->name = pod->name;
  view->uid = pod->uid;
  view->labels = pod->labels;
  view->pod = pod;
  return view;
}

Action ActionOf(const ObjectChange& change) {
  if (change.before == nullptr) return Action::kAdd;
  return change.after == nullptr ? Action::kDelete : Action::kUpdate;
}

}  // namespace schedq
