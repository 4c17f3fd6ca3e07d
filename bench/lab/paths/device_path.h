// Attempts to allocate devices: claim after claim gets devices of a node that has some left.
//
//     claims -> prepare -> nodes, from where the last attempt stopped -> allocate -> take
//
// Each node has kDevicesOfNode devices. A part of all devices is in use before, spread over all
// nodes; what an attempt gets is given back before the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/lab/paths/measured_path.h"
#include "bench/sim/devices/device_inventory.h"
#include "bench/sim/devices/prepared_claims.h"
#include "engine/object.h"

namespace schedq {

enum class DeviceWish : uint8_t {
  kOne,           // One device of a class.
  kSelected,      // One, by an expression on its attributes.
  kMatching,      // Five of one root.
  kAlternatives,  // One that is nowhere, or else any.
  kRare,          // One, by an expression that holds on a single node.
};

struct DeviceLoad {
  static constexpr int64_t kDevicesOfNode = 10;

  int64_t devices = 10;
  DeviceWish wish = DeviceWish::kOne;
  int64_t percent_in_use = 50;
  int64_t attempts = 1000;
};

class DeviceAttempts final : public MeasuredPath {
 public:
  explicit DeviceAttempts(const DeviceLoad& load);

  void Run() override;
  PathOutcome Outcome() override;

 private:
  void Publish(int64_t node);
  bool Attempt();
  bool TakeFrom(const PreparedClaims& prepared, const ObjectView& node);

  const DeviceLoad load_;
  DeviceInventory inventory_;
  std::vector<ObjectView> nodes_;
  ClaimSpec claim_;
  size_t next_node_ = 0;
  uint64_t allocated_ = 0;
};

}  // namespace schedq
