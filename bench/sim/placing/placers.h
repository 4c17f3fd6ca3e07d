// The placers of one scheduling thread, one for each profile.
//
// Purpose: a pod is placed as the profile of the scheduler says that it asks for.
// Threads: one.
// Memory: that of a placer (placer.h), for each profile.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/placer.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/placing/shared_search.h"
#include "engine/base/random.h"

namespace schedq {

class Placers {
 public:
  // `cache` outlives it. The first profile draws from `random` itself, so that a run with one
  // profile is as if there were no others.
  explicit Placers(const SchedulerCache* cache, const Random& random = Random(0)) : cache_(*cache) {
    for (size_t i = 0; i < cache->frameworks().size(); ++i) {
      placers_.push_back(std::make_unique<Placer>(cache, *cache->frameworks()[i],
                                                  i == 0 ? random : random.Fork(i)));
    }
  }

  Decision Decide(const ClusterPod& pod, const PlacingTime& time) {
    return placers_[cache_.ProfileOf(pod).value_or(0)]->Decide(pod, {.time = time});
  }

  // As Placer's.
  void AuditVictims(std::vector<std::string>* faults) {
    for (const auto& placer : placers_) placer->AuditVictims(faults);
  }

  // Of the first profile, for groups of pods.
  Placer* first() { return placers_.front().get(); }

 private:
  const SchedulerCache& cache_;
  std::vector<std::unique_ptr<Placer>> placers_;
};

}  // namespace schedq
