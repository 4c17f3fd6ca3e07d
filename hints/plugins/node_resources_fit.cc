// NodeResourcesFit: a node must have what the pod requests.
//
// Worth another attempt: a node appears that could hold the pod if it were empty, or grows in
// something that the pod requests and could hold it now; a pod that held resources goes or shrinks;
// the pod itself shrinks. Left out: extended resources that DRA provides, and deferred resizes.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"

namespace schedq {
namespace {

// How many pods a node takes. A node without this quantity counts as one without this limit, so
// that no pod keeps waiting because a fact is missing.
constexpr char kPods[] = "pods";

int64_t Quantity(const ResourceList& list, std::string_view name, int64_t missing = 0) {
  for (const auto& [resource, quantity] : list) {
    if (resource == name) return quantity;
  }
  return missing;
}

bool FitsEmptyNode(const Pod& pod, const ObjectView& node) {
  return Quantity(node.allocatable, kPods, 1) >= 1 &&
         std::all_of(pod.requests.begin(), pod.requests.end(), [&](const auto& request) {
           return request.second <= Quantity(node.allocatable, request.first);
         });
}

// Something that the pod requests is more in `larger` than in `smaller`.
bool HoldsMoreOfRequested(const Pod& pod, const ResourceList& larger, const ResourceList& smaller) {
  return std::any_of(pod.requests.begin(), pod.requests.end(), [&](const auto& request) {
    return request.second > 0 && Quantity(larger, request.first) > Quantity(smaller, request.first);
  });
}

Hint AfterNodeChange(const Pod& pod, const ObjectChange& change) {
  if (change.after == nullptr) return Hint::kError;
  if (!FitsEmptyNode(pod, *change.after)) return Hint::kSkip;
  if (change.before == nullptr) return Hint::kQueue;
  const ResourceList& now = change.after->allocatable;
  const ResourceList& before = change.before->allocatable;
  const bool grew =
      Quantity(now, kPods) > Quantity(before, kPods) || HoldsMoreOfRequested(pod, now, before);
  return grew ? Hint::kQueue : Hint::kSkip;
}

Hint AfterAssignedPodDelete(const Pod&, const ObjectChange& change) {
  const ObjectView* object = change.Latest();
  if (object == nullptr || object->pod == nullptr) return Hint::kError;
  const Pod& gone = *object->pod;
  const bool held_resources = !gone.node_name.empty() || !gone.nominated_node_name.empty();
  return held_resources ? Hint::kQueue : Hint::kSkip;
}

Hint AfterAssignedPodScaleDown(const Pod& pod, const ObjectChange& change) {
  if (change.before == nullptr || change.before->pod == nullptr || change.after == nullptr ||
      change.after->pod == nullptr) {
    return Hint::kError;
  }
  if (change.after->pod->node_name.empty()) return Hint::kSkip;
  const bool freed =
      HoldsMoreOfRequested(pod, change.before->pod->requests, change.after->pod->requests);
  return freed ? Hint::kQueue : Hint::kSkip;
}

}  // namespace

Plugin NodeResourcesFitPlugin() {
  Plugin plugin;
  plugin.name = "NodeResourcesFit";
  plugin.rejection_message = "no node has enough free resources for the pod's requests";
  plugin.events = {
      {Resource::kAssignedPod, Action::kDelete, AfterAssignedPodDelete, {}},
      {Resource::kNode, Action::kAdd | Action::kUpdateNodeAllocatable, AfterNodeChange, {}},
      {Resource::kAssignedPod, Action::kUpdatePodScaleDown, AfterAssignedPodScaleDown, {}},
      {Resource::kTargetPod, Action::kUpdatePodScaleDown, {}, {}},
  };
  return plugin;
}

}  // namespace schedq
