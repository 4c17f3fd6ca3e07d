// Does a pod tolerate a taint? Shared by the plugins that look at taints.
#pragma once

#include <vector>

#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {

bool Tolerates(const Toleration& toleration, const Taint& taint);
bool ToleratesTaint(const std::vector<Toleration>& tolerations, const Taint& taint);
// Whether the pod tolerates every taint of the node that keeps pods away. One that only discourages
// (PreferNoSchedule) keeps none away.
bool ToleratesNode(const Pod& pod, const ObjectView& node);

}  // namespace schedq
