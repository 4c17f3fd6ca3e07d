#include "bench/lab/paths/device_path.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/devices/allocation.h"

namespace schedq {
namespace {

constexpr char kDriver[] = "gadgets.example.com";
constexpr char kSelector[] =
    "device.attributes[\"gadgets.example.com\"].generation.major() >= 1 && "
    "device.capacity[\"gadgets.example.com\"].memory.isGreaterThan(quantity(\"1Mi\"))";

constexpr char kRareSelector[] = "has(device.attributes[\"gadgets.example.com\"].rare)";

ClaimSpec ClaimOf(DeviceWish wish) {
  ClaimSpec claim;
  DeviceRequest request;
  request.name = "device";
  ExactRequest exact{.name = "device", .class_name = "gadget"};
  if (wish == DeviceWish::kSelected) exact.selectors.push_back(kSelector);
  if (wish == DeviceWish::kRare) exact.selectors.push_back(kRareSelector);
  if (wish == DeviceWish::kAlternatives) {
    request.is_list = true;
    request.alternatives.push_back({.name = "absent", .class_name = "absent"});
  }
  request.alternatives.push_back(std::move(exact));
  const int requests = wish == DeviceWish::kMatching ? 5 : 1;
  for (int i = 0; i < requests; ++i) {
    claim.requests.push_back(request);
    claim.requests.back().name += std::to_string(i);
  }
  if (wish == DeviceWish::kMatching) {
    claim.constraints.push_back({.requests = {}, .attribute = "gadgets.example.com/root"});
  }
  return claim;
}

}  // namespace

DeviceAttempts::DeviceAttempts(const DeviceLoad& load) : load_(load), claim_(ClaimOf(load.wish)) {
  DeviceClassObject device_class;
  device_class.selectors.push_back(std::string("device.driver == \"") + kDriver + '"');
  inventory_.SetClass("gadget", device_class);
  device_class.selectors.front() = "device.driver == \"absent.example.com\"";
  inventory_.SetClass("absent", device_class);
  const int64_t nodes = std::max<int64_t>(load.devices / DeviceLoad::kDevicesOfNode, 1);
  for (int64_t i = 0; i < nodes; ++i) Publish(i);
  // Answers of selectors are kept, so that the first attempt on a node is not like the others.
  for (int64_t i = 0; i < nodes; ++i) Attempt();
  allocated_ = 0;
}

void DeviceAttempts::Publish(int64_t node) {
  const std::string name = "node-" + std::to_string(node);
  auto slice = std::make_shared<ResourceSliceObject>();
  slice->driver = kDriver;
  slice->pool = name;
  slice->reach.node_name = name;
  DeviceAllocation in_use;
  for (int64_t i = 0; i < DeviceLoad::kDevicesOfNode; ++i) {
    SliceDevice device{.name = "gadget-" + std::to_string(i)};
    device.attributes.push_back(
        {.name = "generation", .type = SliceAttribute::Type::kVersion, .texts = {"1.2.3"}});
    device.attributes.push_back({.name = "root", .texts = {std::to_string(i % 2)}});
    // The last one of the first node, which is not in use.
    if (node == 0 && i + 1 == DeviceLoad::kDevicesOfNode) {
      device.attributes.push_back({.name = "rare", .texts = {"yes"}});
    }
    device.capacity.push_back({.name = "memory", .amount = Quantity::Of(1 << 30)});
    if (i * 100 < load_.percent_in_use * DeviceLoad::kDevicesOfNode) {
      in_use.devices.push_back({.device = slice->driver + '/' + name + '/' + device.name});
    }
    slice->devices.push_back(std::move(device));
  }
  inventory_.SetSlice(name, std::move(slice));
  inventory_.Take(in_use);
  nodes_.emplace_back().name = name;
}

bool DeviceAttempts::Attempt() {
  const ClaimSpec* const specs[] = {&claim_};
  const PreparedClaims prepared = inventory_.Prepare(specs);
  if (const std::vector<std::string>* const names = inventory_.NodesFor(prepared)) {
    return std::any_of(names->begin(), names->end(), [&](const std::string& name) {
      ObjectView node;
      node.name = name;
      return TakeFrom(prepared, node);
    });
  }
  for (size_t tried = 0; tried < nodes_.size(); ++tried) {
    const ObjectView& node = nodes_[next_node_];
    next_node_ = next_node_ + 1 < nodes_.size() ? next_node_ + 1 : 0;
    if (TakeFrom(prepared, node)) return true;
  }
  return false;
}

// Whether the node has the devices. They are given back.
bool DeviceAttempts::TakeFrom(const PreparedClaims& prepared, const ObjectView& node) {
  const AllocationOutcome outcome = inventory_.Allocate(prepared, node);
  if (!outcome.found()) return false;
  const bool is_taken = inventory_.TakeIfFree(outcome.allocations.front());
  if (is_taken) inventory_.Release(outcome.allocations.front());
  return is_taken;
}

void DeviceAttempts::Run() {
  for (int64_t i = 0; i < load_.attempts; ++i) allocated_ += Attempt() ? 1 : 0;
}

PathOutcome DeviceAttempts::Outcome() {
  PathOutcome outcome;
  outcome.operations = static_cast<uint64_t>(load_.attempts);
  if (allocated_ != outcome.operations) outcome.fault = "not every attempt got devices";
  return outcome;
}

}  // namespace schedq
