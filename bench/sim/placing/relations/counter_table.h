// The counters of a book, each once, with the domains and sets of nodes that they share.
//
// Threads: one at a time; the book's lock guards it.
// Memory: a record a node slot, domain and counter. Counters stay until Clear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/relations/node_sets.h"
#include "bench/sim/placing/relations/pod_counter.h"

namespace schedq {

class CounterTable {
 public:
  struct Found {
    PodCounter* counter = nullptr;
    bool is_new = false;  // It counts its nodes, and no pods yet.
  };
  // Which nodes count. An empty key: all do.
  struct Nodes {
    std::string key;
    std::function<bool(const ClusterNode&)> has;
  };

  // `key` is the same for equal kinds only.
  Found Get(const std::string& key, const std::string& topology_key, const Nodes& nodes,
            PodCounter::Kind kind);

  // Between the two calls that take the node's pods out of the counters and put them in again.
  // Null: the slot has no node.
  void SetNode(uint32_t slot, const ClusterNodeRef& node);
  const ClusterNode* NodeAt(uint32_t slot) const {
    return slot < nodes_.size() ? nodes_[slot].get() : nullptr;
  }
  size_t slots() const { return nodes_.size(); }

  template <typename Visit>
  void ForEachCounter(Visit visit) const {
    for (const auto& [key, counter] : counters_) visit(counter.get());
  }
  size_t size() const { return counters_.size(); }
  // Ends all counters. Whoever has one asks for it anew.
  void Clear();

 private:
  const Domains* DomainsOf(const std::string& key);
  const NodeSet* SetOf(const Nodes& nodes);

  std::vector<ClusterNodeRef> nodes_;  // By slot.
  std::unordered_map<std::string, std::unique_ptr<Domains>> domains_;
  std::unordered_map<std::string, std::unique_ptr<NodeSet>> sets_;
  std::unordered_map<std::string, std::unique_ptr<PodCounter>> counters_;
};

}  // namespace schedq
