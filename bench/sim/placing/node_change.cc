#include "bench/sim/placing/node_change.h"

#include <algorithm>

namespace schedq {

void NodeChange::Take(const ClusterPodRef& pod, const NodeDemand& demand) {
  gone_.push_back(pod);
  demand.ForEachPart([this](const auto& part) { freed_.Add(part.kind, part.amount); });
}

void NodeChange::PutBack(const ClusterPodRef& pod, const NodeDemand& demand) {
  gone_.erase(std::find(gone_.begin(), gone_.end(), pod));
  demand.ForEachPart([this](const auto& part) { freed_.Add(part.kind, -part.amount); });
}

void NodeChange::Add(const ClusterPodRef& pod, const NodeDemand& demand) {
  added_.push_back(pod);
  demand.ForEachPart([this](const auto& part) { freed_.Add(part.kind, -part.amount); });
}

}  // namespace schedq
