// The features that a workload may need of the simulation, and whether the simulation has each.
//
// Purpose: the one table of what is modelled. Readers of objects and operations note every feature
// that they meet. A change that models a feature sets its flag in features.cc, and the workloads
// that need it run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace schedq {

enum class Feature : uint8_t {
  // Operations.
  kUpdateAny,
  kUpdatedKind,
  kCreatePodGroups,
  kCollectProfile,
  kCsiNodeAllocatable,
  // Pods.
  kNodeAffinity,
  kPreferredNodeAffinity,
  kPodAffinity,
  kPreferredPodAffinity,
  kPodAntiAffinity,
  kPreferredPodAntiAffinity,
  kTopologySpread,
  kPreferredTopologySpread,
  kHostPorts,
  kNodeFeatures,
  kPersistentVolumes,
  kEphemeralVolumes,
  kPodGroups,
  kGroupClaims,
  kPreboundPods,
  kPriorityClasses,
  kPreemption,
  kOtherScheduler,
  // Dynamic resource allocation.
  kClaimSelectors,
  kClaimConstraints,
  kClaimAlternatives,
  kClaimTolerations,
  kClaimAdminAccess,
  kClaimCapacity,
  kClaimAllDevices,
  kClaimDerivedAttributes,
  kClassSelectors,
  kClassExtendedResource,
  kSliceCounters,
  kSliceSharedDevices,
  kSliceNodeSelector,
  kSliceTaints,
  kBindingConditions,
  kNodeAllocatableDevices,
  kOptionalNodeOperations,
  kImplicitExtendedResource,
  // Everything else.
  kObjectKind,
  kSchedulerConfiguration,
  kSchedulerScoring,
  kSchedulerArguments,
  kFeatureGate,
  kMetric,
  kDefect,
};

struct FeatureInfo {
  Feature feature;
  std::string_view name;
  bool modelled;
  bool blocks;  // While not modelled: true skips the workload, false only names the feature.
};

const FeatureInfo& GetFeatureInfo(Feature feature);

// One use of a feature by a workload.
struct FeatureUse {
  Feature feature;
  std::string detail;  // The gate, kind, metric, ...; may be empty.

  bool operator==(const FeatureUse&) const = default;
};
using FeatureUses = std::vector<FeatureUse>;

// Adds a use unless it is there already.
void AddFeature(FeatureUses& uses, Feature feature, std::string detail = "");

}  // namespace schedq
