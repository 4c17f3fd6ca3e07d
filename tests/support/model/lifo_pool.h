// A pool that reuses nodes as soon as possible: the node freed last is allocated next.
//
// Purpose: provokes ABA in structures that keep their nodes in type-stable memory. A late reader
// finds a node that is live again instead of freed memory.
// When not to use it: for code with new and delete, which has Options::heap_policy = kRecycleLifo.
// Allowed threads: those of the run. Allocation and freeing are no steps of the model. The thread
// that frees a node is ordered before the thread that allocates it next.
// Memory bound: `capacity` nodes; the run fails when all are in use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/model/atomic.h"  // IWYU pragma: keep
#include "tests/support/model/clock.h"

namespace schedq::model {

template <typename Node>
class LifoPool {
 public:
  explicit LifoPool(uint32_t capacity)
      : nodes_(std::make_unique<Node[]>(capacity)), freed_by_(capacity), live_(capacity, false) {
    for (uint32_t i = capacity; i-- > 0;) free_.push_back(i);
  }

  Node& operator[](uint32_t index) { return nodes_[index]; }

  uint32_t Allocate() {
    if (free_.empty()) Runtime::Current()->Fail(FailureKind::kLeak, "the pool is used up");
    const uint32_t index = free_.back();
    free_.pop_back();
    live_[index] = true;
    Runtime::Current()->Learn(freed_by_[index]);
    return index;
  }

  void Free(uint32_t index) {
    if (!live_[index]) {
      Runtime::Current()->Fail(FailureKind::kBadFree,
                               "node " + std::to_string(index) + " was freed twice");
    }
    live_[index] = false;
    freed_by_[index] = Runtime::Current()->Knowledge();
    free_.push_back(index);
  }

 private:
  std::unique_ptr<Node[]> nodes_;
  std::vector<View> freed_by_;
  std::vector<bool> live_;
  std::vector<uint32_t> free_;
};

}  // namespace schedq::model
