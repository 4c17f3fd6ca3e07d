// Whether the victims of a preemption were chosen by the rule, looked at once more and by itself.
//
// Purpose: the audit of a run. Each victim must have a lower priority than the pod, the node must
// take the pod once all of them have gone, and must not where one of them, or one group that goes
// as one, stayed. A victim whose end violates a budget must be needed even where all that violate
// none go.
// When not to use it: where other threads change the cluster meanwhile.
// Threads: one.
// Cost: two answers of all filters a victim.
#pragma once

#include <string>

#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/scheduler_cache.h"

namespace schedq {

// Empty: they were.
std::string FaultOfVictims(const FailedSearch& search, const PostFilterResult& result,
                           const SchedulerCache& cache);

}  // namespace schedq
