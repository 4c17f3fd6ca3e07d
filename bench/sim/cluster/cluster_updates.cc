// Updates of whole objects, as a client sends them with PUT.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "engine/pod_rules.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

// Every element of `part` is in `whole`.
template <typename Value>
bool IsSubset(const std::vector<Value>& part, const std::vector<Value>& whole) {
  return std::all_of(part.begin(), part.end(), [&](const Value& value) {
    return std::find(whole.begin(), whole.end(), value) != whole.end();
  });
}

bool SayTheSame(const PodRulesRef& a, const PodRulesRef& b) {
  static const PodRules kNone;
  return (a != nullptr ? *a : kNone) == (b != nullptr ? *b : kNone);
}

template <typename Value>
bool Replace(Value* present, const Value& wanted) {
  if (*present == wanted) return false;
  *present = wanted;
  return true;
}

// What the API server has against the new version of a pod: most of a spec stays as it was created.
std::string RefusalOf(const ClusterPod& before, const Pod& wanted) {
  if (wanted.node_name != before.node_name) {
    return fmt::format("has the node name \"{}\", expected \"{}\"", wanted.node_name,
                       before.node_name);
  }
  if (wanted.requests != before.spec().pod.requests) {
    return "changes the requests, expected subresources: [resize]";
  }
  if (!IsSubset(wanted.scheduling_gates, before.scheduling_gates)) return "adds a scheduling gate";
  if (!IsSubset(before.tolerations, wanted.tolerations)) return "takes a toleration away";
  const bool was_gated = !before.scheduling_gates.empty();
  if (!was_gated &&
      (wanted.node_selector != before.node_selector || !SayTheSame(wanted.rules, before.rules))) {
    return "changes its node selector, affinity, spread or host ports, which only a gated pod may";
  }
  return "";
}

bool ReplaceMetadata(const ObjectMetadata& metadata, ClusterPod* pod) {
  const bool relabels = Replace(&pod->labels, metadata.labels);
  return Replace(&pod->finalizers, metadata.finalizers) || relabels;
}

bool ReplacePod(const ApiObject& object, ClusterPod* pod) {
  const Pod& wanted = std::get<PodObject>(object.body).pod;
  bool changes = ReplaceMetadata(object.metadata, pod);
  changes |= Replace(&pod->scheduling_gates, wanted.scheduling_gates);
  changes |= Replace(&pod->tolerations, wanted.tolerations);
  changes |= Replace(&pod->node_selector, wanted.node_selector);
  if (SayTheSame(pod->rules, wanted.rules)) return changes;
  pod->rules = wanted.rules;
  return true;
}

bool ReplacePodStatus(const ApiObject& object, ClusterPod* pod) {
  const Pod& wanted = std::get<PodObject>(object.body).pod;
  bool changes = ReplaceMetadata(object.metadata, pod);
  changes |= Replace(&pod->conditions, wanted.conditions);
  changes |= Replace(&pod->nominated_node_name, wanted.nominated_node_name);
  return changes;
}

// What scores assume for containers without requests follows from the new requests too.
bool Resize(const ApiObject& object, ClusterPod* pod) {
  const PodObject& wanted = std::get<PodObject>(object.body);
  if (wanted.pod.requests == pod->spec().pod.requests) return false;
  auto resized = std::make_shared<ApiObject>(*pod->object);
  PodObject& body = std::get<PodObject>(resized->body);
  body.pod.requests = wanted.pod.requests;
  body.assumed_cpu = wanted.assumed_cpu;
  body.assumed_memory = wanted.assumed_memory;
  pod->has_grown = pod->has_grown || AnyLarger(wanted.pod.requests, pod->requests);
  pod->requests = wanted.pod.requests;
  for (const ExtendedRequest& request : pod->device_requests) {
    std::erase_if(pod->requests, [&](const auto& each) { return each.first == request.resource; });
  }
  pod->object = std::move(resized);
  return true;
}

Error RefusedUpdate(const ObjectHandle& handle, const std::string& why) {
  return Error(fmt::format("{} {}: {}", handle.kind,
                           QualifiedName(handle.namespace_name, handle.name), why));
}

}  // namespace

Status Cluster::Update(const ApiObject& object, const std::string& namespace_name,
                       UpdatePart part) {
  const ObjectHandle handle = HandleOf(object, namespace_name);
  const std::string name = QualifiedName(handle.namespace_name, handle.name);
  const bool exists = object.kind == "Pod" ? pod_numbers_.count(name) != 0
                                           : others_.count(object.kind + ' ' + name) != 0;
  if (!exists) return RefusedUpdate(handle, "it does not exist, expected an object to update");
  if (object.kind == "Pod") return UpdatePodPart(object, name, part);
  if (part == UpdatePart::kResize) return RefusedUpdate(handle, "expected a Pod to resize");
  if (object.kind == "Node") {
    UpdateNodePart(object, part);
  } else if (object.kind == "Namespace") {
    UpdateNamespace(object);
  } else if (object.kind == "ResourceClaim") {
    UpdateClaim(name, [&](ClusterClaim* claim) {
      claim->labels = object.metadata.labels;
      // The file has no status: the claim loses what it had.
      if (part != UpdatePart::kStatus) return;
      claim->allocation = nullptr;
      claim->reserved_for.clear();
      claim->reserved_groups.clear();
      claim->was_cleared = true;
    });
  }
  return Status::Ok();
}

Status Cluster::UpdatePodPart(const ApiObject& object, const std::string& name, UpdatePart part) {
  const uint64_t number = pod_numbers_.at(name);
  const ClusterPodRef before = FindPod(number);
  const Pod& wanted = std::get<PodObject>(object.body).pod;
  const ObjectHandle handle{"Pod", before->namespace_name, before->name};
  if (part == UpdatePart::kObject) {
    const std::string refusal = RefusalOf(*before, wanted);
    if (!refusal.empty()) return RefusedUpdate(handle, "the update " + refusal);
  }
  if (part == UpdatePart::kResize && before->node_name.empty()) {
    return RefusedUpdate(handle, "it has no node, expected a pod that is bound to resize");
  }
  UpdatePod(number, [&](ClusterPod* pod) {
    switch (part) {
      case UpdatePart::kObject:
        return ReplacePod(object, pod);
      case UpdatePart::kStatus:
        return ReplacePodStatus(object, pod);
      case UpdatePart::kResize:
        return Resize(object, pod);
    }
    return false;
  });
  return Status::Ok();
}

// The label that nodes are created with goes where the file does not have it.
void Cluster::UpdateNodePart(const ApiObject& object, UpdatePart part) {
  const NodeObject& wanted = std::get<NodeObject>(object.body);
  UpdateNode(object.metadata.name, [&](ClusterNode* node) {
    bool changes = Replace(&node->labels, object.metadata.labels);
    if (part == UpdatePart::kObject) {
      changes |= Replace(&node->taints, wanted.taints);
      changes |= Replace(&node->unschedulable, wanted.unschedulable);
    } else {
      changes |= Replace(&node->allocatable, wanted.allocatable);
      changes |= Replace(&node->images, wanted.images);
      ClusterNode declaring;
      declaring.declared_features = wanted.declared_features;
      if (!DeclareTheSame(*node, declaring)) {
        node->declared_features = wanted.declared_features;
        changes = true;
      }
    }
    return changes;
  });
}

void Cluster::UpdateNamespace(const ApiObject& object) {
  ObjectRef& present = namespaces_.at(object.metadata.name);
  auto after = std::make_shared<ClusterNamespace>(*present);
  after->labels = object.metadata.labels;
  SetLabel(&after->labels, "kubernetes.io/metadata.name", after->name);
  if (after->labels == present->labels) return;
  const ObjectRef before = std::exchange(present, after);
  EmitNamespace(Action::kUpdate, before, std::move(after));
}

}  // namespace schedq
