#include "bench/format/trace/trace_writer.h"

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/format/trace/timestamp.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "hints/recorded/trace_plugins.h"

namespace schedq {
namespace {

using nlohmann::json;

int64_t Milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// Names of plugins come from shared libraries, and need not be UTF-8.
std::string Line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The names of the actions in the set `actions`.
json ActionNames(Action actions) {
  if (actions == Action::kAll || actions == Action::kUpdate) {
    return json::array({ActionName(actions)});
  }
  json names = json::array();
  Action rest = actions;
  if (Contains(rest, Action::kUpdate)) {
    names.push_back(ActionName(Action::kUpdate));
    rest = static_cast<Action>(static_cast<uint32_t>(rest) & 3u);
  }
  for (uint32_t bit = 1; bit < static_cast<uint32_t>(Action::kUpdateOther); bit <<= 1) {
    const auto action = static_cast<Action>(bit);
    if (Contains(rest, action)) names.push_back(ActionName(action));
  }
  return names;
}

json ToJson(const TracePluginSpec& plugin) {
  json events = json::array();
  for (const TraceEventSpec& event : plugin.events) {
    json value = {{"on", ResourceName(event.on)},
                  {"actions", ActionNames(event.actions)},
                  {"hint", event.hint}};
    if (!event.pre_hint.empty()) value["pre_hint"] = event.pre_hint;
    events.push_back(std::move(value));
  }
  json value = {{"name", plugin.name}, {"events", std::move(events)}};
  if (!plugin.pre_enqueue.empty()) value["pre_enqueue"] = plugin.pre_enqueue;
  return value;
}

json ToJson(const Labels& labels) {
  json value = json::object();
  for (const auto& [key, text] : labels) value[key] = text;
  return value;
}

json ToJson(const Pod& pod, int version) {
  json value = {{"name", pod.name},
                {"namespace", pod.namespace_name},
                {"uid", pod.uid},
                {"priority", pod.priority}};
  if (!pod.labels.empty()) value["labels"] = ToJson(pod.labels);
  if (!pod.claims.empty()) value["claims"] = pod.claims;
  if (!pod.scheduling_gates.empty()) value["gates"] = pod.scheduling_gates;
  if (!pod.tolerations.empty()) value["tolerations"] = pod.tolerations.size();
  if (!pod.generated_claims.empty()) value["generated_claims"] = pod.generated_claims.size();
  if (!pod.nominated_node_name.empty()) value["nominated_node"] = pod.nominated_node_name;
  if (!pod.group_name.empty() && version >= kTraceVersionWithGroups) {
    value["group"] = pod.group_name;
  }
  return value;
}

json ToJson(const PodGroup& group) {
  json value = {{"name", group.key.name},
                {"namespace", group.key.namespace_name},
                {"priority", group.priority}};
  if (group.min_count != 0) value["min_count"] = group.min_count;
  if (!group.parent.empty()) value["parent"] = group.parent;
  return value;
}

json ToJson(const TraceObject& object, int version) {
  json value = {{"namespace", object.namespace_name}, {"name", object.name}};
  if (!object.labels.empty()) value["labels"] = ToJson(object.labels);
  if (object.was_allocated) value["was_allocated"] = true;
  if (object.is_allocated) value["is_allocated"] = true;
  if (version < kTraceVersionWithGroups) return value;
  if (!object.group.empty()) value["group"] = object.group;
  if (object.min_count != 0) value["min_count"] = object.min_count;
  if (object.old_min_count != 0) value["old_min_count"] = object.old_min_count;
  return value;
}

json ToJson(TraceOp op, const TraceWant& want) {
  json value = {{"changed", want.changed}};
  if (op == TraceOp::kPop) {
    if (want.popped_group) {
      value["group"] = *want.popped_group;
      value["pods"] = want.members;
      value["member_attempts"] = want.member_attempts;
    } else {
      value["pod"] = want.popped ? json(*want.popped) : json(nullptr);
    }
    if (want.popped || want.popped_group) {
      value["attempts"] = want.attempts;
      value["cycle"] = want.cycle;
    }
  } else if (op == TraceOp::kNominated) {
    value["pods"] = want.nominated.empty() ? json(nullptr) : json(want.nominated);
  } else if (op == TraceOp::kEnd) {
    value["scheduling_cycle"] = want.scheduling_cycle;
    value["queue_incoming_pods_total"] = want.incoming;
    if (want.incoming_entities) value["queue_incoming_entities_total"] = *want.incoming_entities;
    if (want.logged_events) value["in_flight_events"] = *want.logged_events;
  }
  return value;
}

// `rejected` maps a pod to a plugin, `verdicts` a plugin to pods; "" stands for every plugin.
void AddAnswers(const TraceOperation& operation, json* line) {
  for (const auto& [pod, plugin] : operation.rejected) (*line)["rejected"][pod] = plugin;
  for (const auto& [pod, plugin] : operation.verdicts) {
    (*line)["verdicts"][plugin].push_back(pod);
  }
}

}  // namespace

std::string FormatTraceHeader(const TraceHeader& header) {
  const int version = VersionOf(header);
  json gates = json::object();
  for (int i = 0; i < kGateCount; ++i) {
    const auto gate = static_cast<Gate>(i);
    if (IsGateOfPlacing(gate)) continue;
    if (IsGateOfGroups(gate) && version < kTraceVersionWithGroups) continue;
    gates[std::string(GateName(gate))] = header.gates.On(gate);
  }
  json plugins = json::array();
  for (const TracePluginSpec& plugin : header.plugins) plugins.push_back(ToJson(plugin));
  json line = {{"schedq_trace", version},
               {"start", FormatTimestamp(header.start)},
               {"gates", std::move(gates)},
               {"pod_initial_backoff_ms", Milliseconds(header.backoff.initial)},
               {"pod_max_backoff_ms", Milliseconds(header.backoff.maximum)},
               {"pod_max_in_unschedulable_ms", Milliseconds(header.max_in_unschedulable)},
               {"plugins", std::move(plugins)}};
  if (!header.about.empty()) line["about"] = header.about;
  return Line(line);
}

std::string FormatTraceOperation(const TraceOperation& operation, int version) {
  SCHEDQ_CHECK(version >= kTraceVersionWithGroups || !NeedsGroups(operation.op),
               "only version 2 has operations on groups");
  json line = {{"op", TraceOpName(operation.op)}, {"t", operation.time_ms}};
  switch (operation.op) {
    case TraceOp::kAdd:
    case TraceOp::kUpdate:
      line["pod"] = ToJson(*operation.pod, version);
      break;
    case TraceOp::kFail:
      if (!operation.unschedulable.empty()) line["unschedulable"] = operation.unschedulable;
      if (!operation.pending.empty()) line["pending"] = operation.pending;
      [[fallthrough]];
    case TraceOp::kDelete:
    case TraceOp::kBind:
      line["pod"] = operation.pod_name;
      break;
    case TraceOp::kEvent:
      line["on"] = ResourceName(operation.event.resource);
      line["action"] = ActionName(operation.event.action);
      line["object"] = ToJson(operation.object, version);
      break;
    case TraceOp::kActivate:
      line["pods"] = operation.pod_names;
      break;
    case TraceOp::kNominate:
      line["pod"] = operation.pod_name;
      line["node"] = operation.node;
      break;
    case TraceOp::kNominated:
      line["node"] = operation.node;
      break;
    case TraceOp::kGroupAdd:
    case TraceOp::kGroupUpdate:
    case TraceOp::kCompositeAdd:
    case TraceOp::kCompositeUpdate:
      line["group"] = ToJson(*operation.group);
      break;
    case TraceOp::kGroupDelete:
    case TraceOp::kCompositeDelete:
      line["namespace"] = operation.namespace_name;
      line["group"] = operation.group_name;
      break;
    case TraceOp::kGroupDone:
      line["group"] = operation.group_name;
      line["status"] = GroupStatusName(operation.status);
      break;
    case TraceOp::kPop:
    case TraceOp::kFlushBackoff:
    case TraceOp::kFlushUnschedulable:
    case TraceOp::kEnd:
      break;
  }
  AddAnswers(operation, &line);
  if (operation.want) line["want"] = ToJson(operation.op, *operation.want);
  return Line(line);
}

}  // namespace schedq
