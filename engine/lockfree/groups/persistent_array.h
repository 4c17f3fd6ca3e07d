// An immutable array of shared values by number, most of which two versions share.
//
// Purpose: a version that differs in one value costs a path of nodes, not a copy of the array. A
// thread that makes a version names it by an owner's number that no earlier version has; nodes that
// this owner has made are changed in place, so many changes at once copy each node once.
// When not to use it: for numbers that lie far apart; the array is as deep as the largest of them.
// Threads: a version that others can see is never changed; its maker alone changes it before.
// Memory: a node of 264 bytes for 16 neighbouring numbers of which one has, or had, a value, and
// those above it. Numbers are used again, so their nodes are too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace schedq {

template <typename T>
class PersistentArray {
 public:
  // Null: none.
  const T* Get(uint32_t index) const {
    if (root_ == nullptr || Beyond(index, height_)) return nullptr;
    const void* node = root_.get();
    for (uint32_t level = height_; level > 0; --level) {
      node = static_cast<const Node*>(node)->slots[Digit(index, level - 1)].get();
      if (node == nullptr) return nullptr;
    }
    return static_cast<const T*>(node);
  }

  // Null takes the value out.
  void Set(uint32_t index, std::shared_ptr<const T> value, uint64_t owner) {
    while (root_ == nullptr || Beyond(index, height_)) Grow(owner);
    std::shared_ptr<const void>* slot = &root_;
    for (uint32_t level = height_; level > 0; --level) {
      slot = &Own(slot, owner)->slots[Digit(index, level - 1)];
    }
    *slot = std::move(value);
  }

  // Calls `visit(uint32_t, const T&)` for each value, by ascending numbers.
  template <typename Visit>
  void ForEach(Visit visit) const {
    if (root_ != nullptr) ForEachBelow(root_.get(), height_, 0, visit);
  }

 private:
  static constexpr uint32_t kBits = 4;

  struct Node {
    uint64_t owner = 0;
    std::array<std::shared_ptr<const void>, size_t{1} << kBits> slots;
  };

  static bool Beyond(uint32_t index, uint32_t height) {
    return uint64_t{index} >> (kBits * height) != 0;
  }
  static uint32_t Digit(uint32_t index, uint32_t level) {
    return index >> (kBits * level) & ((1u << kBits) - 1);
  }

  static Node* Own(std::shared_ptr<const void>* slot, uint64_t owner) {
    const Node* const node = static_cast<const Node*>(slot->get());
    // What this owner has made, no other thread has seen.
    if (node != nullptr && node->owner == owner) return const_cast<Node*>(node);
    auto own = node == nullptr ? std::make_shared<Node>() : std::make_shared<Node>(*node);
    own->owner = owner;
    Node* const raw = own.get();
    *slot = std::move(own);
    return raw;
  }

  void Grow(uint64_t owner) {
    auto top = std::make_shared<Node>();
    top->owner = owner;
    top->slots[0] = std::move(root_);
    root_ = std::move(top);
    ++height_;
  }

  template <typename Visit>
  static void ForEachBelow(const void* node, uint32_t height, uint32_t index, Visit& visit) {
    if (height == 0) {
      visit(index, *static_cast<const T*>(node));
      return;
    }
    for (uint32_t digit = 0; digit < (1u << kBits); ++digit) {
      const void* const below = static_cast<const Node*>(node)->slots[digit].get();
      if (below != nullptr) ForEachBelow(below, height - 1, index << kBits | digit, visit);
    }
  }

  // A node, or null before the first value.
  std::shared_ptr<const void> root_;
  uint32_t height_ = 0;  // Levels of nodes.
};

}  // namespace schedq
