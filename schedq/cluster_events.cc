#include "schedq/cluster_events.h"

#include <memory>
#include <string>

#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

ObjectRef PodView(Resource resource, const PodRef& pod) {
  if (pod == nullptr) return nullptr;
  auto view = std::make_shared<ObjectView>();
  view->resource = resource;
  view->namespace_name = pod->namespace_name;
  view->name = pod->name;
  view->uid = pod->uid;
  view->labels = pod->labels;
  view->pod = pod;
  return view;
}

}  // namespace

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
  add_if(!DeclareTheSame(before, after), Action::kUpdateNodeDeclaredFeature);
  return events;
}

ObjectRef AssignedPodView(const PodRef& pod) { return PodView(Resource::kAssignedPod, pod); }

ObjectRef AssumedPodView(const Pod& pod, const std::string& node) {
  auto assumed = std::make_shared<Pod>(pod);
  assumed->node_name = node;
  return AssignedPodView(assumed);
}

std::function<bool(const Pod&)> MayTakeRoomOf(const Pod& nominated) {
  return [priority = nominated.priority](const Pod& pod) { return pod.priority <= priority; };
}

ObjectRef UnscheduledPodView(const PodRef& pod) { return PodView(Resource::kUnscheduledPod, pod); }

ObjectRef GroupView(const PodGroupRef& group) {
  if (group == nullptr) return nullptr;
  auto view = std::make_shared<ObjectView>();
  view->resource =
      group->key.kind == GroupKind::kPodGroup ? Resource::kPodGroup : Resource::kCompositePodGroup;
  view->namespace_name = group->key.namespace_name;
  view->name = group->key.name;
  view->min_count = group->min_count;
  return view;
}

Action ActionOf(const ObjectChange& change) {
  if (change.before == nullptr) return Action::kAdd;
  return change.after == nullptr ? Action::kDelete : Action::kUpdate;
}

}  // namespace schedq
