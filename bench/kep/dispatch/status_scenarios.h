// The scenarios of KEP-5501, each for any of its models.
// Threads: the caller's; each scenario builds a world of its own. Equal seeds give equal outcomes.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bench/kep/dispatch/status_world.h"

namespace schedq {

struct StatusScenario {
  std::string_view name;
  std::string_view about;
  uint64_t pods = 0;
  StatusOutcome (*run)(const StatusWorldOptions& options);
};

// All of them, in the order of tables.
std::span<const StatusScenario> StatusScenarios();

// Claims of 1,000 pods become visible 0.1 s to `longest` after the pods. The client is not limited,
// so that what is sent is the model's doing alone.
StatusOutcome RunTransient(StatusWorldOptions options, Duration longest);
// The reason of one pod changes every second for a minute.
StatusOutcome RunFlapping(const StatusWorldOptions& options);
// 1,000 pods that the server marked SchedulingGated, rejected with the server's own text.
StatusOutcome RunGatedByServer(const StatusWorldOptions& options);
// 100 pods are rejected, by changing reasons, before, during and after an outage of a minute; the
// queue's counts, taken each second, must be those that an undisturbed run has.
StatusOutcome RunOutage(const StatusWorldOptions& options, bool has_outage,
                        std::vector<QueueCounts>* counts);

}  // namespace schedq
