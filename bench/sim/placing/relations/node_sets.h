// Nodes by the values of one of their labels, and nodes that a rule counts: by slot of the ledger.
//
// Threads: one at a time; the book's lock guards them.
// Memory: four bytes a slot for each label, a bit a slot for each rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

// The nodes that have the same value of a label are a domain. Domains are numbered from 0.
class Domains {
 public:
  static constexpr int32_t kNone = -1;  // The node does not have the label, or does not exist.

  explicit Domains(std::string key) : key_(std::move(key)) {}

  const std::string& key() const { return key_; }
  size_t size() const { return ids_.size(); }
  int32_t Of(uint32_t slot) const { return slot < of_.size() ? of_[slot] : kNone; }
  // Null: the slot has no node.
  void SetNode(uint32_t slot, const ClusterNode* node);

 private:
  const std::string key_;
  std::unordered_map<std::string, int32_t> ids_;  // A value keeps its number.
  std::vector<int32_t> of_;                       // By slot.
};

class NodeSet {
 public:
  explicit NodeSet(std::function<bool(const ClusterNode&)> has) : wanted_(std::move(has)) {}

  bool Has(uint32_t slot) const { return slot < has_.size() && has_[slot]; }
  void SetNode(uint32_t slot, const ClusterNode* node);

 private:
  const std::function<bool(const ClusterNode&)> wanted_;
  std::vector<bool> has_;  // By slot.
};

}  // namespace schedq
