// Reads one operation of a trace.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/trace/json_fields.h"
#include "bench/format/trace/trace.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/pod.h"
#include "engine/pod_group.h"

namespace schedq {
namespace {

using nlohmann::json;

constexpr int64_t kTimeMsMax = int64_t{1} << 40;  // 34 years after the start.
constexpr int64_t kListLengthMax = 1000;          // Bound of lists that a trace gives as a number.
constexpr int64_t kCountMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinCountMax = std::numeric_limits<int32_t>::max();  // As in the API.

constexpr std::array<std::string_view, kTraceOpCount> kOpNames = {"add",
                                                                  "update",
                                                                  "delete",
                                                                  "bind",
                                                                  "fail",
                                                                  "pop",
                                                                  "flush_backoff",
                                                                  "flush_unschedulable",
                                                                  "event",
                                                                  "activate",
                                                                  "nominate",
                                                                  "nominated",
                                                                  "end",
                                                                  "group_add",
                                                                  "group_update",
                                                                  "group_delete",
                                                                  "composite_add",
                                                                  "composite_update",
                                                                  "composite_delete",
                                                                  "group_done"};
constexpr std::array<std::string_view, 3> kStatusNames = {"success", "unschedulable", "error"};

std::optional<TraceOp> ParseOpName(std::string_view name) {
  for (int i = 0; i < kTraceOpCount; ++i) {
    if (kOpNames[i] == name) return static_cast<TraceOp>(i);
  }
  return std::nullopt;
}

// The name of an object in a field of its own; a slash would make "namespace/name" of it.
std::string NameOf(JsonFields* fields, const std::string& what, const char* field) {
  std::string name = fields->Text(field);
  if (fields->Has(field) && name.empty()) fields->Refuse(what + ": " + field + " is empty");
  if (name.find('/') != std::string::npos) fields->Refuse(what + ": " + field + " has a slash");
  return name;
}

// The same of a field that need not be there.
std::string NameOfOr(JsonFields* fields, const std::string& what, const char* field) {
  return fields->Has(field) ? NameOf(fields, what, field) : std::string();
}

Labels ParseLabels(const json* value, JsonFields* fields) {
  Labels labels;
  if (value == nullptr) return labels;
  for (const auto& [key, text] : value->items()) {  // In order: a json object is a sorted map.
    if (text.is_string()) {
      labels.emplace_back(key, text.get<std::string>());
    } else {
      fields->Refuse("label " + key + " is " + text.type_name() + ", expected a string");
    }
  }
  return labels;
}

Result<PodRef> ParsePod(const json& value, int version) {
  JsonFields fields(value, "pod");
  auto pod = std::make_shared<Pod>();
  pod->name = NameOf(&fields, "pod", "name");
  pod->namespace_name = fields.TextOr("namespace", "");
  pod->uid = fields.Text("uid");
  pod->priority = static_cast<int32_t>(fields.IntegerOr(
      "priority", 0, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  pod->labels = ParseLabels(fields.ObjectOr("labels"), &fields);
  for (std::string& claim : fields.TextsOr("claims")) pod->claims.push_back(std::move(claim));
  pod->scheduling_gates = fields.TextsOr("gates");
  const int64_t tolerations = fields.IntegerOr("tolerations", 0, 0, kListLengthMax);
  for (int64_t i = 0; i < tolerations; ++i) {
    Toleration& toleration = pod->tolerations.emplace_back();
    toleration.key = "key-" + std::to_string(i);
    toleration.exists = true;
  }
  const int64_t generated = fields.IntegerOr("generated_claims", 0, 0, kListLengthMax);
  for (int64_t i = 0; i < generated; ++i) {
    pod->generated_claims.emplace_back().pod_claim_name = "claim-" + std::to_string(i);
  }
  pod->nominated_node_name = fields.TextOr("nominated_node", "");
  if (version >= kTraceVersionWithGroups) pod->group_name = NameOfOr(&fields, "pod", "group");
  if (const Status status = fields.Finish(); !status) return status.error();
  return PodRef(std::move(pod));
}

Result<PodGroupRef> ParseGroup(const json& value, GroupKind kind) {
  JsonFields fields(value, "group");
  auto group = std::make_shared<PodGroup>();
  group->key.kind = kind;
  group->key.name = NameOf(&fields, "group", "name");
  group->key.namespace_name = fields.TextOr("namespace", "");
  group->priority = static_cast<int32_t>(fields.IntegerOr(
      "priority", 0, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  if (kind == GroupKind::kPodGroup) {
    group->min_count = fields.IntegerOr("min_count", 0, 0, kMinCountMax);
  }
  group->parent = NameOfOr(&fields, "group", "parent");
  if (const Status status = fields.Finish(); !status) return status.error();
  return PodGroupRef(std::move(group));
}

Status ParseObject(const json& value, int version, TraceObject* object) {
  JsonFields fields(value, "object");
  object->namespace_name = fields.TextOr("namespace", "");
  object->name = fields.TextOr("name", "");
  object->labels = ParseLabels(fields.ObjectOr("labels"), &fields);
  object->was_allocated = fields.BoolOr("was_allocated", false);
  object->is_allocated = fields.BoolOr("is_allocated", false);
  if (version >= kTraceVersionWithGroups) {
    object->group = NameOfOr(&fields, "object", "group");
    object->min_count = fields.IntegerOr("min_count", 0, 0, kMinCountMax);
    object->old_min_count = fields.IntegerOr("old_min_count", 0, 0, kMinCountMax);
  }
  return fields.Finish();
}

// Appends an answer of `plugin` for each string in `value`.
Status ParseAnswerPods(const json& value, const std::string& plugin, const std::string& what,
                       std::vector<RecordedAnswer>* answers) {
  for (const json& pod : value) {
    if (!pod.is_string()) {
      return Error(what + ": " + pod.type_name() + ", expected names of pods");
    }
    answers->push_back({pod.get<std::string>(), plugin});
  }
  return Status::Ok();
}

// `value` is a list of pods, whose answers stand for every plugin, or an object. The object maps
// pod to plugin for `rejected`, and plugin to pods for `verdicts`.
Status ParseAnswers(const json* value, const std::string& what,
                    std::vector<RecordedAnswer>* answers) {
  if (value == nullptr) return Status::Ok();
  if (value->is_array()) return ParseAnswerPods(*value, "", what, answers);
  if (!value->is_object()) {
    return Error(what + ": " + value->type_name() + ", expected an array or an object");
  }
  for (const auto& [key, item] : value->items()) {
    if (item.is_string()) {
      answers->push_back({key, item.get<std::string>()});
    } else if (item.is_array()) {
      if (Status status = ParseAnswerPods(item, key, what, answers); !status) return status;
    } else {
      return Error(what + ": " + key + " is " + item.type_name() + ", expected a string or a list");
    }
  }
  return Status::Ok();
}

void ParsePopOfPod(JsonFields* fields, TraceWant* want) {
  const json* pod = fields->AnyOr("pod");
  if (pod == nullptr || (!pod->is_string() && !pod->is_null())) {
    fields->Refuse("want: pod of a pop is missing, expected a name or null");
  } else if (pod->is_string()) {
    want->popped = pod->get<std::string>();
    want->attempts = fields->IntegerOr("attempts", 0, 0, kCountMax);
    want->cycle = fields->IntegerOr("cycle", 0, 0, kCountMax);
  }
}

void ParsePopOfGroup(JsonFields* fields, TraceWant* want) {
  want->popped_group = fields->Text("group");
  fields->Array("pods");
  want->members = fields->TextsOr("pods");
  for (const json& attempts : fields->Array("member_attempts")) {
    const std::optional<int64_t> number = Int64Of(attempts);
    if (!number) fields->Refuse("want: member_attempts has an item that is not an integer");
    want->member_attempts.push_back(number.value_or(0));
  }
  if (fields->ok() && want->member_attempts.size() != want->members.size()) {
    fields->Refuse("want: member_attempts has " + std::to_string(want->member_attempts.size()) +
                   " items, expected one for each of the " + std::to_string(want->members.size()) +
                   " pods");
  }
  if (fields->ok() && want->members.empty()) {
    fields->Refuse("want: pods is empty, expected the members of the group");
  }
  want->attempts = fields->IntegerOr("attempts", 0, 0, kCountMax);
  want->cycle = fields->IntegerOr("cycle", 0, 0, kCountMax);
}

void ParseCounts(const json& counts, JsonFields* fields, std::map<std::string, int64_t>* totals) {
  for (const auto& [key, count] : counts.items()) {
    const std::optional<int64_t> number = Int64Of(count);
    if (!number) fields->Refuse("want: " + key + " is not an integer of 64 bits");
    if (number) (*totals)[key] = *number;
  }
}

Status ParseWant(const json& value, TraceOp op, int version, TraceWant* want) {
  JsonFields fields(value, "want");
  if (const json* changed = fields.ObjectOr("changed")) {
    for (const auto& [pod, place] : changed->items()) {
      if (!place.is_string()) fields.Refuse("want: changed: " + pod + " is not a string");
      if (place.is_string()) want->changed[pod] = place.get<std::string>();
    }
  }
  if (op == TraceOp::kPop) {
    if (version >= kTraceVersionWithGroups && fields.Has("group")) {
      ParsePopOfGroup(&fields, want);
    } else {
      ParsePopOfPod(&fields, want);
    }
  } else if (op == TraceOp::kNominated) {
    const json* pods = fields.AnyOr("pods");
    if (pods == nullptr || (!pods->is_array() && !pods->is_null())) {
      fields.Refuse("want: pods of nominated is missing, expected a list or null");
    } else {
      for (const json& pod : *pods) {
        if (!pod.is_string()) fields.Refuse("want: pods has an item that is not a string");
        if (pod.is_string()) want->nominated.push_back(pod.get<std::string>());
      }
    }
  } else if (op == TraceOp::kEnd) {
    want->scheduling_cycle = fields.Integer("scheduling_cycle");
    ParseCounts(fields.Object("queue_incoming_pods_total"), &fields, &want->incoming);
    const json* entities = version >= kTraceVersionWithGroups
                               ? fields.ObjectOr("queue_incoming_entities_total")
                               : nullptr;
    if (entities != nullptr) {
      ParseCounts(*entities, &fields, &want->incoming_entities.emplace());
    }
    if (fields.Has("in_flight_events")) {
      want->logged_events = fields.IntegerOr("in_flight_events", 0, 0, kCountMax);
    }
  }
  return fields.Finish();
}

Status ParseEvent(JsonFields* fields, int version, TraceOperation* operation) {
  const std::string on = fields->Text("on");
  const std::string action = fields->Text("action");
  const auto resource = ParseResource(on);
  const auto actions = ParseAction(action);
  if (fields->Has("on") && !resource) return Error("event: unknown resource " + on);
  if (fields->Has("action") && !actions) return Error("event: unknown action " + action);
  if (resource && version < kTraceVersionWithGroups && IsResourceOfGroups(*resource)) {
    return Error("event: on " + on + " needs schedq_trace 2");
  }
  if (resource && actions) operation->event = MakeEvent(*resource, *actions);
  const json* object = fields->ObjectOr("object");
  if (object != nullptr) return ParseObject(*object, version, &operation->object);
  return Status::Ok();
}

Status ParsePodOf(JsonFields* fields, int version, TraceOperation* operation) {
  const json& value = fields->Object("pod");
  if (!fields->ok()) return Status::Ok();  // Finish() says what is wrong.
  Result<PodRef> pod = ParsePod(value, version);
  if (!pod) return pod.error();
  operation->pod = std::move(*pod);
  return Status::Ok();
}

Status ParseGroupOf(JsonFields* fields, GroupKind kind, TraceOperation* operation) {
  const json& value = fields->Object("group");
  if (!fields->ok()) return Status::Ok();  // Finish() says what is wrong.
  Result<PodGroupRef> group = ParseGroup(value, kind);
  if (!group) return group.error();
  operation->group = std::move(*group);
  return Status::Ok();
}

void ParseGroupDone(JsonFields* fields, TraceOperation* operation) {
  operation->group_name = fields->Text("group");
  const std::string status = fields->Text("status");
  const auto name = std::find(kStatusNames.begin(), kStatusNames.end(), status);
  if (name != kStatusNames.end()) {
    operation->status = static_cast<GroupStatus>(name - kStatusNames.begin());
  } else if (fields->Has("status")) {
    fields->Refuse("unknown status " + status + ", expected success, unschedulable or error");
  }
}

// Reads the fields that only this operation has.
Status ParseBody(JsonFields* fields, int version, TraceOperation* operation) {
  switch (operation->op) {
    case TraceOp::kAdd:
    case TraceOp::kUpdate:
      return ParsePodOf(fields, version, operation);
    case TraceOp::kFail:
      operation->unschedulable = fields->TextsOr("unschedulable");
      operation->pending = fields->TextsOr("pending");
      [[fallthrough]];
    case TraceOp::kDelete:
    case TraceOp::kBind:
      operation->pod_name = fields->Text("pod");
      return Status::Ok();
    case TraceOp::kEvent:
      return ParseEvent(fields, version, operation);
    case TraceOp::kActivate:
      fields->Array("pods");
      operation->pod_names = fields->TextsOr("pods");
      return Status::Ok();
    case TraceOp::kNominate:
      operation->pod_name = fields->Text("pod");
      operation->node = fields->Text("node");
      return Status::Ok();
    case TraceOp::kNominated:
      operation->node = fields->Text("node");
      return Status::Ok();
    case TraceOp::kGroupAdd:
    case TraceOp::kGroupUpdate:
      return ParseGroupOf(fields, GroupKind::kPodGroup, operation);
    case TraceOp::kCompositeAdd:
    case TraceOp::kCompositeUpdate:
      return ParseGroupOf(fields, GroupKind::kComposite, operation);
    case TraceOp::kGroupDelete:
    case TraceOp::kCompositeDelete:
      operation->namespace_name = fields->TextOr("namespace", "");
      operation->group_name = NameOf(fields, "operation", "group");
      return Status::Ok();
    case TraceOp::kGroupDone:
      ParseGroupDone(fields, operation);
      return Status::Ok();
    case TraceOp::kPop:
    case TraceOp::kFlushBackoff:
    case TraceOp::kFlushUnschedulable:
    case TraceOp::kEnd:
      return Status::Ok();
  }
  return Status::Ok();
}

}  // namespace

std::string_view TraceOpName(TraceOp op) { return kOpNames[static_cast<int>(op)]; }

std::string_view GroupStatusName(GroupStatus status) {
  return kStatusNames[static_cast<int>(status)];
}

Result<TraceOperation> ParseTraceOperation(std::string_view line, int version) {
  const Result<json> value = ParseJsonLine(line);
  if (!value) return value.error();
  return DecodeTraceOperation(*value, version);
}

Result<TraceOperation> DecodeTraceOperation(const json& line, int version) {
  JsonFields fields(line, "operation");
  TraceOperation operation;
  const std::string name = fields.Text("op");
  const auto op = ParseOpName(name);
  if (fields.Has("op") && !op) fields.Refuse("unknown op " + name);
  if (op && NeedsGroups(*op) && version < kTraceVersionWithGroups) {
    fields.Refuse("op " + name + " needs schedq_trace 2");
  }
  operation.time_ms = fields.IntegerOr("t", -1, 0, kTimeMsMax);
  if (!fields.Has("t")) fields.Refuse("operation: field t is missing");
  if (op) {
    operation.op = *op;
    if (Status status = ParseBody(&fields, version, &operation); !status) return status.error();
    for (const auto& [field, answers] :
         {std::pair("rejected", &operation.rejected), std::pair("verdicts", &operation.verdicts)}) {
      if (Status status = ParseAnswers(fields.AnyOr(field), field, answers); !status) {
        return status.error();
      }
    }
  }
  const json* want = fields.ObjectOr("want");
  if (const Status status = fields.Finish(); !status) return status.error();
  if (want != nullptr) {
    operation.want.emplace();
    if (Status status = ParseWant(*want, operation.op, version, &*operation.want); !status) {
      return status.error();
    }
  }
  return operation;
}

// Rounds down, so that an expiration just before the start is not at 0.
int64_t MillisecondsSince(Instant start, Instant instant) {
  return std::chrono::floor<std::chrono::milliseconds>(instant - start).count();
}

}  // namespace schedq
