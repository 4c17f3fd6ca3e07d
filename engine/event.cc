#include "engine/event.h"

#include <array>
#include <bit>
#include <string>

#include "engine/base/result.h"

namespace schedq {
namespace {

struct ResourceNames {
  std::string_view name;   // As traces and plugins write it.
  std::string_view label;  // As metrics write it.
};

constexpr std::array<ResourceNames, kResourceCount> kResources = {{
    {"Node", "Node"},
    {"Pod", "Pod"},
    {"AssignedPod", "AssignedPod"},
    {"UnscheduledPod", "UnscheduledPod"},
    {"TargetPod", "TargetPod"},
    {"PersistentVolume", "PersistentVolume"},
    {"PersistentVolumeClaim", "PersistentVolumeClaim"},
    {"CSINode", "storage.k8s.io/CSINode"},
    {"CSIDriver", "storage.k8s.io/CSIDriver"},
    {"VolumeAttachment", "storage.k8s.io/VolumeAttachment"},
    {"CSIStorageCapacity", "storage.k8s.io/CSIStorageCapacity"},
    {"StorageClass", "storage.k8s.io/StorageClass"},
    {"ResourceClaim", "resource.k8s.io/ResourceClaim"},
    {"ResourceSlice", "resource.k8s.io/ResourceSlice"},
    {"DeviceClass", "resource.k8s.io/DeviceClass"},
    {"PodGroup", "scheduling.k8s.io/PodGroup"},
    {"CompositePodGroup", "scheduling.k8s.io/CompositePodGroup"},
    {"*", "*"},
}};

// Single bits in the order of their positions, then the two unions.
constexpr std::array<std::string_view, kActionCount> kActions = {
    "Add",
    "Delete",
    "UpdateNodeAllocatable",
    "UpdateNodeLabel",
    "UpdateNodeTaint",
    "UpdateNodeCondition",
    "UpdateNodeAnnotation",
    "UpdateNodeDeclaredFeature",
    "UpdateNodePreemptionPolicy",
    "UpdatePodLabel",
    "UpdatePodScaleDown",
    "UpdatePodScaleUp",
    "UpdatePodToleration",
    "UpdatePodSchedulingGatesEliminated",
    "UpdatePodGeneratedResourceClaim",
    "Update",
    "All",
};
constexpr int kUpdateIndex = kActionCount - 2;
constexpr int kAllIndex = kActionCount - 1;

constexpr std::array<std::string_view, kSpecialLabelCount> kSpecialLabels = {
    "ScheduleAttemptFailure", "BackoffComplete",      "PopFromBackoffQ",
    "ForceActivate",          "UnschedulableTimeout", "PodPopped",
};

int IndexOf(Action action) {
  if (action == Action::kUpdate) return kUpdateIndex;
  if (action == Action::kAll) return kAllIndex;
  const auto bits = static_cast<uint32_t>(action);
  SCHEDQ_CHECK(std::has_single_bit(bits) && action != Action::kUpdateOther,
               "an incoming event has one action");
  return std::countr_zero(bits);
}

Action ActionAt(int index) {
  if (index == kUpdateIndex) return Action::kUpdate;
  if (index == kAllIndex) return Action::kAll;
  return static_cast<Action>(1u << index);
}

// Built once: a label's text lives as long as the process.
std::array<std::string, kEventLabelCount> BuildLabelTexts() {
  std::array<std::string, kEventLabelCount> texts;
  for (int resource = 0; resource < kResourceCount; ++resource) {
    for (int action = 0; action < kActionCount; ++action) {
      texts[resource * kActionCount + action] =
          std::string(kResources[resource].label) + std::string(kActions[action]);
    }
  }
  for (int special = 0; special < kSpecialLabelCount; ++special) {
    texts[kResourceCount * kActionCount + special] = std::string(kSpecialLabels[special]);
  }
  return texts;
}

bool MatchesResource(Resource registered, Resource incoming) {
  if (registered == Resource::kWildcard || registered == incoming) return true;
  return registered == Resource::kPod &&
         (incoming == Resource::kAssignedPod || incoming == Resource::kUnscheduledPod ||
          incoming == Resource::kTargetPod);
}

}  // namespace

ClusterEvent MakeEvent(Resource resource, Action action) {
  const int label = static_cast<int>(resource) * kActionCount + IndexOf(action);
  return {resource, action, static_cast<EventLabel>(label)};
}

bool Matches(Resource registered, Action registered_actions, const ClusterEvent& incoming) {
  if (registered == Resource::kWildcard && registered_actions == Action::kAll) return true;
  return MatchesResource(registered, incoming.resource) &&
         Contains(registered_actions, incoming.action);
}

EventLabel LabelOf(SpecialLabel label) {
  return static_cast<EventLabel>(kResourceCount * kActionCount + static_cast<int>(label));
}

ClusterEvent ForceActivateEvent() {
  return {Resource::kWildcard, Action::kAll, LabelOf(SpecialLabel::kForceActivate)};
}

ClusterEvent UnschedulableTimeoutEvent() {
  return {Resource::kWildcard, Action::kAll, LabelOf(SpecialLabel::kUnschedulableTimeout)};
}

std::string_view LabelText(EventLabel label) {
  static const std::array<std::string, kEventLabelCount> kTexts = BuildLabelTexts();
  SCHEDQ_CHECK(label < kEventLabelCount, "a label is made by MakeEvent or LabelOf");
  return kTexts[label];
}

std::optional<Resource> ParseResource(std::string_view name) {
  for (int i = 0; i < kResourceCount; ++i) {
    if (kResources[i].name == name) return static_cast<Resource>(i);
  }
  return std::nullopt;
}

std::optional<Action> ParseAction(std::string_view name) {
  for (int i = 0; i < kActionCount; ++i) {
    if (kActions[i] == name) return ActionAt(i);
  }
  return std::nullopt;
}

std::string_view ResourceName(Resource resource) {
  return kResources[static_cast<int>(resource)].name;
}

std::string_view ActionName(Action action) { return kActions[IndexOf(action)]; }

}  // namespace schedq
