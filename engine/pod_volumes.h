// The volumes of a pod that scheduling reads.
//
// Purpose: few pods have any, so a pod refers to them (Pod::volumes). Volumes that no plugin of the
// scheduler reads, such as secrets, are not here.
// Threads: immutable once made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace schedq {

// A disk that the pod's spec names itself, without a claim.
struct InlineDisk {
  enum class Kind : uint8_t {
    kGcePersistentDisk,
    kAwsElasticBlockStore,
    kAzureDisk,
    kCinder,
    kPortworx,
    kIscsi,
    kRbd,
  };

  Kind kind = Kind::kAwsElasticBlockStore;
  std::string name;                   // Tells the disks of its kind apart; of rbd "pool/image".
  std::vector<std::string> monitors;  // Of rbd: two images are the same if they share one.
  bool read_only = false;
  bool operator==(const InlineDisk&) const = default;
};

// The CSI driver to which the plugin of such disks has been migrated; empty: it was not.
constexpr const char* MigratedDriverOf(InlineDisk::Kind kind) {
  switch (kind) {
    case InlineDisk::Kind::kGcePersistentDisk:
      return "pd.csi.storage.gke.io";
    case InlineDisk::Kind::kAwsElasticBlockStore:
      return "ebs.csi.aws.com";
    case InlineDisk::Kind::kAzureDisk:
      return "disk.csi.azure.com";
    case InlineDisk::Kind::kCinder:
      return "cinder.csi.openstack.org";
    case InlineDisk::Kind::kPortworx:
      return "pxd.portworx.com";
    case InlineDisk::Kind::kIscsi:
    case InlineDisk::Kind::kRbd:
      return "";
  }
  return "";
}

struct PodVolumes {
  std::vector<std::string> claims = {};  // PersistentVolumeClaims of its namespace.
  std::vector<InlineDisk> disks = {};
  bool operator==(const PodVolumes&) const = default;
};

}  // namespace schedq
