#include "tests/support/model/seq_cst_order.h"

#include <algorithm>

#include "tests/support/model/heap.h"

namespace schedq::model {

void SeqCstOrder::Begin() {
  for (auto& operations : operations_) operations.clear();
  threads_ = 0;
  fences_.clear();
  known_.fill(Clock{});
  moments_ = Clock{};
}

Clock SeqCstOrder::BeforeNext(uint32_t thread, const Clock& ordered) {
  Clock& known = known_[thread];
  for (uint32_t other = 0; other < threads_; ++other) {
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
  std::vector<Operation>& operations = operations_[thread];
  if (operations.size() == operations.capacity()) {
    const Untracked untracked;
    operations.reserve(2 * operations.size() + 64);
  }
  const auto number = static_cast<uint32_t>(operations.size()) + 1;
  before.at[thread] = number;
  operations.push_back({epoch, before});
  threads_ = std::max(threads_, thread + 1);
  return number;
}

void SeqCstOrder::AddFence(uint32_t thread, uint32_t epoch, const Clock& before,
                           const Clock& ordered) {
  const uint32_t number = Add(thread, epoch, before);
  const Untracked untracked;
  fences_.push_back({thread, number, epoch, ordered});
}

void SeqCstOrder::AddMoment(uint32_t thread, uint32_t epoch, Clock before) {
  Extend(before, moments_);
  Add(thread, epoch, before);
  moments_ = operations_[thread].back().before;
}

Clock SeqCstOrder::FencesBefore(const Clock& ordered) const {
  Clock latest;
  for (const Fence& fence : fences_) {
    uint32_t& number = latest.at[fence.thread];
    if (fence.epoch <= ordered.at[fence.thread]) number = std::max(number, fence.number);
  }
  return latest;
}

void SeqCstOrder::LowerToFencesBehind(const Clock& first_seen, Clock& targets) const {
  for (const Fence& fence : fences_) {
    uint32_t& number = targets.at[fence.thread];
    if (first_seen.ReachedBy(fence.ordered)) number = std::min(number, fence.number);
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
