// Cluster events: a resource, an action, and the label that metrics and traces use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace schedq {

enum class Resource : uint8_t {
  kNode,
  kPod,
  kAssignedPod,
  kUnscheduledPod,
  kTargetPod,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kCSINode,
  kCSIDriver,
  kVolumeAttachment,
  kCSIStorageCapacity,
  kStorageClass,
  kResourceClaim,
  kResourceSlice,
  kDeviceClass,
  kPodGroup,
  kCompositePodGroup,
  kWildcard,
};
inline constexpr int kResourceCount = 18;

// Actions are bits; a registration may hold several, an incoming event usually holds one.
enum class Action : uint32_t {
  kNone = 0,
  kAdd = 1u << 0,
  kDelete = 1u << 1,
  kUpdateNodeAllocatable = 1u << 2,
  kUpdateNodeLabel = 1u << 3,
  kUpdateNodeTaint = 1u << 4,
  kUpdateNodeCondition = 1u << 5,
  kUpdateNodeAnnotation = 1u << 6,
  kUpdateNodeDeclaredFeature = 1u << 7,
  kUpdateNodePreemptionPolicy = 1u << 8,
  kUpdatePodLabel = 1u << 9,
  kUpdatePodScaleDown = 1u << 10,
  kUpdatePodScaleUp = 1u << 11,
  kUpdatePodToleration = 1u << 12,
  kUpdatePodSchedulingGatesEliminated = 1u << 13,
  kUpdatePodGeneratedResourceClaim = 1u << 14,
  kUpdateOther = 1u << 15,  // In Update and All only; not an action of its own.
  kUpdate = ((1u << 16) - 1) & ~3u,
  kAll = (1u << 16) - 1,
};

constexpr Action operator|(Action a, Action b) {
  return static_cast<Action>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
// Every bit of `inner` is in `outer`.
constexpr bool Contains(Action outer, Action inner) {
  return (static_cast<uint32_t>(inner) & ~static_cast<uint32_t>(outer)) == 0;
}

// A dense number for a label: resource x action, then the special labels.
using EventLabel = uint16_t;

struct ClusterEvent {
  Resource resource = Resource::kWildcard;
  Action action = Action::kAll;
  EventLabel label = 0;

  // Both the resource and the action are wildcards.
  bool IsWildcard() const { return resource == Resource::kWildcard && action == Action::kAll; }
};

// The event of one resource and one action (a single bit, kUpdate or kAll).
ClusterEvent MakeEvent(Resource resource, Action action);

// `registered` covers `incoming`: see docs/semantics.md, "Matching".
bool Matches(Resource registered, Action registered_actions, const ClusterEvent& incoming);

// Labels that no resource and action make.
enum class SpecialLabel : uint8_t {
  kScheduleAttemptFailure,
  kBackoffComplete,
  kPopFromBackoffQ,
  kForceActivate,
  kUnschedulableTimeout,
  kPodPopped,
};
EventLabel LabelOf(SpecialLabel label);
ClusterEvent ForceActivateEvent();
ClusterEvent UnschedulableTimeoutEvent();

inline constexpr int kActionCount = 17;  // 15 single bits, Update, All.
inline constexpr int kSpecialLabelCount = 6;
// Of pods that are added, and of groups whose object goes: those of the events of that name. Add is
// the first action, Update the last but one.
constexpr EventLabel UnscheduledPodAddLabel() {
  return static_cast<EventLabel>(static_cast<int>(Resource::kUnscheduledPod) * kActionCount);
}
constexpr EventLabel UnscheduledPodUpdateLabel() {
  return UnscheduledPodAddLabel() + kActionCount - 2;
}
inline constexpr EventLabel kNoLabel = 0xffff;  // A move that no event caused.
inline constexpr int kEventLabelCount = kResourceCount * kActionCount + kSpecialLabelCount;

// "resource.k8s.io/ResourceClaimUpdate", "BackoffComplete", ...
std::string_view LabelText(EventLabel label);

// Names as traces write them ("ResourceClaim", "*"; "UpdateNodeLabel"); nullopt if there is none.
std::optional<Resource> ParseResource(std::string_view name);
std::optional<Action> ParseAction(std::string_view name);
std::string_view ResourceName(Resource resource);
std::string_view ActionName(Action action);

}  // namespace schedq
