// The Atom of virtual threads: with it a concurrent class runs on the model of coherence.
//
// Purpose: scale::Atomic has the size, the alignment and the zero of std::atomic, so that what
// shares a line in the shipped code shares it here. Each operation is an access to its line and
// then a plain one: all virtual threads are one OS thread.
// When not to use it: with real threads.
// What it does not see: memory beyond atomics and the plain cells of the seam, such as pods, and
// the shards of metrics, which each thread has for itself.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "bench/lab/scale/virtual_team.h"
#include "engine/base/atom.h"
#include "engine/base/names/name_key.h"
#include "engine/base/segmented_array.h"
#include "engine/base/time/time.h"
#include "engine/base/zeroed_memory.h"

namespace schedq::scale {

inline void TouchLine(const void* address, size_t bytes, Access access) {
  if (VirtualTeam* team = VirtualTeam::Current()) team->Touch(address, bytes, access);
}

template <typename T>
class Atomic {
 public:
  using value_type = T;
  // The names and conversions of std::atomic.
  // NOLINTNEXTLINE(readability-identifier-naming)
  static constexpr bool is_always_lock_free = std::atomic<T>::is_always_lock_free;

  Atomic() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Atomic(T value) : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  bool is_lock_free() const { return is_always_lock_free; }

  T load(std::memory_order = std::memory_order_seq_cst) const {
    TouchLine(this, sizeof(T), Access::kLoad);
    return value_;
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    const bool is_update = order == std::memory_order_seq_cst;
    TouchLine(this, sizeof(T), is_update ? Access::kUpdate : Access::kStore);
    value_ = value;
  }
  T exchange(T value, std::memory_order = std::memory_order_seq_cst) {
    TouchLine(this, sizeof(T), Access::kUpdate);
    return std::exchange(value_, value);
  }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order, std::memory_order) {
    return compare_exchange_strong(expected, desired);
  }
  bool compare_exchange_strong(T& expected, T desired,
                               std::memory_order = std::memory_order_seq_cst) {
    TouchLine(this, sizeof(T), Access::kUpdate);
    if (value_ == expected) {
      value_ = desired;
      return true;
    }
    expected = value_;
    if (VirtualTeam* team = VirtualTeam::Current()) team->lines().CountRetry();
    return false;
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order, std::memory_order) {
    return compare_exchange_strong(expected, desired);
  }
  bool compare_exchange_weak(T& expected, T desired,
                             std::memory_order = std::memory_order_seq_cst) {
    return compare_exchange_strong(expected, desired);
  }

  template <typename D>
  T fetch_add(D delta, std::memory_order = std::memory_order_seq_cst) {
    TouchLine(this, sizeof(T), Access::kUpdate);
    return std::exchange(value_, static_cast<T>(value_ + delta));
  }
  template <typename D>
  T fetch_sub(D delta, std::memory_order = std::memory_order_seq_cst) {
    TouchLine(this, sizeof(T), Access::kUpdate);
    return std::exchange(value_, static_cast<T>(value_ - delta));
  }
  T fetch_and(T mask, std::memory_order = std::memory_order_seq_cst) {
    TouchLine(this, sizeof(T), Access::kUpdate);
    return std::exchange(value_, static_cast<T>(value_ & mask));
  }
  T fetch_or(T mask, std::memory_order = std::memory_order_seq_cst) {
    TouchLine(this, sizeof(T), Access::kUpdate);
    return std::exchange(value_, static_cast<T>(value_ | mask));
  }
  T fetch_xor(T mask, std::memory_order = std::memory_order_seq_cst) {
    TouchLine(this, sizeof(T), Access::kUpdate);
    return std::exchange(value_, static_cast<T>(value_ ^ mask));
  }

  // NOLINTNEXTLINE(google-explicit-constructor)
  operator T() const { return load(); }
  T operator=(T value) {
    store(value);
    return value;
  }

 private:
  T value_{};
};

// A plain cell whose accesses are counted.
template <typename T>
class Cell {
 public:
  Cell() = default;
  explicit Cell(T value) : value_(std::move(value)) {}

  const T& Read() const {
    TouchLine(this, sizeof(T), Access::kLoad);
    return value_;
  }
  T& Mutable() {
    TouchLine(this, sizeof(T), Access::kStore);
    return value_;
  }
  void Write(T value) { Mutable() = std::move(value); }

 private:
  T value_{};
};

}  // namespace schedq::scale

namespace schedq {

template <>
struct Seam<scale::Atomic> {
  template <typename T>
  using Plain = scale::Cell<T>;
  using Footprint = NoFootprint;

  static void Pause() {
    if (scale::VirtualTeam* team = scale::VirtualTeam::Current()) team->Pause();
  }

  // No deadline passes.
  static bool Wait(const scale::Atomic<uint32_t>& word, uint32_t expected,
                   std::optional<MonotonicTime>) {
    scale::VirtualTeam* const team = scale::VirtualTeam::Current();
    if (word.load() == expected && team != nullptr) team->Wait(&word);
    return true;
  }
  static void WakeOne(const scale::Atomic<uint32_t>& word) {
    if (scale::VirtualTeam* team = scale::VirtualTeam::Current()) team->Wake(&word, false);
  }
  static void WakeAll(const scale::Atomic<uint32_t>& word) {
    if (scale::VirtualTeam* team = scale::VirtualTeam::Current()) team->Wake(&word, true);
  }

  static uint32_t ThreadIndex() {
    const scale::VirtualTeam* const team = scale::VirtualTeam::Current();
    return team == nullptr ? 0 : team->thread();
  }
  static uint32_t ThreadIndexesUsed() {
    const scale::VirtualTeam* const team = scale::VirtualTeam::Current();
    return team == nullptr ? 1 : team->size();
  }

  // One key, so that a run can be repeated.
  static NameKey KeyOfNames() { return NameKey::FromSeed(1); }
};

// Growing arrays as the shipped code lays them out: zeroed segments that begin on a line, found by
// an origin that each access reads. (For any other Atom than std::atomic the array constructs its
// elements where the allocator has room.)
template <typename Element>
class SegmentedArray<Element, scale::Atomic> {
 public:
  explicit SegmentedArray(uint32_t first_bits) : first_bits_(first_bits) {}
  SegmentedArray(const SegmentedArray&) = delete;
  SegmentedArray& operator=(const SegmentedArray&) = delete;

  Element& operator[](uint64_t index) const { return *Find(index); }
  Element* Find(uint64_t index) const {
    const uint32_t segment = SegmentOf(index);
    const uintptr_t first = origins_[segment].load();
    if (first == 0) return nullptr;
    return reinterpret_cast<Element*>(first) + (index - FirstIndexOf(segment));
  }
  void ReserveThrough(uint64_t index) {
    for (uint32_t segment = 0; segment <= SegmentOf(index); ++segment) {
      Reserve(FirstIndexOf(segment));
    }
  }
  void Reserve(uint64_t index) {
    const uint32_t segment = SegmentOf(index);
    if (origins_[segment].load() != 0) return;
    const uint64_t size = segment == 0 ? uint64_t{1} << first_bits_ : FirstIndexOf(segment);
    // Another virtual thread may have come first: each access lets others go on.
    if (memory_[segment].data() == nullptr) {
      memory_[segment] = ZeroedMemory(size * sizeof(Element));
    }
    origins_[segment].store(reinterpret_cast<uintptr_t>(memory_[segment].data()));
  }

 private:
  static constexpr uint32_t kSegmentsMax = 33;
  static_assert(std::is_trivially_destructible_v<Element>,
                "nobody destroys what was never constructed");

  uint32_t SegmentOf(uint64_t index) const {
    return static_cast<uint32_t>(std::bit_width(index >> first_bits_));
  }
  uint64_t FirstIndexOf(uint32_t segment) const {
    return segment == 0 ? 0 : uint64_t{1} << (first_bits_ + segment - 1);
  }

  const uint32_t first_bits_;
  std::array<scale::Atomic<uintptr_t>, kSegmentsMax> origins_{};
  std::array<ZeroedMemory, kSegmentsMax> memory_{};
};

}  // namespace schedq
