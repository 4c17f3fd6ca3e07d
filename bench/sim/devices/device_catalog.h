// All published devices, by pool and as each node sees them.
//
// Purpose: resource slices as the API server has them, made ready for the allocator: the pools of a
// node in the order in which devices are tried, and what a pool's counters have left.
// Rules, kube-scheduler's: a node sees the slices that reach it. Of a pool it sees the newest
// generation. A pool that lacks slices of its generation is incomplete, one whose slices contradict
// each other is invalid, and neither gives any device. Where a newer generation does not reach the
// node, the node does not see the pool. Pools are tried by driver and name, those with binding
// conditions last; the slices of a pool by name, and devices as their slice lists them.
// Method: what a node sees is worked out when somebody asks, and kept until a slice of one of its
// pools changes, or its labels do.
// Threads: one.
// Invariants:
//  1. A listing's number belongs to one device of one version of a slice, until that goes.
// Memory: a record a listing, and for each node that was asked for a list of its listings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/format/objects/quantity.h"
#include "bench/format/workload/device_features.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/device_uses.h"
#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {

using ResourceSliceRef = std::shared_ptr<const ResourceSliceObject>;
using ListingId = uint32_t;

// The devices of one counter set that are allocated, by what they can be together with. Devices
// without groups go with their like; all others need a group that all have.
class CompatibilityState {
 public:
  bool Admits(const std::vector<std::string>& groups) const;
  void Add(const std::vector<std::string>& groups);

 private:
  bool is_empty_ = true;
  std::vector<std::string> common_;  // Sorted; empty: all are without groups.
};

// A pool's counters and the devices on them.
struct PoolCounters {
  struct Use {
    uint32_t counter;  // Place in `totals`.
    Quantity amount;
  };

  std::vector<Quantity> totals;
  std::vector<Quantity> used;            // By allocated devices.
  bool is_overdrawn = false;             // Allocated devices use more than there is.
  bool has_conflict = false;             // Allocated devices do not go with each other.
  std::map<std::string, uint32_t> sets;  // Place in `groups`.
  std::map<std::pair<uint32_t, std::string>, uint32_t> counters;  // By set and name.
  std::vector<CompatibilityState> groups;                         // By set.
};

class DeviceCatalog {
 public:
  struct Pool;
  struct Slice {
    std::string name;
    ResourceSliceRef object;
    Pool* pool = nullptr;
    std::vector<ListingId> listings;  // One a device.
  };
  struct Listing {
    DeviceId device = 0;
    const SliceDevice* spec = nullptr;  // Null: the number is not in use.
    const Slice* slice = nullptr;
  };
  // A generation of a pool, worked out when a node sees it.
  struct Generation {
    PoolCounters counters;
    bool has_fresh_uses = false;
    std::string fault;  // Why the pool is invalid; empty: it is not.
  };
  struct Pool {
    std::string driver;
    std::string name;
    std::map<std::string, std::unique_ptr<Slice>> slices;  // By name.
    std::map<int64_t, Generation> generations;             // That nodes see.
  };
  // What a node sees of a pool.
  struct SeenPool {
    Pool* pool = nullptr;
    int64_t generation = 0;
    bool is_incomplete = false;
    std::string fault = {};  // Of an invalid pool.
    bool Gives() const { return !is_incomplete && fault.empty(); }
  };
  // A device that the node sees, of a pool that gives.
  struct SeenDevice {
    ListingId listing = 0;
    uint32_t pool = 0;         // Place in NodeSight::pools.
    bool reaches_node = true;  // Where its slice leaves that to the device.
  };
  struct NodeSight {
    std::vector<SeenPool> pools;
    std::vector<SeenDevice> devices;  // In the order in which they are tried.
    bool depends_on_labels = false;
    Labels labels;
    bool has_fault = false;  // A pool is invalid.
  };

  // `on_gone` hears of each listing whose number may go to another one.
  DeviceCatalog(const DeviceFeatures& features, DeviceUses* uses,
                std::function<void(ListingId)> on_gone)
      : features_(features), uses_(*uses), on_gone_(std::move(on_gone)) {}

  void SetSlice(const std::string& name, ResourceSliceRef slice);
  void RemoveSlice(const std::string& name);

  // Valid until the next change of a slice.
  const NodeSight& SightOf(const ObjectView& node);
  const Listing& listing(ListingId listing) const { return listings_[listing]; }
  size_t listing_count() const { return listings_.size(); }
  // Visits each device of all slices that reaches the node, whatever its pool's generations are.
  void ForEachReaching(const ObjectView& node, const std::function<void(ListingId)>& visit) const;
  // With what allocated devices use up now.
  const PoolCounters& CountersOf(Pool* pool, int64_t generation);
  // The counters of its pool that the device uses up.
  static std::vector<PoolCounters::Use> CounterUsesOf(const PoolCounters& counters,
                                                      const SliceDevice& device);
  // The device became allocated, or ceased to be.
  void OnUseChanged(DeviceId device);
  // The listing that gave the device to the allocation, as far as the allocation's nodes tell: of
  // several the one in the pool's newest generation. Null: there is none.
  const Listing* FindListing(DeviceId device, const DeviceAllocation& allocation) const;

  // A version of what the catalog holds: changes with every slice.
  uint64_t version() const { return version_; }

 private:
  using PoolKey = std::pair<std::string, std::string>;  // Driver, name.

  bool IsIgnored(const ResourceSliceObject& slice) const;
  void Forget(Slice* slice);
  void ForgetSightsOf(const Pool& pool);
  NodeSight See(const ObjectView& node);
  void SeePool(const ObjectView& node, Pool* pool, std::vector<const Slice*> slices,
               NodeSight* sight);
  // What the generation is.
  Generation& WorkOut(Pool* pool, int64_t generation);
  // Why it is invalid; empty: it is not.
  std::string ReadCounterSets(const Pool& pool, int64_t generation, PoolCounters* counters) const;
  std::string CheckUses(const Pool& pool, int64_t generation, const PoolCounters& counters) const;
  void CountUses(const Pool& pool, int64_t generation, PoolCounters* counters) const;
  bool Reaches(const ResourceSliceObject& slice, const ObjectView& node, bool* by_labels) const;

  const DeviceFeatures features_;
  DeviceUses& uses_;
  const std::function<void(ListingId)> on_gone_;
  std::map<PoolKey, std::unique_ptr<Pool>> pools_;
  std::unordered_map<std::string, Slice*> slices_;
  std::unordered_map<std::string, std::map<std::string, const Slice*>> slices_of_node_;
  std::map<std::string, const Slice*> far_slices_;  // That are not of one node.
  std::vector<Listing> listings_;
  std::vector<ListingId> free_listings_;
  std::unordered_map<DeviceId, std::vector<ListingId>> listings_of_device_;
  std::unordered_map<std::string, NodeSight> sights_;  // By node.
  uint64_t version_ = 0;
};

// Whether the node is within reach.
bool Reaches(const NodeReach& reach, const ObjectView& node);

}  // namespace schedq
