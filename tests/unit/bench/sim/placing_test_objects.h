// Nodes and pods for tests of placing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"

namespace schedq {

inline std::shared_ptr<ClusterNode> NodeOf(uint64_t number, int64_t cpu, int64_t pods = 10) {
  auto node = std::make_shared<ClusterNode>();
  node->number = number;
  node->name = "n" + std::to_string(number);
  node->allocatable = {{"cpu", cpu}, {"memory", 1000}, {"pods", pods}};
  return node;
}

inline std::shared_ptr<ClusterPod> PodOf(uint64_t number, int64_t cpu) {
  static const ApiObjectRef object = PodObjectNamed("p");
  auto pod = std::make_shared<ClusterPod>();
  pod->object = object;
  pod->number = number;
  pod->requests = {{"cpu", cpu}};
  return pod;
}

}  // namespace schedq
