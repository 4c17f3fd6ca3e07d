#include "schedq/c_interface/views.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string_view>

#include "engine/event.h"
#include "engine/pod_key.h"
#include "hints/world.h"  // IWYU pragma: keep
#include "schedq/c_interface/objects.h"

namespace schedq {
namespace {

const Pod& PodIn(const schedq_pod_view* view) { return *static_cast<const Pod*>(view->content); }
const ObjectView& ObjectIn(const schedq_object_view* view) {
  return *static_cast<const ObjectView*>(view->content);
}

const char* PodText(const schedq_pod_view* view, int32_t field) {
  const Pod& pod = PodIn(view);
  switch (field) {
    case SCHEDQ_POD_NAMESPACE:
      return pod.namespace_name.c_str();
    case SCHEDQ_POD_NAME:
      return pod.name.c_str();
    case SCHEDQ_POD_UID:
      return pod.uid.c_str();
    case SCHEDQ_POD_NODE_NAME:
      return pod.node_name.c_str();
    case SCHEDQ_POD_NOMINATED_NODE_NAME:
      return pod.nominated_node_name.c_str();
    case SCHEDQ_POD_GROUP:
      return pod.group_name.c_str();
    default:
      return "";
  }
}

int32_t PodPriority(const schedq_pod_view* view) { return PodIn(view).priority; }

size_t PodCount(const schedq_pod_view* view, int32_t list) {
  const Pod& pod = PodIn(view);
  switch (list) {
    case SCHEDQ_POD_SCHEDULING_GATES:
      return pod.scheduling_gates.size();
    case SCHEDQ_POD_CLAIMS:
      return pod.claims.size();
    case SCHEDQ_POD_CLAIM_TEMPLATES:
      return pod.claim_templates.size();
    case SCHEDQ_POD_GENERATED_CLAIMS:
      return pod.generated_claims.size();
    case SCHEDQ_POD_LABELS:
      return pod.labels.size();
    case SCHEDQ_POD_NODE_SELECTOR:
      return pod.node_selector.size();
    default:
      return 0;
  }
}

const char* PodItem(const schedq_pod_view* view, int32_t list, size_t i) {
  if (i >= PodCount(view, list)) return "";
  const Pod& pod = PodIn(view);
  switch (list) {
    case SCHEDQ_POD_SCHEDULING_GATES:
      return pod.scheduling_gates[i].c_str();
    case SCHEDQ_POD_CLAIMS:
      return pod.claims[i].c_str();
    case SCHEDQ_POD_CLAIM_TEMPLATES:
      return pod.claim_templates[i].c_str();
    case SCHEDQ_POD_GENERATED_CLAIMS:
      return pod.generated_claims[i].claim_name.c_str();
    case SCHEDQ_POD_LABELS:
      return pod.labels[i].first.c_str();
    default:
      return pod.node_selector[i].first.c_str();
  }
}

const char* PodItemValue(const schedq_pod_view* view, int32_t list, size_t i) {
  const bool is_pair = list == SCHEDQ_POD_LABELS || list == SCHEDQ_POD_NODE_SELECTOR;
  if (!is_pair || i >= PodCount(view, list)) return "";
  const Pod& pod = PodIn(view);
  return (list == SCHEDQ_POD_LABELS ? pod.labels : pod.node_selector)[i].second.c_str();
}

const char* LabelIn(const Labels& labels, const char* key) {
  for (const auto& [name, value] : labels) {
    if (name == TextOf(key)) return value.c_str();
  }
  return "";
}

int64_t AmountIn(const ResourceList& list, const char* name) {
  for (const auto& [resource, amount] : list) {
    if (resource == TextOf(name)) return amount;
  }
  return 0;
}

const char* PodLabel(const schedq_pod_view* view, const char* key) {
  return LabelIn(PodIn(view).labels, key);
}
int64_t PodRequest(const schedq_pod_view* view, const char* name) {
  return AmountIn(PodIn(view).requests, name);
}

constexpr schedq_pod_functions kPodFunctions = {
    .size = sizeof(schedq_pod_functions),
    .text = PodText,
    .priority = PodPriority,
    .count = PodCount,
    .item = PodItem,
    .item_value = PodItemValue,
    .label = PodLabel,
    .request = PodRequest,
};

const char* ObjectText(const schedq_object_view* view, int32_t field) {
  const ObjectView& object = ObjectIn(view);
  switch (field) {
    case SCHEDQ_OBJECT_NAMESPACE:
      return object.namespace_name.c_str();
    case SCHEDQ_OBJECT_NAME:
      return object.name.c_str();
    case SCHEDQ_OBJECT_UID:
      return object.uid.c_str();
    case SCHEDQ_OBJECT_RESOURCE:
      return ResourceName(object.resource).data();  // A literal, which ends with a zero byte.
    default:
      return "";
  }
}

const char* ObjectLabel(const schedq_object_view* view, const char* key) {
  return LabelIn(ObjectIn(view).labels, key);
}
int32_t ObjectAllocated(const schedq_object_view* view) { return ObjectIn(view).allocated; }
int32_t ObjectUnschedulable(const schedq_object_view* view) { return ObjectIn(view).unschedulable; }
uint64_t ObjectStatusVersion(const schedq_object_view* view) {
  return ObjectIn(view).status_version;
}
int64_t ObjectAllocatable(const schedq_object_view* view, const char* name) {
  return AmountIn(ObjectIn(view).allocatable, name);
}
int32_t ObjectPod(const schedq_object_view* view, schedq_pod_view* pod) {
  const ObjectView& object = ObjectIn(view);
  if (object.pod == nullptr) return 0;
  *pod = ViewOf(*object.pod);
  return 1;
}

constexpr schedq_object_functions kObjectFunctions = {
    .size = sizeof(schedq_object_functions),
    .text = ObjectText,
    .label = ObjectLabel,
    .allocated = ObjectAllocated,
    .unschedulable = ObjectUnschedulable,
    .status_version = ObjectStatusVersion,
    .allocatable = ObjectAllocatable,
    .pod = ObjectPod,
};

// Called by plugins, which may be written in C: nothing is thrown through them. What cannot be
// written is left out.
void WriteMessage(schedq_message* message, const char* text) noexcept {
  auto* const to = static_cast<std::string*>(message->content);
  if (to == nullptr) return;
  try {
    to->append(TextOf(text));
  } catch (const std::bad_alloc&) {
    to->clear();
  }
}
constexpr schedq_message_functions kMessageFunctions = {
    .size = sizeof(schedq_message_functions),
    .write = WriteMessage,
};

// Out of memory here ends the program, as a pod that is left out would be lost.
void AddPod(schedq_pods* pods, const char* namespace_name, const char* name) noexcept {
  const auto* const to = static_cast<ListedPods*>(pods->content);
  const std::optional<PodId> id = to->world->pod_names().Find(TextOf(namespace_name), TextOf(name));
  if (id) to->pods->push_back(*id);
}
void AddUsersOfClaim(schedq_pods* pods, const char* namespace_name, const char* claim) noexcept {
  const auto* const to = static_cast<ListedPods*>(pods->content);
  to->world->claim_index().Lookup(TextOf(namespace_name), TextOf(claim), to->pods);
}
constexpr schedq_pods_functions kPodsFunctions = {
    .size = sizeof(schedq_pods_functions),
    .add = AddPod,
    .add_users_of_claim = AddUsersOfClaim,
};

void AllowPod(schedq_waiting* waiting, const char* uid) noexcept {
  static_cast<WaitingPodsOfPlugin*>(waiting->content)->Allow(TextOf(uid));
}
void RejectPod(schedq_waiting* waiting, const char* uid) noexcept {
  static_cast<WaitingPodsOfPlugin*>(waiting->content)->Reject(TextOf(uid));
}
constexpr schedq_waiting_functions kWaitingFunctions = {
    .size = sizeof(schedq_waiting_functions),
    .allow = AllowPod,
    .reject = RejectPod,
};

}  // namespace

schedq_pod_view ViewOf(const Pod& pod) { return {&kPodFunctions, &pod}; }
schedq_object_view ViewOf(const ObjectView& object) { return {&kObjectFunctions, &object}; }

ChangeView::ChangeView(const ObjectChange& change)
    : before_{&kObjectFunctions, change.before.get()},
      after_{&kObjectFunctions, change.after.get()},
      change_{sizeof(schedq_change), change.before != nullptr ? &before_ : nullptr,
              change.after != nullptr ? &after_ : nullptr} {}

schedq_message MessageTo(std::string* text) { return {&kMessageFunctions, text}; }
schedq_waiting WaitingTo(WaitingPodsOfPlugin* waiting) { return {&kWaitingFunctions, waiting}; }
schedq_pods PodsTo(ListedPods* listed) { return {&kPodsFunctions, listed}; }

}  // namespace schedq
