#include "engine/pod_events.h"

#include <cstdint>
#include <memory>
#include <string>

namespace schedq {
namespace {

// The quantity of `name`, or nullptr when the pod does not ask for it.
const int64_t* Requested(const ResourceList& requests, const std::string& name) {
  for (const auto& [resource, quantity] : requests) {
    if (resource == name) return &quantity;
  }
  return nullptr;
}

// Some request of `larger` is smaller in, or absent from, `smaller`.
bool AsksForLess(const ResourceList& smaller, const ResourceList& larger) {
  for (const auto& [resource, quantity] : larger) {
    const int64_t* other = Requested(smaller, resource);
    if (other == nullptr || *other < quantity) return true;
  }
  return false;
}

ObjectRef TargetPod(const PodRef& pod) {
  if (!pod) return nullptr;
  auto object = std::make_shared<ObjectView>();
  object->resource = Resource::kTargetPod;
  object->namespace_name = pod->namespace_name;
  object->name = pod->name;
  object->uid = pod->uid;
  object->labels = pod->labels;
  object->pod = pod;
  return object;
}

}  // namespace

ObjectChange TargetPodChange(const PodRef& before, const PodRef& after) {
  return {TargetPod(before), TargetPod(after)};
}

PodUpdateEvents::PodUpdateEvents(const Pod& before, const Pod& after) {
  AddIf(before.labels != after.labels, Action::kUpdatePodLabel);
  AddIf(AsksForLess(after.requests, before.requests), Action::kUpdatePodScaleDown);
  AddIf(AsksForLess(before.requests, after.requests), Action::kUpdatePodScaleUp);
  AddIf(!before.scheduling_gates.empty() && after.scheduling_gates.empty(),
        Action::kUpdatePodSchedulingGatesEliminated);
  AddIf(before.tolerations.size() != after.tolerations.size(), Action::kUpdatePodToleration);
  AddIf(before.generated_claims != after.generated_claims,
        Action::kUpdatePodGeneratedResourceClaim);
  AddIf(count_ == 0, Action::kUpdate);
}

void PodUpdateEvents::AddIf(bool changed, Action action) {
  if (changed) events_[count_++] = MakeEvent(Resource::kTargetPod, action);
}

}  // namespace schedq
