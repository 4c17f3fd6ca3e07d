// Pods of a kind, counted by the domain of their nodes.
//
// Purpose: whether a node has such a pod for a neighbour, and where there are the fewest of them,
// are one lookup each, however many pods there are.
// Threads: one at a time; the book's lock guards it.
// Invariants:
//  1. The count of a domain is that of the kind's pods on its nodes that count.
//  2. A domain is live while it has a node that counts; Least is the smallest count of a live one.
// Cost: Add and CountNode are constant; Least is constant but after a change of the smallest count,
// when it looks at all domains once. The smallest count rises no faster than pods come.
// Memory: 16 bytes a domain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/placing/relations/node_sets.h"
#include "bench/sim/placing/relations/pod_class.h"

namespace schedq {

class PodCounter {
 public:
  // How often a pod of the class counts.
  using Kind = std::function<int64_t(const PodClass&)>;

  // `domains` outlives it, and `nodes`, which says which nodes count; null: all do.
  PodCounter(Kind kind, const Domains* domains, const NodeSet* nodes)
      : kind_(std::move(kind)), domains_(*domains), nodes_(nodes) {}

  int64_t TimesOf(const PodClass& pods) const { return kind_(pods); }

  // That many pods of the kind come to the node, or go.
  void Add(uint32_t slot, int64_t pods);
  // A node that counts comes (1), or goes (-1). Only the counters of rules are told.
  void CountNode(uint32_t slot, int32_t sign);

  int64_t total() const { return total_; }  // On nodes that are in a domain.
  int32_t DomainOf(uint32_t slot) const { return domains_.Of(slot); }
  // Of the node's domain; 0 where it is in none.
  int64_t Near(uint32_t slot) const {
    const int32_t domain = domains_.Of(slot);
    return domain == Domains::kNone || static_cast<size_t>(domain) >= pods_.size()
               ? 0
               : pods_[static_cast<size_t>(domain)];
  }
  size_t live_domains() const { return live_; }
  int64_t Least() const;

 private:
  bool Counts(uint32_t slot) const {
    return domains_.Of(slot) != Domains::kNone && (nodes_ == nullptr || nodes_->Has(slot));
  }
  size_t Place(uint32_t slot);

  const Kind kind_;
  const Domains& domains_;
  const NodeSet* const nodes_;
  std::vector<int64_t> pods_;      // By domain.
  std::vector<int32_t> nodes_in_;  // By domain: nodes that count.
  int64_t total_ = 0;
  size_t live_ = 0;
  // The smallest count of a live domain, and how many have it; 0 of them: not known.
  mutable int64_t least_ = 0;
  mutable size_t at_least_ = 0;
};

}  // namespace schedq
