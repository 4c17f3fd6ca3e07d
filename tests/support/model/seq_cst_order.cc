#include "tests/support/model/seq_cst_order.h"

#include <algorithm>

#include "tests/support/model/heap.h"

namespace schedq::model {

void SeqCstOrder::Begin() {
  for (auto& operations : operations_) operations.clear();
  known_.fill(Clock{});
  moments_ = Clock{};
  has_fences_ = false;
}

Clock SeqCstOrder::BeforeNext(uint32_t thread, const Clock& ordered) {
  Clock& known = known_[thread];
  for (uint32_t other = 0; other < kFibersMax; ++other) {
    const std::vector<Operation>& operations = operations_[other];
    uint32_t& count = known.at[other];
    if (other == thread) count = static_cast<uint32_t>(operations.size());
    while (count < operations.size() && operations[count].epoch < ordered.at[other]) ++count;
  }
  Clock before;
  Extend(before, known);
  return before;
}

uint32_t SeqCstOrder::Add(uint32_t thread, uint32_t epoch, Clock before) {
  const Untracked untracked;
  std::vector<Operation>& operations = operations_[thread];
  const auto number = static_cast<uint32_t>(operations.size()) + 1;
  before.at[thread] = number;
  operations.push_back({epoch, false, before, Clock{}});
  return number;
}

uint32_t SeqCstOrder::AddFence(uint32_t thread, uint32_t epoch, const Clock& before,
                               const Clock& ordered) {
  const uint32_t number = Add(thread, epoch, before);
  operations_[thread].back().is_fence = true;
  operations_[thread].back().ordered = ordered;
  has_fences_ = true;
  return number;
}

void SeqCstOrder::AddMoment(uint32_t thread, uint32_t epoch, Clock before) {
  Extend(before, moments_);
  Add(thread, epoch, before);
  moments_ = operations_[thread].back().before;
}

Clock SeqCstOrder::FencesBefore(const Clock& ordered) const {
  Clock fences;
  for (uint32_t thread = 0; thread < kFibersMax; ++thread) {
    const std::vector<Operation>& operations = operations_[thread];
    for (auto number = static_cast<uint32_t>(operations.size()); number > 0; --number) {
      const Operation& operation = operations[number - 1];
      if (!operation.is_fence || operation.epoch > ordered.at[thread]) continue;
      fences.at[thread] = number;
      break;
    }
  }
  return fences;
}

void SeqCstOrder::LowerToFencesBehind(const Clock& first_seen, Clock& targets) const {
  for (uint32_t thread = 0; thread < kFibersMax; ++thread) {
    const std::vector<Operation>& operations = operations_[thread];
    for (uint32_t number = 1; number <= operations.size(); ++number) {
      const Operation& operation = operations[number - 1];
      if (!operation.is_fence || !first_seen.ReachedBy(operation.ordered)) continue;
      targets.at[thread] = std::min(targets.at[thread], number);
      break;
    }
  }
}

void SeqCstOrder::Precede(const Clock& sources, const Clock& targets) {
  Clock before;
  Extend(before, sources);
  for (auto& operations : operations_) {
    for (Operation& operation : operations) {
      if (Contradicts(operation.before, targets)) operation.before.Join(before);
    }
  }
}

}  // namespace schedq::model
