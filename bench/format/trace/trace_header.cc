// Reads the first line of a trace.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bench/format/trace/json_fields.h"
#include "bench/format/trace/timestamp.h"
#include "bench/format/trace/trace.h"
#include "bench/format/workload/known_gates.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "hints/recorded/trace_plugins.h"

namespace schedq {
namespace {

using nlohmann::json;

constexpr int64_t kMillisecondsMax = int64_t{1} << 40;  // 34 years: no sum of them overflows.

// The kind, which is an error where only version 2 has it.
std::string KindOf(JsonFields* fields, std::string_view field, int version,
                   const std::string& plugin) {
  std::string kind = fields->TextOr(field, "");
  if (version < kTraceVersionWithGroups && IsKindOfGroups(kind)) {
    fields->Refuse("plugin " + plugin + ": " + std::string(field) + " kind \"" + kind +
                   "\" needs schedq_trace 2");
  }
  return kind;
}

Result<TraceEventSpec> ParseEventSpec(const json& value, const std::string& plugin, int version) {
  JsonFields fields(value, "plugin " + plugin + ": event");
  TraceEventSpec spec;
  const std::string on = fields.Text("on");
  if (const auto resource = ParseResource(on)) {
    spec.on = *resource;
    if (version < kTraceVersionWithGroups && IsResourceOfGroups(*resource)) {
      fields.Refuse("plugin " + plugin + ": events on " + on + " need schedq_trace 2");
    }
  } else {
    fields.Refuse("plugin " + plugin + ": unknown resource " + on);
  }
  for (const json& item : fields.Array("actions")) {
    const auto action = item.is_string() ? ParseAction(item.get<std::string>()) : std::nullopt;
    if (action) {
      spec.actions = spec.actions | *action;
    } else {
      fields.Refuse("plugin " + plugin + ": unknown action " + item.dump());
    }
  }
  spec.hint = KindOf(&fields, "hint", version, plugin);
  spec.pre_hint = fields.TextOr("pre_hint", "");
  if (const Status status = fields.Finish(); !status) return status.error();
  return spec;
}

Result<TracePluginSpec> ParsePluginSpec(const json& value, int version) {
  JsonFields fields(value, "plugin");
  TracePluginSpec spec;
  spec.name = fields.Text("name");
  spec.pre_enqueue = KindOf(&fields, "pre_enqueue", version, spec.name);
  const json& events = fields.Array("events");
  if (const Status status = fields.Finish(); !status) return status.error();
  for (const json& event : events) {
    Result<TraceEventSpec> parsed = ParseEventSpec(event, spec.name, version);
    if (!parsed) return parsed.error();
    spec.events.push_back(std::move(*parsed));
  }
  return spec;
}

Status ParseGates(const json& value, TraceHeader* header) {
  GateRequest request;
  for (const auto& [name, on] : value.items()) {
    if (!on.is_boolean()) {
      return Error("gates: " + name + " is " + on.type_name() + ", expected true or false");
    }
    if (Status known = CheckGateName(name); !known) {
      return Error("gates: " + known.error().message());
    }
    if (const auto gate = ParseGate(name)) {
      if (IsGateOfGroups(*gate) && on.get<bool>() && header->version < kTraceVersionWithGroups) {
        return Error("gates: " + name + "=true needs schedq_trace 2");
      }
      request.Set(*gate, on.get<bool>());
    } else {
      header->gates_not_modelled.push_back(name);
    }
  }
  Result<Gates> gates = Gates::Resolve(request);
  if (!gates) return gates.error();
  header->gates = *gates;
  return Status::Ok();
}

bool RegistersForGroups(const TracePluginSpec& plugin) {
  return std::any_of(plugin.events.begin(), plugin.events.end(),
                     [](const TraceEventSpec& event) { return IsResourceOfGroups(event.on); });
}

}  // namespace

int VersionOf(const TraceHeader& header) {
  const bool has_groups =
      header.gates.GenericWorkload() ||
      std::any_of(header.plugins.begin(), header.plugins.end(), RegistersForGroups);
  return has_groups ? kTraceVersionWithGroups : header.version;
}

Result<TraceHeader> ParseTraceHeader(std::string_view line) {
  const Result<json> value = ParseJsonLine(line);
  if (!value) return value.error();
  JsonFields fields(*value, "header");
  TraceHeader header;
  const int64_t version = fields.Integer("schedq_trace");
  if (version == kTraceVersionWithGroups) {
    header.version = kTraceVersionWithGroups;
    header.about = fields.TextOr("about", "");
  } else if (version != 1) {
    fields.Refuse("header: expected schedq_trace 1 or 2");
  }
  const std::string start = fields.Text("start");
  if (const auto instant = ParseTimestamp(start)) {
    header.start = *instant;
  } else {
    fields.Refuse("header: start is " + start + ", expected RFC 3339 with a Z");
  }
  const auto milliseconds = [&](std::string_view field, Duration absent) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(absent).count();
    return std::chrono::milliseconds(fields.IntegerOr(field, ms, 0, kMillisecondsMax));
  };
  header.backoff.initial = milliseconds("pod_initial_backoff_ms", header.backoff.initial);
  header.backoff.maximum = milliseconds("pod_max_backoff_ms", header.backoff.maximum);
  header.max_in_unschedulable =
      milliseconds("pod_max_in_unschedulable_ms", std::chrono::minutes(5));
  const json* gates = fields.ObjectOr("gates");
  const json& plugins = fields.Array("plugins");
  if (const Status status = fields.Finish(); !status) return status.error();
  if (gates != nullptr) {
    if (const Status status = ParseGates(*gates, &header); !status) return status.error();
  }
  for (const json& plugin : plugins) {
    Result<TracePluginSpec> parsed = ParsePluginSpec(plugin, header.version);
    if (!parsed) return parsed.error();
    header.plugins.push_back(std::move(*parsed));
  }
  return header;
}

}  // namespace schedq
