// Pods by their numbers, in the order of their numbers.
//
// Purpose: numbers are given in order and never again, so that a pod's place follows from its
// number: finding one reads two words, whatever the number of pods.
// When not to use it: for numbers that leave large gaps behind which some stay.
// Threads: one.
// Invariant: a page that is there has a pod.
// Memory: 8 KB for each 512 numbers of which a pod is there, and a word for those of none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {

class PodTable {
  static constexpr size_t kPageSize = 512;

 public:
  class Iterator {
   public:
    Iterator(const PodTable* table, uint64_t number) : table_(*table), number_(number) {}

    std::pair<uint64_t, const ClusterPodRef&> operator*() const {
      return {number_, *table_.PlaceOf(number_)};
    }
    Iterator& operator++() {
      number_ = table_.NextFrom(number_ + 1);
      return *this;
    }
    bool operator!=(const Iterator& other) const { return number_ != other.number_; }

   private:
    const PodTable& table_;
    uint64_t number_;
  };

  Iterator begin() const { return {this, NextFrom(0)}; }
  Iterator end() const { return {this, End()}; }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // The highest number of a pod; 0: there is none.
  uint64_t last() const;

  // Null: there is none.
  const ClusterPodRef* Find(uint64_t number) const {
    const ClusterPodRef* const place = PlaceOf(number);
    return place != nullptr && *place != nullptr ? place : nullptr;
  }
  void Set(uint64_t number, ClusterPodRef pod);
  void Erase(uint64_t number);

 private:
  struct Page {
    std::array<ClusterPodRef, kPageSize> pods;
    size_t count = 0;
  };

  uint64_t End() const { return pages_.size() * kPageSize; }
  const ClusterPodRef* PlaceOf(uint64_t number) const {
    const size_t page = number / kPageSize;
    if (page >= pages_.size() || pages_[page] == nullptr) return nullptr;
    return &pages_[page]->pods[number % kPageSize];
  }
  // The first pod's number from there on; End(): there is none.
  uint64_t NextFrom(uint64_t number) const;

  std::vector<std::unique_ptr<Page>> pages_;  // Null: no pod of its numbers is there.
  size_t size_ = 0;
};

}  // namespace schedq
