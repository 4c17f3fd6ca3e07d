// The user stories of KEP-5278, measured: bindings that take long, with and without nominations.
//
// Purpose: a small scheduler binds pods whose volumes take `provisioning` to come; a server, a call
// queue and the nomination reporter are the product's own. Others look at the server only.
// When not to use it: for throughput; the scheduler here places pods by the simplest rule.
// Threads: the caller's. Equal seeds give equal outcomes.
#pragma once

#include <cstdint>

#include "engine/base/time.h"

namespace schedq {

struct NominationOptions {
  uint64_t seed = 1;
  bool nominates = true;
  // Claims' allocation goes out with the nomination; else after the volumes, as plugins that work
  // one after the other would have it.
  bool claims_go_first = true;
  uint64_t pods = 100;
  uint64_t nodes = 200;
  Duration provisioning = std::chrono::seconds(60);
  Duration latency = std::chrono::milliseconds(10);
};

// An autoscaler removes nodes that nobody was bound or nominated to for 30 s.
struct AutoscalerOutcome {
  uint64_t wrong_scale_downs = 0;  // Nodes removed on which the scheduler had placed a pod.
  uint64_t bound = 0;
};
AutoscalerOutcome RunAutoscaler(const NominationOptions& options);

// The scheduler restarts halfway through the provisioning and places all pods anew; a pod with a
// nominated node tries that one first.
struct RestartOutcome {
  uint64_t elsewhere = 0;   // Pods that land on another node, where all work starts again.
  double lost_seconds = 0;  // Provisioning that was done in vain.
  double finished_after_seconds = 0;  // When the last pod was bound.
};
RestartOutcome RunRestart(const NominationOptions& options);

// Every pod has a claim, and its volumes take long.
struct ClaimOutcome {
  double unreserved_claim_seconds = 0;  // Allocated in the scheduler's memory only.
  uint64_t calls = 0;
};
ClaimOutcome RunClaims(const NominationOptions& options);

// Calls of the scheduler per pod, when PreBind has nothing to do and when it has.
struct CallsPerPod {
  double idle = 0;
  double busy = 0;
};
CallsPerPod CountCallsPerPod(const NominationOptions& options);

}  // namespace schedq
