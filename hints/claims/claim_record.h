// The claim index's record of one claim: see claim_index.h.
//
// Threads: any; a pod is added and removed by one thread at a time. Lock-free: adding a pod repeats
// a step only when another thread took the place that it wanted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/base/atom.h"
#include "engine/pod_key.h"

namespace schedq {

// Places for pods beyond a record's own, in groups of a cache line. Never freed while the index
// lives, so a late reader may walk it.
template <template <typename> class Atom>
class ClaimBlock {
 public:
  static constexpr uint32_t kGroup = 16;

  explicit ClaimBlock(uint32_t groups)
      : groups_(groups), places_(std::make_unique<Atom<uint32_t>[]>(size_t{groups} * kGroup)) {}

  uint32_t groups() const { return groups_; }
  uint32_t size() const { return groups_ * kGroup; }
  Atom<uint32_t>* places() const { return places_.get(); }
  // The kGroup places in which this pod may be.
  Atom<uint32_t>* GroupOf(PodId pod) const {
    // Neighbouring numbers spread over all groups.
    return &places_[size_t{pod % groups_} * kGroup];
  }
  // Set once, by the thread whose larger block won; null: there is none.
  Atom<ClaimBlock*>& next() { return next_; }

 private:
  const uint32_t groups_;
  const std::unique_ptr<Atom<uint32_t>[]> places_;
  Atom<ClaimBlock*> next_{nullptr};
};

template <template <typename> class Atom>
class ClaimRecord {
 public:
  static constexpr uint32_t kOwnPlaces = 4;
  using Block = ClaimBlock<Atom>;

  bool Exists() const { return exists_.load() != 0; }
  // True: it was not so before.
  bool SetExists(bool exists) { return (exists_.exchange(exists ? 1 : 0) != 0) != exists; }

  // By the thread that adds and removes this pod.
  bool Lists(PodId pod) const {
    if (Holds(own_.data(), kOwnPlaces, pod)) return true;
    for (Block* block = LoadBlock(first_block_); block != nullptr;
         block = LoadBlock(block->next())) {
      if (Holds(block->GroupOf(pod), Block::kGroup, pod)) return true;
    }
    return false;
  }

  void Add(PodId pod) {
    if (TryAddTo(own_.data(), kOwnPlaces, pod)) return;
    Atom<Block*>* link = &first_block_;
    uint32_t groups = 1;
    for (;;) {
      Block* block = LoadBlock(*link);
      if (block == nullptr) block = AddBlock(*link, groups);
      if (TryAddTo(block->GroupOf(pod), Block::kGroup, pod)) return;
      groups = 2 * block->groups();
      link = &block->next();
    }
  }

  // False: it is not listed.
  bool Remove(PodId pod) {
    if (RemoveFrom(own_.data(), kOwnPlaces, pod)) return true;
    for (Block* block = LoadBlock(first_block_); block != nullptr;
         block = LoadBlock(block->next())) {
      if (RemoveFrom(block->GroupOf(pod), Block::kGroup, pod)) return true;
    }
    return false;
  }

  // The pods of the record's own places, to `pods`. Returns how many.
  uint32_t CopyOwn(std::array<PodId, kOwnPlaces>* pods) const {
    uint32_t count = 0;
    for (const Atom<uint32_t>& place : own_) {
      if (const uint32_t held = place.load(); held != 0) (*pods)[count++] = held - 1;
    }
    return count;
  }
  bool HasBlocks() const { return LoadBlock(first_block_) != nullptr; }

  template <typename Visit>
  void ForEachInBlocks(Visit visit) const {
    for (Block* block = LoadBlock(first_block_); block != nullptr;
         block = LoadBlock(block->next())) {
      for (uint32_t i = 0; i < block->size(); ++i) {
        if (const uint32_t held = block->places()[i].load(); held != 0) visit(held - 1);
      }
    }
  }

  // By the thread that destroys the index.
  void DeleteBlocks() {
    for (Block* block = LoadBlock(first_block_); block != nullptr;) {
      Block* const next = LoadBlock(block->next());
      delete block;
      block = next;
    }
  }

 private:
  // Relaxed: this pod's entry was written by an Update that came before this one.
  static bool Holds(const Atom<uint32_t>* places, uint32_t count, PodId pod) {
    bool holds = false;
    for (uint32_t i = 0; i < count; ++i) holds |= LoadRelaxed(places[i]) == pod + 1;
    return holds;
  }

  static bool TryAddTo(Atom<uint32_t>* places, uint32_t count, PodId pod) {
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t free = 0;
      if (LoadRelaxed(places[i]) == 0 && places[i].compare_exchange_strong(free, pod + 1)) {
        return true;
      }
    }
    return false;
  }

  static bool RemoveFrom(Atom<uint32_t>* places, uint32_t count, PodId pod) {
    for (uint32_t i = 0; i < count; ++i) {
      // Relaxed: this pod's entry was written by an Update that came before this one.
      if (LoadRelaxed(places[i]) == pod + 1) {
        places[i].store(0);
        return true;
      }
    }
    return false;
  }

  // Acquire pairs with the release in AddBlock: without it the places could be read before they
  // were zeroed.
  static Block* LoadBlock(const Atom<Block*>& link) { return LoadAcquire(link); }

  // The link's block: a new one, or that of another thread that came first. Release publishes the
  // block; acquire is for the thread that comes second and uses the other's block.
  static Block* AddBlock(Atom<Block*>& link, uint32_t groups) {
    auto block = std::make_unique<Block>(groups);
    Block* there = nullptr;
    if (link.compare_exchange_strong(there, block.get(), std::memory_order_release,
                                     std::memory_order_acquire)) {
      return block.release();
    }
    return there;
  }

  // Written by Insert and Erase; a stale reader answers as before them.
  Atom<uint32_t> exists_;
  // Places hold a PodId + 1; zero is free. Written by threads that add or remove pods.
  std::array<Atom<uint32_t>, kOwnPlaces> own_;
  // Set once; null: there never was a fifth pod.
  Atom<Block*> first_block_;
};

}  // namespace schedq
