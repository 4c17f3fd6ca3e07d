// Which volumes are attached to each node, by the drivers that limit their number.
//
// Purpose: a node counts a volume once, however many of its pods mount it. What a filter asks of 64
// nodes is a comparison of two columns; nodes that have a volume of the pod already are looked at
// one by one.
// Threads: one at a time; the book's lock guards it.
// Memory: 16 bytes a node and driver, and a record a volume that is attached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/pod.h"

namespace schedq {

// A volume as nodes count it.
struct AttachedVolume {
  uint32_t driver = 0;  // By its number.
  std::string name;     // With the driver's; empty: no node counts it.
  bool operator==(const AttachedVolume&) const = default;
};

class Attachments {
 public:
  // No volume where one of the two is empty.
  AttachedVolume VolumeOf(const std::string& driver, const std::string& handle);

  // So many further pods of the node mount it; below 0: fewer.
  void Mount(const AttachedVolume& volume, uint32_t slot, int64_t pods);
  // The limits of the node's CSINode, by driver.
  void SetLimits(uint32_t slot, const ResourceList& limits);

  // Those of `candidates`, a mask of the block's nodes, that take these volumes too. No volume
  // stands twice in `wanted`.
  uint64_t WithRoom(std::span<const AttachedVolume> wanted, size_t block,
                    uint64_t candidates) const;
  bool HasRoom(std::span<const AttachedVolume> wanted, uint32_t slot) const;

 private:
  // Both columns by node slot; a node that a column does not reach has no limit, or no volume.
  struct Driver {
    std::vector<int64_t> limits;
    std::vector<int64_t> attached;
  };
  using PodsBySlot = std::vector<std::pair<uint32_t, int64_t>>;

  static int64_t LimitOf(const Driver& driver, uint32_t slot);
  static int64_t AttachedOf(const Driver& driver, uint32_t slot);
  const PodsBySlot* HoldersOf(const AttachedVolume& volume) const;

  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<Driver> drivers_;
  std::unordered_map<std::string, PodsBySlot> holders_;  // By the volume's name.
};

}  // namespace schedq
