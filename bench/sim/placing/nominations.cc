#include "bench/sim/placing/nominations.h"

#include <memory>

namespace schedq {

std::vector<ClusterPodRef> Nominations::AheadOf(const ClusterPod& pod,
                                                const std::string& node) const {
  std::vector<ClusterPodRef> ahead;
  if (!MayBeAny() || !source_) return ahead;
  for (const PodRef& nominated : source_(node)) {
    if (nominated->uid == pod.uid || nominated->priority < pod.priority) continue;
    ahead.push_back(std::static_pointer_cast<const ClusterPod>(nominated));
  }
  return ahead;
}

}  // namespace schedq
