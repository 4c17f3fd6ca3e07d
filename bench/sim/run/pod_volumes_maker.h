// The volumes and claims that createPods makes for its pods: one of each a pod, which are bound to
// each other.
//
// Method: as scheduler_perf does it, by two calls for the claim and two for the volume, which
// create it and set its status, before the pod is created.
// Threads: one, the one that advances the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/workload/model.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/result.h"

namespace schedq {

class PodVolumesMaker {
 public:
  // nullopt: the operation's pods get none.
  static Result<std::optional<PodVolumesMaker>> For(const CreatePodsOp& op);

  static constexpr size_t kCalls = 4;  // Before the one that creates the pod.
  static std::vector<CallLatency> Latencies(const CostModel& costs);
  // Makes one of them.
  Status Call(Cluster* cluster, int64_t index, size_t step) const;
  // The pod, which mounts its claim and nothing else.
  ApiObjectRef WithVolume(const ApiObjectRef& pod, int64_t index) const;

 private:
  PodVolumesMaker() = default;
  ApiObjectRef ClaimOf(int64_t index) const;
  ApiObjectRef VolumeOf(int64_t index) const;
  std::string VolumeName(int64_t index) const;

  std::string namespace_name_;
  ApiObjectRef volume_;
  ApiObjectRef claim_;
};

}  // namespace schedq
