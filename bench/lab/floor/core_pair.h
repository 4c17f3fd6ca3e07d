// Runs two threads on two cores at the same time, for costs between cores.
#pragma once

#include <functional>
#include <string>

namespace schedq {

// The reason why the process has no pair of cores; empty if it has one.
std::string CorePairObstacle();

// Runs both functions at the same time, each pinned to a core of its own, and returns the seconds
// from the first start to the last end.
double RunOnCorePair(const std::function<void()>& first, const std::function<void()>& second);

}  // namespace schedq
