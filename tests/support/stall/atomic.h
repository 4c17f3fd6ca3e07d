// Real std::atomics that can freeze the calling thread before each operation.
//
// Purpose: the harness can freeze a thread at any atomic step of shipped code, as a preemption
// would, in a concurrent class with `stall::Atomic` as its `Atom` parameter.
// When not to use it: to measure. The model (tests/support/model) explores more where the test fits
// it.
// Allowed threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "engine/base/atom.h"
#include "engine/base/names/name_key.h"
#include "engine/base/time/time.h"

namespace schedq::stall {

// Freezes a thread. The harness installs one in the thread that it wants to freeze.
class Freezer {
 public:
  // Called before each atomic operation of the thread.
  virtual void Step() = 0;

 protected:
  ~Freezer() = default;
};

// The calling thread's freezer, or null.
inline constinit thread_local Freezer* freezer = nullptr;

inline void Step() {
  if (freezer != nullptr) freezer->Step();
}

template <typename T>
class Atomic {
 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = std::atomic<T>::is_always_lock_free;

  constexpr Atomic() : atom_(T()) {}
  constexpr Atomic(T value) : atom_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  bool is_lock_free() const { return atom_.is_lock_free(); }

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    Step();
    return atom_.load(order);
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    Step();
    atom_.store(value, order);
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
    Step();
    return atom_.exchange(value, order);
  }
  // As for std::atomic, there is one ordering for both outcomes or one for each.
  template <typename... Orders>
  bool compare_exchange_strong(T& expected, T desired, Orders... orders) {
    Step();
    return atom_.compare_exchange_strong(expected, desired, orders...);
  }
  template <typename... Orders>
  bool compare_exchange_weak(T& expected, T desired, Orders... orders) {
    Step();
    return atom_.compare_exchange_weak(expected, desired, orders...);
  }
  template <typename D>
  T fetch_add(D delta, std::memory_order order = std::memory_order_seq_cst) {
    Step();
    return atom_.fetch_add(delta, order);
  }
  template <typename D>
  T fetch_sub(D delta, std::memory_order order = std::memory_order_seq_cst) {
    Step();
    return atom_.fetch_sub(delta, order);
  }
  T fetch_and(T mask, std::memory_order order = std::memory_order_seq_cst) {
    Step();
    return atom_.fetch_and(mask, order);
  }
  T fetch_or(T mask, std::memory_order order = std::memory_order_seq_cst) {
    Step();
    return atom_.fetch_or(mask, order);
  }
  T fetch_xor(T mask, std::memory_order order = std::memory_order_seq_cst) {
    Step();
    return atom_.fetch_xor(mask, order);
  }

  operator T() const { return load(); }
  T operator=(T value) {
    store(value);
    return value;
  }
  T operator++() { return fetch_add(1) + 1; }
  T operator++(int) { return fetch_add(1); }
  T operator--() { return fetch_sub(1) - 1; }
  T operator--(int) { return fetch_sub(1); }

  const std::atomic<T>& shipped() const { return atom_; }

 private:
  std::atomic<T> atom_;
};

}  // namespace schedq::stall

namespace schedq {

template <>
struct Seam<stall::Atomic> {
  using Shipped = Seam<std::atomic>;

  template <typename T>
  using Plain = PlainCell<T>;
  using Footprint = NoFootprint;

  static void Pause() { Shipped::Pause(); }
  static bool Wait(const stall::Atomic<uint32_t>& word, uint32_t expected,
                   std::optional<MonotonicTime> deadline) {
    stall::Step();
    return Shipped::Wait(word.shipped(), expected, deadline);
  }
  static void WakeOne(const stall::Atomic<uint32_t>& word) {
    stall::Step();
    Shipped::WakeOne(word.shipped());
  }
  static void WakeAll(const stall::Atomic<uint32_t>& word) {
    stall::Step();
    Shipped::WakeAll(word.shipped());
  }
  static uint32_t ThreadIndex() { return Shipped::ThreadIndex(); }
  // One key, so that a thread can be frozen at the same step in each run.
  static NameKey KeyOfNames() { return NameKey::FromSeed(1); }
};

}  // namespace schedq
