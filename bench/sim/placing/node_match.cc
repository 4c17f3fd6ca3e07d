#include "bench/sim/placing/node_match.h"

#include <algorithm>

#include "hints/plugins/tolerations.h"

namespace schedq {

bool ToleratesCordon(const Pod& pod) {
  static const Taint kCordoned{"node.kubernetes.io/unschedulable", "", "NoSchedule"};
  return ToleratesTaint(pod.tolerations, kCordoned);
}

int64_t DiscouragingTaints(const Pod& pod, const ObjectView& node) {
  return std::count_if(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return taint.effect == "PreferNoSchedule" && !ToleratesTaint(pod.tolerations, taint);
  });
}

}  // namespace schedq
