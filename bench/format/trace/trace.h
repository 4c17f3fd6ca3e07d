// Traces, version 1: the first line and the operations, decoded strictly from JSON lines.
// docs/formats.md, "Traces", is the contract.
#pragma once

#include <cstdint>
#include <map>
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
#include "hints/recorded/trace_plugins.h"

namespace schedq {

struct TraceHeader {
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
};
inline constexpr int kTraceOpCount = 13;
std::string_view TraceOpName(TraceOp op);

// The object of an event.
struct TraceObject {
  std::string namespace_name;
  std::string name;
  Labels labels;
  bool was_allocated = false;
  bool is_allocated = false;
};

// What an operation must give. Fields that the operation does not have stay empty.
struct TraceWant {
  std::map<std::string, std::string> changed;  // Place by pod.
  std::optional<std::string> popped;           // The popped pod; nullopt: the pop would block.
  int64_t attempts = 0;
  int64_t cycle = 0;
  std::vector<std::string> nominated;
  int64_t scheduling_cycle = 0;
  std::map<std::string, int64_t> incoming;  // By "queue|event".
  std::optional<int64_t> logged_events;     // For information.
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
  std::vector<RecordedAnswer> rejected;
  std::vector<RecordedAnswer> verdicts;
  std::optional<TraceWant> want;
};

// Both return an error for a malformed line. It holds the reason; the caller adds file and line.
Result<TraceHeader> ParseTraceHeader(std::string_view line);
Result<TraceOperation> ParseTraceOperation(std::string_view line);

// Milliseconds since `start`, as "backoff@MS" counts them.
int64_t MillisecondsSince(Instant start, Instant instant);

}  // namespace schedq
