// What a pod's volumes say of nodes and of other pods. The plugins of volumes share this, and so
// does the placing half of each.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"
#include "engine/pod_volumes.h"

namespace schedq {

// The pod's volumes, or none.
const PodVolumes& VolumesOf(const Pod& pod);
// Whether the pod mounts this PersistentVolumeClaim.
bool MountsClaim(const Pod& pod, const ObjectView& claim);
// Whether the pods mount a claim of the same name, in whatever namespace each is.
bool ShareClaimName(const Pod& a, const Pod& b);

// Whether a pod with the one disk cannot be on a node with the other.
bool Conflicts(const InlineDisk& a, const InlineDisk& b);
bool AnyDiskConflicts(const Pod& a, const Pod& b);

// The driver that attaches the disk, on nodes that count its disks; empty: no node does.
inline std::string DriverOf(const InlineDisk& disk) { return MigratedDriverOf(disk.kind); }
// The CSI driver to which a provisioner of that name ("kubernetes.io/aws-ebs") has been migrated,
// or else the provisioner itself.
std::string DriverOfProvisioner(const std::string& provisioner);

// Whether the node meets one of the terms; no terms: every node does.
bool MeetsAnyTerm(const std::vector<NodeTerm>& terms, const ObjectView& node);

// Where a volume is, by its labels for zones and regions: each must be among the values.
struct VolumeZone {
  std::string key;
  std::vector<std::string> values;
  bool operator==(const VolumeZone&) const = default;
};
std::vector<VolumeZone> ZonesOf(const Labels& volume_labels);
// A node without any label for zones and regions is in all of them.
bool IsInZones(const std::vector<VolumeZone>& zones, const Labels& node_labels);

}  // namespace schedq
