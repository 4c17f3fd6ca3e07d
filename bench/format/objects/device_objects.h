// The objects of dynamic resource allocation: what claims ask for, and what slices offer.
//
// Purpose: claims, device classes, resource slices and rules about taints, as the API has them.
// Threads: immutable after reading, so any thread may read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/objects/quantity.h"
#include "engine/base/time/time.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"

namespace schedq {

// A claim holds at most so many devices.
inline constexpr int64_t kDevicesOfClaimMax = 32;
// A request has at most so many alternatives.
inline constexpr int64_t kAlternativesMax = 8;
// A claim is reserved for at most so many pods or groups.
inline constexpr size_t kReservationsMax = 256;

// --- Claims and classes.

// What a request asks for: a number of devices of a class, or all of them.
struct ExactRequest {
  std::string name = {};  // Of an alternative; else that of the request.
  std::string class_name = {};
  bool wants_all = false;  // allocationMode All: `count` says nothing.
  int64_t count = 1;
  bool has_admin_access = false;            // Also devices that are in use, without using them up.
  std::vector<std::string> selectors = {};  // CEL. All must hold.
  std::vector<Toleration> tolerations = {};
  std::vector<std::pair<std::string, Quantity>> capacity = {};  // What it takes of a device's.
  bool operator==(const ExactRequest&) const = default;
};

struct DeviceRequest {
  std::string name = {};
  // firstAvailable, in the order of preference; else the one that `exactly` says.
  std::vector<ExactRequest> alternatives = {};
  bool is_list = false;  // firstAvailable.
  bool operator==(const DeviceRequest&) const = default;
};

// All devices of the requests have one value of the attribute in common, or each has its own.
struct DeviceConstraint {
  std::vector<std::string> requests = {};  // "request" or "request/alternative"; empty: all.
  std::string attribute = {};              // "domain/name"
  bool wants_distinct = false;
  bool operator==(const DeviceConstraint&) const = default;
};

struct ClaimSpec {
  std::vector<DeviceRequest> requests = {};
  std::vector<DeviceConstraint> constraints = {};
  bool operator==(const ClaimSpec&) const = default;
};

struct ResourceClaimObject {
  ClaimSpec spec;
};
struct ResourceClaimTemplateObject {
  ClaimSpec spec;
  Labels claim_labels;  // The labels of the claims that are made from the template.
};

struct DeviceClassObject {
  std::vector<std::string> selectors = {};  // CEL. All must hold.
  std::string extended_resource = {};       // Pods may ask for this resource instead; empty: none.
};

// --- Slices.

struct SliceAttribute {
  enum class Type : uint8_t { kBool, kInt, kString, kVersion };

  std::string name = {};  // "name", of the driver's own domain, or "domain/name".
  Type type = Type::kString;
  bool is_list = false;
  std::vector<int64_t> numbers = {};    // Of kBool (0 or 1) and kInt.
  std::vector<std::string> texts = {};  // Of kString and kVersion.
  bool operator==(const SliceAttribute&) const = default;
};

// How an amount that is asked for becomes the amount that is taken.
struct RequestPolicy {
  struct Range {
    Quantity least;
    std::optional<Quantity> most;
    std::optional<Quantity> step;
    bool operator==(const Range&) const = default;
  };

  std::optional<Quantity> default_amount = {};
  std::vector<Quantity> valid_amounts = {};  // Ascending.
  std::optional<Range> range = {};
  bool operator==(const RequestPolicy&) const = default;
};

struct SliceCapacity {
  std::string name = {};
  Quantity amount = {};
  std::optional<RequestPolicy> policy = {};
  bool operator==(const SliceCapacity&) const = default;
};

using Counters = std::vector<std::pair<std::string, Quantity>>;
struct CounterSet {
  std::string name = {};
  Counters counters = {};
  bool operator==(const CounterSet&) const = default;
};
// What a device uses up of a counter set while it is allocated.
struct CounterUse {
  std::string counter_set = {};
  Counters counters = {};
  // Devices on one set must have a group in common, or all have none. Sorted.
  std::vector<std::string> compatibility_groups = {};
  bool operator==(const CounterUse&) const = default;
};

// From which nodes something can be reached.
struct NodeReach {
  std::string node_name = {};  // If not empty, only from this one.
  bool is_everywhere = false;
  std::vector<NodeTerm> terms = {};  // One must hold.
  bool IsSet() const { return !node_name.empty() || is_everywhere || !terms.empty(); }
  bool operator==(const NodeReach&) const = default;
};

struct SliceDevice {
  std::string name = {};
  std::vector<SliceAttribute> attributes = {};  // By name.
  std::vector<SliceCapacity> capacity = {};     // By name.
  std::vector<CounterUse> counter_uses = {};
  std::vector<Taint> taints = {};
  bool is_shared = false;      // allowMultipleAllocations.
  NodeReach reach = {};        // Where the slice leaves it to its devices.
  bool binds_to_node = false;  // A claim that has it stays on the node for which it got it.
  std::vector<std::string> binding_conditions = {};
  std::vector<std::string> binding_failure_conditions = {};
  bool operator==(const SliceDevice&) const = default;
};

// What the simulated driver does about the binding conditions of a slice's devices. Annotations of
// the slice say it, which mean nothing to a real driver.
struct DriverBehaviour {
  // So long after an allocation it sets them; nullopt: never.
  std::optional<Duration> binding_delay = std::nullopt;
  // Of the first so many allocations of each device it sets the first failure condition instead.
  int64_t binding_failures = 0;
  bool operator==(const DriverBehaviour&) const = default;
};
inline constexpr std::string_view kBindingDelayAnnotation = "schedq/binding-delay";
inline constexpr std::string_view kBindingFailuresAnnotation = "schedq/binding-failures";

struct ResourceSliceObject {
  std::string driver = {};
  std::string pool = {};
  int64_t generation = 0;
  int64_t slice_count = 1;  // The slices of the pool's generation.
  NodeReach reach = {};
  bool per_device = false;  // perDeviceNodeSelection: each device says its reach.
  std::vector<CounterSet> shared_counters = {};
  std::vector<SliceDevice> devices = {};
  DriverBehaviour behaviour = {};
  bool operator==(const ResourceSliceObject&) const = default;
};

// Taints devices from outside of their slices. What is empty selects everything.
struct DeviceTaintRuleObject {
  std::string driver = {};
  std::string pool = {};
  std::string device = {};
  Taint taint;
};

}  // namespace schedq
