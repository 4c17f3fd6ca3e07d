// Pods and events for the benchmarks of whole engines, as anchors.json describes them.
#pragma once

#include <memory>
#include <vector>

#include "bench/queue_rig.h"
#include "engine/base/real_clock.h"

namespace schedq {

enum class ClaimUse : uint8_t { kNone, kOwnClaim };

// Priorities from {0,0,0,0,100,1000,1000000,2000000000}, seeded. With kOwnClaim, pod i names claim
// i.
std::vector<PodRef> MakePods(int64_t count, ClaimUse use);

// One update of each pod's claim, in random order.
std::vector<ObjectChange> MakeClaimUpdates(int64_t count);

// An engine with the built-in plugins on the machine's clock.
struct EngineStage {
  EngineStage(EngineKind engine, bool narrows);

  RealClock clock;
  std::unique_ptr<QueueRig> rig;
};

}  // namespace schedq
