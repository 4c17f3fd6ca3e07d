// What the steps of the simulated scheduler and its cluster take, for runs on the virtual clock.
//
// Purpose: one value per step, decoded strictly from YAML: every key must be there, none may be
// unknown. bench/sim/costs holds models, each number with its source.
// Threads: immutable once read.
#pragma once

#include <string>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"

namespace schedq {

// An API call takes `fixed` and, on top, an exponential time with mean `extra`.
struct CallLatency {
  Duration fixed{};
  Duration extra{};

  Duration Draw(Random* random) const;
};

struct CostModel {
  std::string name;

  Duration attempt{};      // One attempt, beside the nodes.
  Duration filter_node{};  // Filter and score of a node that is looked at.

  // Under the queue's lock.
  Duration queue_add{};
  Duration queue_pop{};
  Duration queue_done{};
  Duration queue_fail{};
  Duration queue_update{};
  Duration queue_event{};  // One event, beside the judgements.
  Duration queue_judge{};  // One hint asked about one pod.

  Duration informer_delay{};
  CallLatency create;
  CallLatency remove;
  CallLatency status;
  CallLatency bind;
  int creators = 1;
  Duration client_interval{};  // Between two calls of the workload's client, at least.
  int claim_workers = 1;
};

// `file` stands in errors: file, line and what was expected.
Result<CostModel> ParseCostModel(const std::string& file, const std::string& text);
// A file, or the name of a model inside the program ("upstream").
Result<CostModel> LoadCostModel(const std::string& name_or_path);

// bench/sim/costs/upstream.yaml, put into the program by the build.
extern const char* const kUpstreamCosts;

}  // namespace schedq
