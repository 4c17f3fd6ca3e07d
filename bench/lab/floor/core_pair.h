// Two threads on two cores, released together: the stage for everything that cores do to each
// other.
#pragma once

#include <functional>
#include <string>

namespace schedq {

// Why no pair of cores is at hand; empty if there is one.
std::string CorePairObstacle();

// Runs both functions at the same time, each pinned to a core of its own, and returns the seconds
// from the first start to the last end.
double RunOnCorePair(const std::function<void()>& first, const std::function<void()>& second);

}  // namespace schedq
