#include "bench/sim/run/update_storm.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

void UpdateStorm::Begin(const std::shared_ptr<UpdateStorm>& storm) {
  if (storm->is_done()) return;
  Simulation& simulation = *storm->simulation_;
  auto pods = std::make_shared<std::vector<ClusterPodRef>>(
      simulation.pods().List({{storm->op_.namespace_name}, storm->op_.selector}));
  const auto count = static_cast<int64_t>(pods->size());
  // Rounds without a pod would end inside each other.
  if (count == 0) {
    storm->round_ = storm->op_.rounds;
    return;
  }
  simulation.client().DoAll(
      count, simulation.costs().creators, simulation.costs().status,
      [storm, pods](int64_t index) { storm->Update((*pods)[static_cast<size_t>(index)]->number); },
      [storm] {
        ++storm->round_;
        Begin(storm);
      });
}

// A pod that is gone meanwhile is left alone.
void UpdateStorm::Update(uint64_t pod_number) const {
  simulation_->cluster().UpdatePod(pod_number, [this](ClusterPod* pod) {
    if (op_.opens_gates) pod->scheduling_gates.clear();
    if (!op_.label_key.empty()) {
      std::map<std::string, std::string> labels(pod->labels.begin(), pod->labels.end());
      labels[op_.label_key] = std::to_string(round_);
      pod->labels.assign(labels.begin(), labels.end());
    }
    return true;
  });
}

}  // namespace schedq
