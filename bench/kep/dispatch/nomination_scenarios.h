// The user stories of KEP-5278, measured: slow bindings, with and without nominations.
//
// Purpose: the behaviour of others while a scheduler binds slowly: an autoscaler, the scheduler's
// successor, pods of other priorities, users of devices. They read only the server.
// Threads: the caller's; each scenario builds a world of its own. Equal seeds give equal outcomes.
#pragma once

#include <chrono>
#include <cstdint>

#include "dispatcher/report/nomination_reporter.h"
#include "engine/base/time/time.h"
#include "schedq/engine_kind.h"

namespace schedq {

struct NominationOptions {
  EngineKind engine = EngineKind::kLockfree;
  uint64_t seed = 1;
  bool nominates = true;  // The gate NominatedNodeNameForExpectation.
  uint64_t pods = 100;
  uint64_t nodes = 200;
  // The mean time that a volume takes. Each pod's own is drawn from half to one and a half of it.
  Duration provisioning = std::chrono::seconds(60);
  Duration latency = std::chrono::milliseconds(10);
  double error_rate = 0;  // The server's.
};

// The outcome of every scenario.
struct BindingOutcome {
  uint64_t bound = 0;
  uint64_t moved = 0;         // Pods whose volume was begun on one node and then on another.
  double lost_seconds = 0;    // Lost work on volumes.
  double finished_after = 0;  // Seconds until the last pod was bound.
  double calls_per_pod = 0;   // Calls that the server executed, divided by the pods.
  NominationCounts nominations;

  bool operator==(const BindingOutcome&) const = default;
};

// 100 pods come over a minute. An autoscaler acts every 10 s. It adds a node for each pod that fits
// nowhere. It removes nodes that were unneeded for 30 s, unless it added one in the last two
// minutes. A node is needed if a pod is bound there or, if the autoscaler reads nominations,
// nominated.
struct AutoscalerOutcome {
  BindingOutcome bindings;
  uint64_t removed = 0;
  uint64_t wrong = 0;  // The removed nodes on which the scheduler had placed a pod.
};
AutoscalerOutcome RunAutoscaler(const NominationOptions& options, bool looks_at_nominations);

// The scheduler stops after 60 s, and its successor starts 5 s later.
BindingOutcome RunRestart(const NominationOptions& options);

// The same restart. While no scheduler runs, half as many pods come, whose priority is `priority`
// above that of the first ones. There is room for all but a quarter of them.
struct ContentionOutcome {
  BindingOutcome bindings;
  uint64_t newcomers_bound = 0;  // At the end of the first pods' bindings.
};
ContentionOutcome RunContention(const NominationOptions& options, int32_t priority);

// Every pod also has a claim. Its allocation is sent with the nomination or, as by plugins that
// work one after the other, after the volume.
struct ClaimOutcome {
  BindingOutcome bindings;
  // Pod-seconds in which only the scheduler knew that the devices were taken.
  double unreserved_seconds = 0;
  uint64_t bound_unreserved = 0;  // Pods that were bound while their claim was not allocated.
};
ClaimOutcome RunClaims(const NominationOptions& options, bool claims_go_first);

// Only binds pods. Without provisioning, PreBind has nothing to do for any pod.
BindingOutcome RunBindings(const NominationOptions& options);

}  // namespace schedq
