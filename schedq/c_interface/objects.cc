#include "schedq/c_interface/objects.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/refusal.h"
#include "schedq/c_interface/versioned.h"

namespace schedq {
namespace {

// Appends what `convert` makes of each item.
template <typename T, typename List, typename Convert>
Status Append(const char* what, const T* items, size_t count, List* list, Convert convert) {
  const Result<std::span<const T>> all = ListOf(what, items, count);
  if (!all) return all.error();
  for (const T& item : *all) list->push_back(convert(item));
  return Status::Ok();
}

std::string TextFrom(const char* text) { return TextOf(text); }

Status AppendTexts(const char* what, const char* const* items, size_t count, auto* list) {
  return Append(what, items, count, list, TextFrom);
}

Status AppendLabels(const char* what, const schedq_label* items, size_t count, Labels* list) {
  Status status = Append(what, items, count, list, [](const schedq_label& label) {
    return std::pair(TextFrom(label.key), TextFrom(label.value));
  });
  std::sort(list->begin(), list->end());
  return status;
}

Status AppendQuantities(const char* what, const schedq_quantity* items, size_t count,
                        ResourceList* list) {
  Status status = Append(what, items, count, list, [](const schedq_quantity& quantity) {
    return std::pair(TextFrom(quantity.name), quantity.amount);
  });
  std::sort(list->begin(), list->end());
  return status;
}

Status AppendAffinity(const schedq_pod& given, Pod* pod) {
  const Result<std::span<const schedq_affinity_term>> terms =
      ListOf("node_affinity", given.node_affinity, given.node_affinity_count);
  if (!terms) return terms.error();
  for (const schedq_affinity_term& term : *terms) {
    NodeAffinityTerm& made = pod->node_affinity.emplace_back();
    made.key = TextOf(term.key);
    Status status =
        AppendTexts("node_affinity.values", term.values, term.value_count, &made.values);
    if (!status) return status;
  }
  return Status::Ok();
}

Status FillSpec(const schedq_pod& given, Pod* pod) {
  if (Status status = AppendTexts("scheduling_gates", given.scheduling_gates,
                                  given.scheduling_gate_count, &pod->scheduling_gates);
      !status) {
    return status;
  }
  if (Status status = AppendTexts("claims", given.claims, given.claim_count, &pod->claims);
      !status) {
    return status;
  }
  if (Status status = AppendTexts("claim_templates", given.claim_templates,
                                  given.claim_template_count, &pod->claim_templates);
      !status) {
    return status;
  }
  if (Status status = AppendLabels("node_selector", given.node_selector, given.node_selector_count,
                                   &pod->node_selector);
      !status) {
    return status;
  }
  if (Status status =
          AppendQuantities("requests", given.requests, given.request_count, &pod->requests);
      !status) {
    return status;
  }
  if (Status status =
          Append("tolerations", given.tolerations, given.toleration_count, &pod->tolerations,
                 [](const schedq_toleration& toleration) {
                   return Toleration{TextOf(toleration.key), TextOf(toleration.value),
                                     TextOf(toleration.effect), toleration.exists != 0};
                 });
      !status) {
    return status;
  }
  return AppendAffinity(given, pod);
}

Status FillStatus(const schedq_pod& given, Pod* pod) {
  if (Status status =
          Append("generated_claims", given.generated_claims, given.generated_claim_count,
                 &pod->generated_claims,
                 [](const schedq_generated_claim& claim) {
                   return GeneratedClaim{TextOf(claim.pod_claim_name), TextOf(claim.claim_name)};
                 });
      !status) {
    return status;
  }
  return Append("conditions", given.conditions, given.condition_count, &pod->conditions,
                [](const schedq_condition& condition) {
                  return PodCondition{TextOf(condition.type), TextOf(condition.status),
                                      TextOf(condition.reason), TextOf(condition.message)};
                });
}

// A claim has its pod's namespace.
Status CheckClaims(const Pod& pod) {
  const size_t bytes_max = Interner::kTextBytesMax - pod.namespace_name.size() - 1;
  for (const std::string& claim : pod.claims) {
    if (claim.size() > bytes_max) return Error("claims: a name has more bytes than names may have");
  }
  for (const GeneratedClaim& claim : pod.generated_claims) {
    if (claim.claim_name.size() > bytes_max) {
      return Error("generated_claims: a name has more bytes than names may have");
    }
  }
  return Status::Ok();
}

// Members are counted by their uids.
Status CheckMember(const Pod& pod) {
  if (pod.group_name.empty()) return Status::Ok();
  if (pod.uid.empty()) return Error("uid is empty, expected one for the member of a group");
  if (pod.uid.size() > Interner::kTextBytesMax) {
    return Error("uid: it has more bytes than names may have");
  }
  return Status::Ok();
}

Status CheckGroup(const PodGroup& group, int32_t kind) {
  if (kind != SCHEDQ_GROUP_POD_GROUP && kind != SCHEDQ_GROUP_COMPOSITE) {
    return Error("kind is " + std::to_string(kind) + ", expected one of schedq_group_kind");
  }
  const int64_t min_count_max =
      kind == SCHEDQ_GROUP_COMPOSITE ? 0 : std::numeric_limits<int64_t>::max();
  if (group.min_count < 0 || group.min_count > min_count_max) {
    return Error("min_count is " + std::to_string(group.min_count) +
                 (min_count_max == 0 ? ", expected 0 for a composite" : ", expected 0 or more"));
  }
  if (HasNameTooLong(group)) {
    return Error("name or parent: a name has more bytes than names may have");
  }
  return Status::Ok();
}

}  // namespace

Result<PodRef> PodOf(const schedq_pod* given) {
  schedq_pod read;
  if (Status status = ReadVersioned("pod", given, &read); !status) return status.error();
  auto pod = std::make_shared<Pod>();
  pod->namespace_name = TextOf(read.namespace_name);
  pod->name = TextOf(read.name);
  if (pod->name.empty()) return Error("pod: name is empty");
  if (pod->namespace_name.empty()) {
    return Error("pod " + pod->name + ": namespace_name is empty, expected one such as default");
  }
  pod->uid = TextOf(read.uid);
  pod->node_name = TextOf(read.node_name);
  pod->nominated_node_name = TextOf(read.nominated_node_name);
  pod->group_name = TextOf(read.group);
  pod->priority = read.priority;
  if (HasNameTooLong(*pod, pod->nominated_node_name)) {
    return Refusal("pod", *pod, pod->nominated_node_name, 0);
  }
  Status status = read.reserved == 0 ? Status::Ok() : Error("reserved is not 0");
  if (status) status = AppendLabels("labels", read.labels, read.label_count, &pod->labels);
  if (status) status = FillSpec(read, pod.get());
  if (status) status = FillStatus(read, pod.get());
  if (status) status = CheckClaims(*pod);
  if (status) status = CheckMember(*pod);
  if (!status) return Error("pod " + QualifiedName(*pod) + ": " + status.error().message());
  return PodRef(std::move(pod));
}

Result<PodGroupRef> GroupOf(const schedq_group* given) {
  if (given == nullptr) return PodGroupRef();
  schedq_group read;
  if (Status status = ReadVersioned("group", given, &read); !status) return status.error();
  auto group = std::make_shared<PodGroup>();
  group->key = {read.kind == SCHEDQ_GROUP_COMPOSITE ? GroupKind::kComposite : GroupKind::kPodGroup,
                TextOf(read.namespace_name), TextOf(read.name)};
  group->priority = read.priority;
  group->min_count = read.min_count;
  group->parent = TextOf(read.parent);
  if (group->key.name.empty()) return Error("group: name is empty");
  if (group->key.namespace_name.empty()) {
    return Error("group " + group->key.name +
                 ": namespace_name is empty, expected one such as default");
  }
  if (Status status = CheckGroup(*group, read.kind); !status) {
    return Error("group " + QualifiedName(group->key.namespace_name, group->key.name) + ": " +
                 status.error().message());
  }
  return PodGroupRef(std::move(group));
}

Result<ObjectRef> ObjectOf(const schedq_object* given, Resource resource) {
  if (given == nullptr) return ObjectRef();
  schedq_object read;
  if (Status status = ReadVersioned("object", given, &read); !status) return status.error();
  auto view = std::make_shared<ObjectView>();
  view->resource = resource;
  view->namespace_name = TextOf(read.namespace_name);
  view->name = TextOf(read.name);
  view->uid = TextOf(read.uid);
  view->allocated = read.allocated != 0;
  view->unschedulable = read.unschedulable != 0;
  view->status_version = read.status_version;
  Status status = AppendLabels("labels", read.labels, read.label_count, &view->labels);
  if (status) {
    status = AppendQuantities("allocatable", read.allocatable, read.allocatable_count,
                              &view->allocatable);
  }
  if (status) {
    status = Append("taints", read.taints, read.taint_count, &view->taints,
                    [](const schedq_taint& taint) {
                      return Taint{TextOf(taint.key), TextOf(taint.value), TextOf(taint.effect)};
                    });
  }
  if (!status) {
    return Error("object " + QualifiedName(view->namespace_name, view->name) + ": " +
                 status.error().message());
  }
  if (read.pod != nullptr) {
    const Result<PodRef> pod = PodOf(read.pod);
    if (!pod) return pod.error();
    view->pod = *pod;
  }
  return ObjectRef(std::move(view));
}

}  // namespace schedq
