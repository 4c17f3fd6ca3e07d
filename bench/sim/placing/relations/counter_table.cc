#include "bench/sim/placing/relations/counter_table.h"

#include "bench/sim/placing/relations/pod_class.h"

namespace schedq {

CounterTable::Found CounterTable::Get(const std::string& key, const std::string& topology_key,
                                      const Nodes& nodes, PodCounter::Kind kind) {
  std::string whole = key;
  AppendKey(topology_key, &whole);
  AppendKey(nodes.key, &whole);
  const auto [place, is_new] = counters_.try_emplace(std::move(whole));
  if (is_new) {
    place->second =
        std::make_unique<PodCounter>(std::move(kind), DomainsOf(topology_key), SetOf(nodes));
    for (uint32_t slot = 0; slot < nodes_.size(); ++slot) place->second->CountNode(slot, 1);
  }
  return {place->second.get(), is_new};
}

const Domains* CounterTable::DomainsOf(const std::string& key) {
  const auto [place, is_new] = domains_.try_emplace(key);
  if (is_new) {
    place->second = std::make_unique<Domains>(key);
    for (uint32_t slot = 0; slot < nodes_.size(); ++slot) {
      place->second->SetNode(slot, nodes_[slot].get());
    }
  }
  return place->second.get();
}

const NodeSet* CounterTable::SetOf(const Nodes& nodes) {
  if (nodes.key.empty()) return nullptr;
  const auto [place, is_new] = sets_.try_emplace(nodes.key);
  if (is_new) {
    place->second = std::make_unique<NodeSet>(nodes.has);
    for (uint32_t slot = 0; slot < nodes_.size(); ++slot) {
      place->second->SetNode(slot, nodes_[slot].get());
    }
  }
  return place->second.get();
}

void CounterTable::SetNode(uint32_t slot, const ClusterNodeRef& node) {
  if (slot >= nodes_.size()) nodes_.resize(slot + 1);
  for (const auto& [key, counter] : counters_) counter->CountNode(slot, -1);
  nodes_[slot] = node;
  for (const auto& [key, domains] : domains_) domains->SetNode(slot, node.get());
  for (const auto& [key, set] : sets_) set->SetNode(slot, node.get());
  for (const auto& [key, counter] : counters_) counter->CountNode(slot, 1);
}

void CounterTable::Clear() {
  counters_.clear();
  sets_.clear();
  domains_.clear();
}

}  // namespace schedq
