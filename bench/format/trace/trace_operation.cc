// Reads one operation of a trace.
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
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

namespace schedq {
namespace {

using nlohmann::json;

constexpr int64_t kTimeMsMax = int64_t{1} << 40;  // 34 years after the start.
constexpr int64_t kListLengthMax = 1000;          // Bound of lists that a trace gives as a number.
constexpr int64_t kCountMax = std::numeric_limits<int64_t>::max();

constexpr std::array<std::string_view, kTraceOpCount> kOpNames = {
    "add",   "update",   "delete",        "bind",
    "fail",  "pop",      "flush_backoff", "flush_unschedulable",
    "event", "activate", "nominate",      "nominated",
    "end"};

std::optional<TraceOp> ParseOpName(std::string_view name) {
  for (int i = 0; i < kTraceOpCount; ++i) {
    if (kOpNames[i] == name) return static_cast<TraceOp>(i);
  }
  return std::nullopt;
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

Result<PodRef> ParsePod(const json& value) {
  JsonFields fields(value, "pod");
  auto pod = std::make_shared<Pod>();
  pod->name = fields.Text("name");
  if (fields.Has("name") && pod->name.empty()) fields.Refuse("pod: name is empty");
  if (pod->name.find('/') != std::string::npos) fields.Refuse("pod: name has a slash");
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
  if (const Status status = fields.Finish(); !status) return status.error();
  return PodRef(std::move(pod));
}

Status ParseObject(const json& value, TraceObject* object) {
  JsonFields fields(value, "object");
  object->namespace_name = fields.TextOr("namespace", "");
  object->name = fields.TextOr("name", "");
  object->labels = ParseLabels(fields.ObjectOr("labels"), &fields);
  object->was_allocated = fields.BoolOr("was_allocated", false);
  object->is_allocated = fields.BoolOr("is_allocated", false);
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

Status ParseWant(const json& value, TraceOp op, TraceWant* want) {
  JsonFields fields(value, "want");
  if (const json* changed = fields.ObjectOr("changed")) {
    for (const auto& [pod, place] : changed->items()) {
      if (!place.is_string()) fields.Refuse("want: changed: " + pod + " is not a string");
      if (place.is_string()) want->changed[pod] = place.get<std::string>();
    }
  }
  if (op == TraceOp::kPop) {
    const json* pod = fields.AnyOr("pod");
    if (pod == nullptr || (!pod->is_string() && !pod->is_null())) {
      fields.Refuse("want: pod of a pop is missing, expected a name or null");
    } else if (pod->is_string()) {
      want->popped = pod->get<std::string>();
      want->attempts = fields.IntegerOr("attempts", 0, 0, kCountMax);
      want->cycle = fields.IntegerOr("cycle", 0, 0, kCountMax);
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
    for (const auto& [key, count] : fields.Object("queue_incoming_pods_total").items()) {
      const std::optional<int64_t> number = Int64Of(count);
      if (!number) fields.Refuse("want: " + key + " is not an integer of 64 bits");
      if (number) want->incoming[key] = *number;
    }
    if (fields.Has("in_flight_events")) {
      want->logged_events = fields.IntegerOr("in_flight_events", 0, 0, kCountMax);
    }
  }
  return fields.Finish();
}

Status ParseEvent(JsonFields* fields, TraceOperation* operation) {
  const std::string on = fields->Text("on");
  const std::string action = fields->Text("action");
  const auto resource = ParseResource(on);
  const auto actions = ParseAction(action);
  if (fields->Has("on") && !resource) return Error("event: unknown resource " + on);
  if (fields->Has("action") && !actions) return Error("event: unknown action " + action);
  if (resource && actions) operation->event = MakeEvent(*resource, *actions);
  const json* object = fields->ObjectOr("object");
  if (object != nullptr) return ParseObject(*object, &operation->object);
  return Status::Ok();
}

// Reads the fields that only this operation has.
Status ParseBody(JsonFields* fields, TraceOperation* operation) {
  switch (operation->op) {
    case TraceOp::kAdd:
    case TraceOp::kUpdate: {
      const json& value = fields->Object("pod");
      if (!fields->ok()) return Status::Ok();  // Finish() says what is wrong.
      Result<PodRef> pod = ParsePod(value);
      if (!pod) return pod.error();
      operation->pod = std::move(*pod);
      return Status::Ok();
    }
    case TraceOp::kFail:
      operation->unschedulable = fields->TextsOr("unschedulable");
      operation->pending = fields->TextsOr("pending");
      [[fallthrough]];
    case TraceOp::kDelete:
    case TraceOp::kBind:
      operation->pod_name = fields->Text("pod");
      return Status::Ok();
    case TraceOp::kEvent:
      return ParseEvent(fields, operation);
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

Result<TraceOperation> ParseTraceOperation(std::string_view line) {
  const Result<json> value = ParseJsonLine(line);
  if (!value) return value.error();
  JsonFields fields(*value, "operation");
  TraceOperation operation;
  const std::string name = fields.Text("op");
  const auto op = ParseOpName(name);
  if (fields.Has("op") && !op) fields.Refuse("unknown op " + name);
  operation.time_ms = fields.IntegerOr("t", -1, 0, kTimeMsMax);
  if (!fields.Has("t")) fields.Refuse("operation: field t is missing");
  if (op) {
    operation.op = *op;
    if (Status status = ParseBody(&fields, &operation); !status) return status.error();
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
    if (Status status = ParseWant(*want, operation.op, &*operation.want); !status) {
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
