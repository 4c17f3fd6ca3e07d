#include "bench/sim/placing/resource_table.h"

#include "bench/format/objects/api_object.h"

namespace schedq {

ResourceTable::ResourceTable() {
  // No resource has a blank in its name.
  for (const char* name : {"pods", "cpu", "memory", "assumed cpu", "assumed memory"}) {
    FindOrAdd(name);
  }
}

std::optional<uint8_t> ResourceTable::Find(std::string_view name) const {
  const size_t known = size();
  for (size_t i = 0; i < known; ++i) {
    if (names_[i] == name) return static_cast<uint8_t>(i);
  }
  return std::nullopt;
}

std::optional<uint8_t> ResourceTable::FindOrAdd(std::string_view name) {
  if (const auto found = Find(name)) return found;
  const std::lock_guard lock(adding_);
  if (const auto found = Find(name)) return found;
  const size_t next = size_.load(std::memory_order_relaxed);  // Under the lock that guards it.
  if (next == kResourceKindsMax) return std::nullopt;
  names_[next] = name;
  size_.store(next + 1, std::memory_order_release);
  return static_cast<uint8_t>(next);
}

NodeDemand ResourceTable::DemandOf(const ClusterPod& pod) {
  NodeDemand demand;
  demand.parts[demand.count++] = {kPodsResource, 1};
  for (const auto& [name, amount] : pod.requests) {
    if (amount == 0) continue;
    const std::optional<uint8_t> kind = FindOrAdd(name);
    // A pod may not ask for pods, and names do not repeat, so the parts suffice.
    if (!kind || *kind == kPodsResource || demand.count == kResourceKindsMax) {
      demand.fits_nowhere = true;
      continue;
    }
    demand.parts[demand.count++] = {*kind, amount};
  }
  const PodObject& spec = pod.spec();
  for (const auto& [kind, amount] : {NodeDemand::Part{kAssumedCpu, spec.assumed_cpu},
                                     NodeDemand::Part{kAssumedMemory, spec.assumed_memory}}) {
    if (amount == 0 || demand.count == kResourceKindsMax) continue;
    demand.parts[demand.count++] = {kind, amount};
  }
  return demand;
}

}  // namespace schedq
