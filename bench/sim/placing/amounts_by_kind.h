// An amount for each kind of resource, 0 where there is none.
//
// Cost: a lookup of a rare kind takes a step for each rare kind that has an amount.
// Threads: one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "bench/sim/placing/resource_table.h"

namespace schedq {

class AmountsByKind {
  template <typename Parts>
  static auto Find(Parts& parts, ResourceKind kind) {
    return std::find_if(parts.begin(), parts.end(),
                        [kind](const NodeDemand::Part& each) { return each.kind == kind; });
  }

 public:
  void Add(ResourceKind kind, int64_t amount) {
    if (HasColumn(kind)) {
      columns_[kind] += amount;
    } else {
      RareOf(kind).amount += amount;
    }
  }
  int64_t Of(ResourceKind kind) const {
    if (HasColumn(kind)) return columns_[kind];
    const auto found = Find(rare_, kind);
    return found == rare_.end() ? 0 : found->amount;
  }
  const std::vector<NodeDemand::Part>& rare() const { return rare_; }

 private:
  NodeDemand::Part& RareOf(ResourceKind kind) {
    const auto found = Find(rare_, kind);
    return found == rare_.end() ? rare_.emplace_back(NodeDemand::Part{kind, 0}) : *found;
  }

  std::array<int64_t, kColumnKinds> columns_{};
  std::vector<NodeDemand::Part> rare_;
};

}  // namespace schedq
