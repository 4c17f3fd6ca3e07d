// A list of pods, of which two versions of a state share most: the members of a group.
//
// Purpose: a pod that joins a list of n others costs a path of nodes and one block, not a copy of n
// numbers. The last pod takes the place of one that goes, so the list keeps no order. A pod is
// found by its position, which the pod's own record knows (MemberState::position).
// Threads and owners: as persistent_array.h.
// Memory: a block of 64 pods, and the nodes above the blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include "engine/base/result.h"
#include "engine/lockfree/groups/persistent_array.h"
#include "engine/pod_key.h"

namespace schedq {

class MemberList {
 public:
  // By position.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = PodId;
    using difference_type = std::ptrdiff_t;
    using pointer = const PodId*;
    using reference = PodId;

    Iterator() = default;
    Iterator(const MemberList* list, uint32_t position) : list_(list), position_(position) {}
    PodId operator*() const { return (*list_)[position_]; }
    Iterator& operator++() {
      ++position_;
      return *this;
    }
    Iterator operator++(int) { return {list_, position_++}; }
    bool operator==(const Iterator& other) const = default;

   private:
    const MemberList* list_ = nullptr;
    uint32_t position_ = 0;
  };

  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  PodId operator[](uint32_t position) const {
    return blocks_.Get(position / kBlockPods)->pods[position % kBlockPods];
  }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }

  // At the last position.
  void Add(PodId pod, uint64_t owner) {
    Put(size_, pod, owner);
    ++size_;
  }
  // The last pod takes the place of the one that goes.
  void RemoveAt(uint32_t position, uint64_t owner) {
    SCHEDQ_CHECK(position < size_, "a pod that goes stands in the list");
    const uint32_t last = size_ - 1;
    if (position != last) Put(position, (*this)[last], owner);
    size_ = last;
    if (last % kBlockPods == 0) blocks_.Set(last / kBlockPods, nullptr, owner);
  }

 private:
  static constexpr uint32_t kBlockPods = 64;

  struct Block {
    uint64_t owner = 0;
    std::array<PodId, kBlockPods> pods = {};
  };

  void Put(uint32_t position, PodId pod, uint64_t owner) {
    const uint32_t number = position / kBlockPods;
    const Block* const known = blocks_.Get(number);
    const bool is_own = known != nullptr && known->owner == owner;
    // What this owner has made, no other thread has seen.
    Block* block = const_cast<Block*>(known);
    if (!is_own) {
      auto own = known == nullptr ? std::make_shared<Block>() : std::make_shared<Block>(*known);
      own->owner = owner;
      block = own.get();
      blocks_.Set(number, std::move(own), owner);
    }
    block->pods[position % kBlockPods] = pod;
  }

  PersistentArray<Block> blocks_;
  uint32_t size_ = 0;
};

}  // namespace schedq
