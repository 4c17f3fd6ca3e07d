// Traces, versions 1 and 2: the first line and the operations, decoded strictly from JSON lines.
// docs/formats.md, "Traces", is the contract. Version 2 is version 1 and groups of pods; what only
// it has is an error in a file of version 1.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backoff.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "hints/recorded/trace_plugins.h"

namespace schedq {

inline constexpr int kTraceVersionWithGroups = 2;

struct TraceHeader {
  int version = 1;
  std::string about;  // For readers; version 2.
  Instant start{};
  Gates gates;
  std::vector<std::string> gates_not_modelled;
  BackoffPolicy backoff;
  Duration max_in_unschedulable{};
  std::vector<TracePluginSpec> plugins;
};

enum class TraceOp : uint8_t {
  kAdd,
  kUpdate,
  kDelete,
  kBind,
  kFail,
  kPop,
  kFlushBackoff,
  kFlushUnschedulable,
  kEvent,
  kActivate,
  kNominate,
  kNominated,
  kEnd,
  // From here on version 2.
  kGroupAdd,
  kGroupUpdate,
  kGroupDelete,
  kCompositeAdd,
  kCompositeUpdate,
  kCompositeDelete,
  kGroupDone,
};
inline constexpr int kTraceOpCount = 20;
std::string_view TraceOpName(TraceOp op);
inline bool NeedsGroups(TraceOp op) { return op > TraceOp::kEnd; }

// The object of an event.
struct TraceObject {
  std::string namespace_name;
  std::string name;
  Labels labels;
  bool was_allocated = false;
  bool is_allocated = false;
  std::string group;          // Of a pod: its group.
  int64_t min_count = 0;      // Of a PodGroup.
  int64_t old_min_count = 0;  // Of a PodGroup that was updated.
};

// What an operation must give. Fields that the operation does not have stay empty.
struct TraceWant {
  std::map<std::string, std::string> changed;  // Place by pod.
  // The popped pod; nullopt: the pop would block, or a group was popped.
  std::optional<std::string> popped;
  std::optional<std::string> popped_group;  // The root of the popped group.
  std::vector<std::string> members;         // Of the popped group, in the order of members.
  std::vector<int64_t> member_attempts;     // In the same order.
  int64_t attempts = 0;                     // The entity's.
  int64_t cycle = 0;
  std::vector<std::string> nominated;
  int64_t scheduling_cycle = 0;
  std::map<std::string, int64_t> incoming;  // By "queue|event".
  // By "queue|event|type"; nullopt: not kept, or not wanted.
  std::optional<std::map<std::string, int64_t>> incoming_entities;
  std::optional<int64_t> logged_events;  // For information.
};

// Answers of the kind `recorded`. An empty plugin stands for every plugin.
struct RecordedAnswer {
  std::string pod;
  std::string plugin;
};

struct TraceOperation {
  TraceOp op = TraceOp::kEnd;
  int64_t time_ms = 0;
  PodRef pod;                              // add, update.
  std::string pod_name;                    // delete, bind, fail, nominate.
  std::string node;                        // nominate, nominated.
  std::vector<std::string> pod_names;      // activate.
  std::vector<std::string> unschedulable;  // fail.
  std::vector<std::string> pending;        // fail.
  ClusterEvent event;                      // event.
  TraceObject object;                      // event.
  PodGroupRef group;           // group_add, group_update, composite_add, composite_update.
  std::string namespace_name;  // group_delete, composite_delete.
  std::string group_name;      // group_delete, composite_delete, group_done.
  GroupStatus status = GroupStatus::kSuccess;  // group_done.
  std::vector<RecordedAnswer> rejected;
  std::vector<RecordedAnswer> verdicts;
  std::optional<TraceWant> want;
};

// Both return an error for a malformed line. It holds the reason; the caller adds file and line.
Result<TraceHeader> ParseTraceHeader(std::string_view line);
// `version` is the header's.
Result<TraceOperation> ParseTraceOperation(std::string_view line, int version = 1);
// The same of a line that is JSON already.
Result<TraceOperation> DecodeTraceOperation(const nlohmann::json& line, int version);

// Events on these are of version 2.
inline bool IsResourceOfGroups(Resource resource) {
  return resource == Resource::kPodGroup || resource == Resource::kCompositePodGroup;
}

// Where the gate GenericWorkload is on, or a plugin registered for events on groups, a trace has
// groups, whatever version its header names.
int VersionOf(const TraceHeader& header);

// "success", "unschedulable", "error".
std::string_view GroupStatusName(GroupStatus status);

// Milliseconds since `start`, as "backoff@MS" counts them.
int64_t MillisecondsSince(Instant start, Instant instant);

}  // namespace schedq
