#include "bench/format/workload/features.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace schedq {
namespace {

constexpr bool kModelled = true;
constexpr bool kMissing = false;
constexpr bool kBlocks = true;
constexpr bool kNamedOnly = false;

// The table has the order of the enumeration.
constexpr FeatureInfo kFeatures[] = {
    {Feature::kUpdateAny, "updateAny operations", kModelled, kBlocks},
    {Feature::kUpdatedKind, "updates of objects of kind", kMissing, kBlocks},
    {Feature::kCreatePodGroups, "createPodGroups operations", kModelled, kBlocks},
    {Feature::kCollectProfile, "collecting profiles", kMissing, kNamedOnly},
    {Feature::kCsiNodeAllocatable, "CSI volume limits of nodes", kModelled, kBlocks},
    {Feature::kNodeAffinity, "required node affinity", kModelled, kBlocks},
    {Feature::kPreferredNodeAffinity, "preferred node affinity", kModelled, kBlocks},
    {Feature::kPodAffinity, "pod affinity", kModelled, kBlocks},
    {Feature::kPreferredPodAffinity, "preferred pod affinity", kModelled, kBlocks},
    {Feature::kPodAntiAffinity, "pod anti-affinity", kModelled, kBlocks},
    {Feature::kPreferredPodAntiAffinity, "preferred pod anti-affinity", kModelled, kBlocks},
    {Feature::kTopologySpread, "topology spread", kModelled, kBlocks},
    {Feature::kPreferredTopologySpread, "preferred topology spread", kModelled, kBlocks},
    {Feature::kHostPorts, "host ports", kModelled, kBlocks},
    {Feature::kNodeFeatures, "features that nodes declare", kModelled, kBlocks},
    {Feature::kPersistentVolumes, "persistent volumes", kModelled, kBlocks},
    {Feature::kEphemeralVolumes, "generic ephemeral volumes", kMissing, kBlocks},
    {Feature::kPodGroups, "pod groups", kModelled, kBlocks},
    {Feature::kGroupClaims, "resource claims of pod groups", kModelled, kBlocks},
    {Feature::kPreboundPods, "pods created with a node name", kModelled, kBlocks},
    {Feature::kPriorityClasses, "priority classes", kModelled, kBlocks},
    {Feature::kPreemption, "preemption", kModelled, kBlocks},
    {Feature::kOtherScheduler, "other schedulers", kModelled, kBlocks},
    {Feature::kClaimSelectors, "CEL selectors in claims", kModelled, kBlocks},
    {Feature::kClaimConstraints, "constraints in claims", kModelled, kBlocks},
    {Feature::kClaimAlternatives, "prioritized lists in claims", kModelled, kBlocks},
    {Feature::kClaimTolerations, "device tolerations in claims", kModelled, kBlocks},
    {Feature::kClaimAdminAccess, "admin access in claims", kModelled, kBlocks},
    {Feature::kClaimCapacity, "capacity requests in claims", kModelled, kBlocks},
    {Feature::kClaimAllDevices, "allocation mode All in claims", kModelled, kBlocks},
    {Feature::kClaimDerivedAttributes, "derived attributes in claims", kMissing, kBlocks},
    {Feature::kClassSelectors, "CEL selectors in device classes", kModelled, kBlocks},
    {Feature::kClassExtendedResource, "extended resources of device classes", kModelled, kBlocks},
    {Feature::kSliceCounters, "partitionable devices", kModelled, kBlocks},
    {Feature::kSliceSharedDevices, "devices with several allocations", kModelled, kBlocks},
    {Feature::kSliceNodeSelector, "devices outside one node", kModelled, kBlocks},
    {Feature::kSliceTaints, "device taints", kModelled, kBlocks},
    {Feature::kBindingConditions, "binding conditions of devices", kModelled, kBlocks},
    {Feature::kNodeAllocatableDevices, "devices that use up a node's resources", kMissing, kBlocks},
    {Feature::kOptionalNodeOperations, "optional node operations of devices", kMissing, kBlocks},
    {Feature::kImplicitExtendedResource, "implicit extended resources", kModelled, kBlocks},
    {Feature::kObjectKind, "objects of kind", kMissing, kBlocks},
    {Feature::kSchedulerConfiguration, "scheduler configuration", kMissing, kBlocks},
    {Feature::kSchedulerScoring, "scoring configuration", kMissing, kBlocks},
    {Feature::kSchedulerArguments, "arguments of plugin", kMissing, kNamedOnly},
    {Feature::kFeatureGate, "feature gate", kMissing, kNamedOnly},
    {Feature::kMetric, "metric", kMissing, kNamedOnly},
    {Feature::kDefect, "a correct workload", kMissing, kBlocks},
};

constexpr bool InOrder() {
  for (size_t i = 0; i < std::size(kFeatures); ++i) {
    if (static_cast<size_t>(kFeatures[i].feature) != i) return false;
  }
  return std::size(kFeatures) == static_cast<size_t>(Feature::kDefect) + 1;
}
static_assert(InOrder(), "the table of features is in the order of the enumeration");

}  // namespace

const FeatureInfo& GetFeatureInfo(Feature feature) {
  return kFeatures[static_cast<size_t>(feature)];
}

void AddFeature(FeatureUses& uses, Feature feature, std::string detail) {
  FeatureUse use{feature, std::move(detail)};
  if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(std::move(use));
}

}  // namespace schedq
