#include "bench/sim/placing/resource_table.h"

#include <algorithm>

#include "bench/format/objects/api_object.h"

namespace schedq {

int64_t NodeDemand::RareAmountOf(ResourceKind kind) const {
  const auto part = std::find_if(rare.begin(), rare.end(),
                                 [kind](const Part& each) { return each.kind == kind; });
  return part == rare.end() ? 0 : part->amount;
}

ResourceTable::ResourceTable() {
  // No resource has a blank in its name.
  for (const char* name : {"pods", "cpu", "memory", "assumed cpu", "assumed memory"}) {
    FindOrAdd(name);
  }
}

std::optional<ResourceKind> ResourceTable::Find(const std::string& name) const {
  const size_t columns = this->columns();
  for (size_t i = 0; i < columns; ++i) {
    if (names_[i] == name) return static_cast<ResourceKind>(i);
  }
  if (columns < kColumnKinds) return std::nullopt;
  const auto rare = rare_.find(name);
  if (rare == rare_.end()) return std::nullopt;
  return rare->second;
}

ResourceKind ResourceTable::FindOrAdd(const std::string& name) {
  if (const auto found = Find(name)) return *found;
  const std::lock_guard lock(adding_);
  if (const auto found = Find(name)) return *found;
  const size_t next = columns_.load(std::memory_order_relaxed);  // Under the lock that guards it.
  if (next == kColumnKinds) {
    const auto kind = static_cast<ResourceKind>(kColumnKinds + rare_.size());
    rare_.emplace(name, kind);
    return kind;
  }
  names_[next] = name;
  columns_.store(next + 1, std::memory_order_release);
  return static_cast<ResourceKind>(next);
}

NodeDemand ResourceTable::DemandOf(const ClusterPod& pod) {
  NodeDemand demand;
  demand.parts[demand.count++] = {kPodsResource, 1};
  for (const auto& [name, amount] : pod.requests) {
    if (amount == 0) continue;
    const ResourceKind kind = FindOrAdd(name);
    // Names do not repeat, so the parts suffice.
    if (kind == kPodsResource) {
      demand.fits_nowhere = true;
    } else if (HasColumn(kind)) {
      demand.parts[demand.count++] = {kind, amount};
    } else {
      demand.rare.push_back({kind, amount});
    }
  }
  const PodObject& spec = pod.spec();
  for (const auto& [kind, amount] : {NodeDemand::Part{kAssumedCpu, spec.assumed_cpu},
                                     NodeDemand::Part{kAssumedMemory, spec.assumed_memory}}) {
    if (amount != 0) demand.parts[demand.count++] = {kind, amount};
  }
  return demand;
}

}  // namespace schedq
