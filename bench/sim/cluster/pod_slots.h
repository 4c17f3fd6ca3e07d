// Small numbers for pods: no other pod has the same one at the same time.
//
// Purpose: what a scheduler keeps for each pod lies in arrays by such a number. Their size follows
// the pods that there are at one time, and not those that ever were, so that a churn can go on for
// ever.
// Threads: Take by one thread; a slot may end on any thread.
// Invariant: a number is given out again only when no version of its last pod is held any more.
// Memory: eight bytes for each pod that there was at one time.
#pragma once

#include <tbb/concurrent_queue.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace schedq {

class PodSlots;

// Held by every version of a pod.
class PodSlot {
 public:
  PodSlot(std::shared_ptr<PodSlots> slots, uint64_t number)
      : slots_(std::move(slots)), number_(number) {}
  ~PodSlot();
  PodSlot(const PodSlot&) = delete;
  PodSlot& operator=(const PodSlot&) = delete;

  uint64_t number() const { return number_; }

 private:
  const std::shared_ptr<PodSlots> slots_;
  const uint64_t number_;
};
using PodSlotRef = std::shared_ptr<const PodSlot>;

class PodSlots : public std::enable_shared_from_this<PodSlots> {
 public:
  PodSlotRef Take() {
    uint64_t number = 0;
    if (!free_.try_pop(number)) number = ++last_;
    return std::make_shared<const PodSlot>(shared_from_this(), number);
  }

 private:
  friend class PodSlot;

  tbb::concurrent_queue<uint64_t> free_;
  uint64_t last_ = 0;  // The taking thread's.
};

inline PodSlot::~PodSlot() { slots_->free_.push(number_); }

}  // namespace schedq
