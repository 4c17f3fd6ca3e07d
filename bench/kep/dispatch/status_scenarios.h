// The scenarios of KEP-5501. Each runs in any of the KEP's models.
// Threads: the caller's; each scenario builds a world of its own. Equal seeds give equal outcomes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bench/kep/dispatch/status_world.h"
#include "engine/base/time/time.h"
#include "engine/queue_answers.h"

namespace schedq {

struct StatusScenario {
  std::string_view name;
  std::string_view about;
  uint64_t pods = 0;
  StatusOutcome (*run)(const StatusWorldOptions& options);
};

// All scenarios, in the order of tables.
std::span<const StatusScenario> StatusScenarios();

// The claims of 1,000 pods become visible 0.1 s to `longest` after the pods. The client has no rate
// limit, so that only the model decides which calls are sent.
StatusOutcome RunTransient(StatusWorldOptions options, Duration longest);
// The reason of one pod changes every second for a minute.
StatusOutcome RunFlapping(const StatusWorldOptions& options);
// The server marks 1,000 pods SchedulingGated, and a plugin rejects them with the server's own
// text.
StatusOutcome RunGatedByServer(const StatusWorldOptions& options);
// 100 pods are rejected, for changing reasons, before, during and after an outage of a minute. The
// queue's counts are taken each second; they must equal those of a run without the outage.
StatusOutcome RunOutage(const StatusWorldOptions& options, bool has_outage,
                        std::vector<QueueCounts>* counts);

}  // namespace schedq
