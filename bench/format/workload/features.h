// What a workload may need of the simulation, and whether the simulation has it.
//
// Purpose: the one table that shrinks. Readers of objects and operations note every feature that
// they meet; whoever models one sets its flag in features.cc and nothing else changes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace schedq {

enum class Feature : uint8_t {
  // Operations.
  kUpdateAny,
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
  kPersistentVolumes,
  kPodGroups,
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
  kClassSelectors,
  kClassExtendedResource,
  kSliceCounters,
  kSliceSharedDevices,
  kSliceNodeSelector,
  kSliceTaints,
  kImplicitExtendedResource,
  // Everything else.
  kObjectKind,
  kSchedulerConfiguration,
  kSchedulerScoring,
  kFeatureGate,
  kMetric,
  kHookParameter,
  kDefect,
};

struct FeatureInfo {
  Feature feature;
  std::string_view name;
  bool modelled;
  bool blocks;  // A workload that needs it is skipped while it is not modelled; else only named.
};

const FeatureInfo& GetFeatureInfo(Feature feature);

// A place that needs a feature.
struct FeatureUse {
  Feature feature;
  std::string detail;  // Which gate, kind, metric, ...; may be empty.

  bool operator==(const FeatureUse&) const = default;
};
using FeatureUses = std::vector<FeatureUse>;

// Adds a use unless it is there already.
void AddFeature(FeatureUses& uses, Feature feature, std::string detail = "");

}  // namespace schedq
