// Does a pod tolerate a taint? Shared by the plugins that look at taints.
#pragma once

#include <vector>

#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {

bool Tolerates(const Toleration& toleration, const Taint& taint);
bool ToleratesTaint(const std::vector<Toleration>& tolerations, const Taint& taint);

}  // namespace schedq
