// The time that each step of the simulated scheduler and its cluster takes on the virtual clock.
//
// Purpose: one value for each step, decoded strictly from YAML: every key must be present, and
// unknown ones are errors. bench/sim/costs holds models, whose numbers name their sources.
// Threads: immutable once read.
#pragma once

#include <string>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"

namespace schedq {

// An API call takes `fixed` plus an exponential time with the mean `extra`.
struct CallLatency {
  Duration fixed{};
  Duration extra{};

  Duration Draw(Random* random) const;
  bool IsNone() const { return fixed == Duration(0) && extra == Duration(0); }
};

struct CostModel {
  std::string name;

  Duration attempt{};      // One attempt, without its nodes.
  Duration filter_node{};  // Filtering and scoring one node.
  // What an attempt, and each of its nodes, takes more for a pod that needs devices.
  Duration allocate{};
  Duration allocate_node{};
  // A node that is tried without its pods of lower priority.
  Duration preempt_node{};
  // A decision about a member of a group beyond its first in a cycle, without its nodes.
  Duration group_decision{};

  // The steps under the queue's lock.
  Duration queue_add{};
  Duration queue_pop{};
  Duration queue_done{};
  Duration queue_fail{};
  Duration queue_update{};
  Duration queue_event{};  // One event, without its judgements.
  Duration queue_judge{};  // One hint about one pod.

  Duration informer_delay{};
  CallLatency create;
  CallLatency remove;
  CallLatency status;
  CallLatency bind;
  Duration call_work{};  // Of each call's latency: on one of the processors.
  int processors = 1;    // Of API server and scheduler together.
  int creators = 1;
  Duration client_interval{};  // The least time between two calls of the workload's client.
  int claim_workers = 1;
};

// An error names `file`, the line and what was expected.
Result<CostModel> ParseCostModel(const std::string& file, const std::string& text);
// Nothing takes time but what the machine takes: for the real clock only. The workers are those of
// the upstream model.
CostModel NoCosts();
inline constexpr const char* kNoCosts = "none";
inline constexpr const char* kUpstreamModel = "upstream";
// Reads a file, or gives a model of the program: "upstream" or "none".
Result<CostModel> LoadCostModel(const std::string& name_or_path);

// The text of bench/sim/costs/upstream.yaml, which the build puts into the program.
extern const char* const kUpstreamCosts;

}  // namespace schedq
