#include "bench/sim/placing/relations/pod_counter.h"

#include <algorithm>

#include "engine/base/result.h"

namespace schedq {

size_t PodCounter::Place(uint32_t slot) {
  const auto domain = static_cast<size_t>(domains_.Of(slot));
  if (domain >= pods_.size()) {
    pods_.resize(domains_.size());
    nodes_in_.resize(domains_.size());
  }
  return domain;
}

void PodCounter::Add(uint32_t slot, int64_t pods) {
  if (pods == 0 || !Counts(slot)) return;
  const size_t domain = Place(slot);
  const int64_t before = pods_[domain];
  pods_[domain] += pods;
  total_ += pods;
  SCHEDQ_CHECK(pods_[domain] >= 0 && total_ >= 0, "no more pods go than came");
  if (nodes_in_[domain] == 0 || at_least_ == 0) return;
  if (before == least_) --at_least_;
  if (pods_[domain] < least_) {
    least_ = pods_[domain];
    at_least_ = 1;
  } else if (pods_[domain] == least_) {
    ++at_least_;
  }
}

void PodCounter::CountNode(uint32_t slot, int32_t sign) {
  if (!Counts(slot)) return;
  const size_t domain = Place(slot);
  const bool was_live = nodes_in_[domain] != 0;
  nodes_in_[domain] += sign;
  SCHEDQ_CHECK(nodes_in_[domain] >= 0, "no more nodes go than came");
  const bool is_live = nodes_in_[domain] != 0;
  if (was_live == is_live) return;
  live_ += is_live ? 1 : static_cast<size_t>(-1);
  at_least_ = 0;
}

int64_t PodCounter::Least() const {
  if (at_least_ != 0 || live_ == 0) return live_ == 0 ? 0 : least_;
  least_ = INT64_MAX;
  for (size_t domain = 0; domain < pods_.size(); ++domain) {
    if (nodes_in_[domain] == 0 || pods_[domain] > least_) continue;
    at_least_ = pods_[domain] < least_ ? 1 : at_least_ + 1;
    least_ = pods_[domain];
  }
  return least_;
}

}  // namespace schedq
