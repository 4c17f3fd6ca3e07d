// API objects as templates describe them, before the cluster gives them names, uids and status.
//
// Purpose: what the simulated cluster creates. Only what the simulation reads is here; what it does
// not model is noted in `features`, so that nothing is ignored silently.
// Threads: immutable once read; shared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bench/format/workload/features.h"
#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {

struct ObjectMetadata {
  std::string name;
  std::string generate_name;  // Used when the name is empty.
  std::string namespace_name;
  Labels labels;
  Labels annotations;
  std::vector<std::string> finalizers;
  std::vector<std::string> owners;  // "Kind/name" of each owner reference.
};

// A requirement on a node's labels, or on its name (`is_field`).
struct NodeRequirement {
  enum class Operator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };

  std::string key;
  Operator op = Operator::kIn;
  std::vector<std::string> values;
  bool is_field = false;  // metadata.name instead of a label.
  bool operator==(const NodeRequirement&) const = default;
};
using NodeTerm = std::vector<NodeRequirement>;  // All must hold; an empty one never does.

// An entry of the pod's spec.resourceClaims.
struct PodClaim {
  std::string name;
  std::string claim_name;     // Either this
  std::string template_name;  // or this is set.
};

struct PodObject {
  // Everything but names, uid, status and generated claims. `claims` holds the claims by name.
  // node_affinity holds the required affinity where that type can say it and is empty otherwise,
  // which makes hints queue too often but never too rarely; node_terms always holds it.
  Pod pod;
  std::vector<PodClaim> claims;
  std::vector<NodeTerm> node_terms;  // One of them must hold; empty: no requirement.
};

struct NodeObject {
  ResourceList capacity;
  ResourceList allocatable;  // Defaults from capacity.
  std::vector<Taint> taints;
  bool unschedulable = false;
  bool ready = true;
};

// A request for `count` devices of a class.
struct DeviceRequest {
  std::string name;
  std::string class_name;
  int64_t count = 1;
};
struct ClaimSpec {
  std::vector<DeviceRequest> requests;
};
struct ResourceClaimObject {
  ClaimSpec spec;
};
struct ResourceClaimTemplateObject {
  ClaimSpec spec;
  Labels claim_labels;  // Of the claims made from it.
};

struct DeviceClassObject {
  std::string driver;  // Devices of this driver only; empty: of any.
};

struct ResourceSliceObject {
  std::string driver;
  std::string pool;
  std::string node_name;
  std::vector<std::string> devices;
};

struct NamespaceObject {};
struct OtherObject {};  // Of a kind that scheduling does not read, or that is not modelled.

struct ApiObject {
  std::string kind;
  std::string api_version;
  ObjectMetadata metadata;
  std::variant<OtherObject, PodObject, NodeObject, ResourceClaimObject, ResourceClaimTemplateObject,
               DeviceClassObject, ResourceSliceObject, NamespaceObject>
      body;
  FeatureUses features;
};
using ApiObjectRef = std::shared_ptr<const ApiObject>;

// Whether objects of the kind live in a namespace; nullopt for a kind that is not known.
std::optional<bool> IsNamespacedKind(std::string_view kind);

}  // namespace schedq
