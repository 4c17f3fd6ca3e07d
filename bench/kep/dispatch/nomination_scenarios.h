// The user stories of KEP-5278, measured: bindings that take long, with and without nominations.
//
// Purpose: what others do while a scheduler binds slowly: an autoscaler, the scheduler's successor,
// pods of other priorities, whoever needs devices. They look at the server only.
// Threads: the caller's; each scenario builds a world of its own. Equal seeds give equal outcomes.
#pragma once

#include <cstdint>

#include "dispatcher/report/nomination_reporter.h"
#include "engine/base/time/time.h"
#include "schedq/engine_kind.h"

namespace schedq {

struct NominationOptions {
  EngineKind engine = EngineKind::kLockfree;
  uint64_t seed = 1;
  bool nominates = true;  // Gate NominatedNodeNameForExpectation.
  uint64_t pods = 100;
  uint64_t nodes = 200;
  // Volumes take half as long to half as long again, drawn for each pod.
  Duration provisioning = std::chrono::seconds(60);
  Duration latency = std::chrono::milliseconds(10);
  double error_rate = 0;  // Of the server.
};

// What every scenario ends with.
struct BindingOutcome {
  uint64_t bound = 0;
  uint64_t moved = 0;         // Pods whose volume was begun on one node and then on another.
  double lost_seconds = 0;    // Work on volumes that was in vain.
  double finished_after = 0;  // Seconds until the last pod was bound.
  double calls_per_pod = 0;   // Calls that the server executed, over pods.
  NominationCounts nominations;

  bool operator==(const BindingOutcome&) const = default;
};

// 100 pods come over a minute. An autoscaler looks every 10 s, adds a node for each pod that fits
// nowhere, and removes nodes that nobody needed for 30 s, unless it added one in the last two
// minutes. Needed: somebody is bound there or, if it looks at nominations, nominated.
struct AutoscalerOutcome {
  BindingOutcome bindings;
  uint64_t removed = 0;
  uint64_t wrong = 0;  // Of the removed ones, those on which the scheduler had placed a pod.
};
AutoscalerOutcome RunAutoscaler(const NominationOptions& options, bool looks_at_nominations);

// The scheduler goes after 60 s and its successor comes 5 s later.
BindingOutcome RunRestart(const NominationOptions& options);

// The same, and while nobody schedules, half as many pods come, which are `priority` above the
// first ones; there is room for all but a quarter of them.
struct ContentionOutcome {
  BindingOutcome bindings;
  uint64_t newcomers_bound = 0;  // By the end of the first pods' bindings.
};
ContentionOutcome RunContention(const NominationOptions& options, int32_t priority);

// Every pod has a claim too, whose allocation goes out with the nomination or, as by plugins that
// work one after the other, after the volume.
struct ClaimOutcome {
  BindingOutcome bindings;
  // Pod-seconds in which nobody but the scheduler knew that the devices were taken.
  double unreserved_seconds = 0;
  uint64_t bound_unreserved = 0;  // Pods that were bound where their claim was not allocated.
};
ClaimOutcome RunClaims(const NominationOptions& options, bool claims_go_first);

// Nothing else happens. With no provisioning PreBind has nothing to do for any pod.
BindingOutcome RunBindings(const NominationOptions& options);

}  // namespace schedq
