// A stack that ABA corrupts unless its head carries a tag. Under the model only.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "tests/support/model/atomic.h"
#include "tests/support/model/lifo_pool.h"

namespace schedq {

// A stack of nodes that are never freed and are used again. The fault: the head carries no tag, so
// a node that was removed and came back counts as one that was never removed.
template <bool kForgetsTag>
class PooledStack {
 public:
  explicit PooledStack(uint32_t capacity) : pool_(capacity) {}

  void Push(int value) {
    const uint32_t index = pool_.Allocate();
    pool_[index].value.store(value, std::memory_order_relaxed);
    uint64_t head = head_.load();
    do {
      pool_[index].below.store(static_cast<uint32_t>(head), std::memory_order_relaxed);
    } while (!head_.compare_exchange_strong(head, Head(head, index + 1)));
  }

  std::optional<int> Pop() {
    uint64_t head = head_.load();
    for (;;) {
      const auto top = static_cast<uint32_t>(head);
      if (top == 0) return std::nullopt;
      const int value = pool_[top - 1].value.load(std::memory_order_relaxed);
      const uint32_t below = pool_[top - 1].below.load(std::memory_order_relaxed);
      if (!head_.compare_exchange_strong(head, Head(head, below))) continue;
      pool_.Free(top - 1);
      return value;
    }
  }

 private:
  struct Node {
    model::Atomic<int> value{0};
    model::Atomic<uint32_t> below{0};  // the index of the next node, plus 1
  };

  static uint64_t Head(uint64_t before, uint32_t top) {
    const uint64_t tag = kForgetsTag ? 0 : (before >> 32) + 1;
    return tag << 32 | top;
  }

  model::LifoPool<Node> pool_;
  model::Atomic<uint64_t> head_{0};
};

}  // namespace schedq
