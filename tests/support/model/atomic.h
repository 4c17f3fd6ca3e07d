// The model's atomics and its seam: a concurrent class with `model::Atomic` as its `Atom` parameter
// runs under the model.
//
// Purpose: every operation is a step at which the run may switch threads. Every load may return any
// store that the C++ memory model allows, within the bounds of memory.h.
// When not to use it: with real threads, which need std::atomic or stall::Atomic. Outside a run a
// model::Atomic is a plain variable of one thread.
// Allowed threads: those of the run.
// Invariants:
//   1. Construction and destruction are plain accesses. Every use of an atomic must be ordered
//      after its construction and before its destruction, else the run fails as a data race.
//   2. An access to an atomic in freed memory fails the run as a use after free.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/base/atom.h"
#include "engine/base/names/name_key.h"
#include "engine/base/time/time.h"
#include "tests/support/model/memory.h"
#include "tests/support/model/runtime.h"

namespace schedq::model {

template <typename T>
Word ToWord(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(Word));
  Word word;
  std::memcpy(static_cast<void*>(&word), &value, sizeof(T));
  return word;
}

template <typename T>
T FromWord(const Word& word) {
  std::remove_const_t<T> value;
  std::memcpy(&value, static_cast<const void*>(&word), sizeof(T));
  return value;
}

inline std::memory_order FailureOrder(std::memory_order order) {
  if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
  if (order == std::memory_order_release) return std::memory_order_relaxed;
  return order;
}

template <typename T>
class Atomic {
 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = std::atomic<T>::is_always_lock_free;

  Atomic() : Atomic(T()) {}
  Atomic(T value) {
    state_.latest = ToWord(value);
    if (Runtime* run = Runtime::Current()) run->Create(state_);
  }
  ~Atomic() {
    if (Runtime* run = Runtime::Current()) run->Destroy(state_);
  }
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  bool is_lock_free() const { return is_always_lock_free; }

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    Runtime* run = Runtime::Current();
    return FromWord<T>(run == nullptr ? state_.latest : run->Load(state_, order));
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    if (Runtime* run = Runtime::Current()) {
      run->Store(state_, ToWord(value), order);
    } else {
      state_.latest = ToWord(value);
    }
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
    return Update([value](T) { return value; }, order);
  }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) {
    return Compare(expected, desired, success, failure, false);
  }
  bool compare_exchange_strong(T& expected, T desired,
                               std::memory_order order = std::memory_order_seq_cst) {
    return Compare(expected, desired, order, FailureOrder(order), false);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) {
    return Compare(expected, desired, success, failure, true);
  }
  bool compare_exchange_weak(T& expected, T desired,
                             std::memory_order order = std::memory_order_seq_cst) {
    return Compare(expected, desired, order, FailureOrder(order), true);
  }

  template <typename D>
  T fetch_add(D delta, std::memory_order order = std::memory_order_seq_cst) {
    return Update([delta](T old) { return static_cast<T>(old + delta); }, order);
  }
  template <typename D>
  T fetch_sub(D delta, std::memory_order order = std::memory_order_seq_cst) {
    return Update([delta](T old) { return static_cast<T>(old - delta); }, order);
  }
  T fetch_and(T mask, std::memory_order order = std::memory_order_seq_cst) {
    return Update([mask](T old) { return static_cast<T>(old & mask); }, order);
  }
  T fetch_or(T mask, std::memory_order order = std::memory_order_seq_cst) {
    return Update([mask](T old) { return static_cast<T>(old | mask); }, order);
  }
  T fetch_xor(T mask, std::memory_order order = std::memory_order_seq_cst) {
    return Update([mask](T old) { return static_cast<T>(old ^ mask); }, order);
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

  // Sets the name in the trace of a failed run.
  void SetName(const char* name) {
    if (Runtime* run = Runtime::Current()) run->Name(state_, name);
  }
  AtomicState& state() const { return state_; }

 private:
  template <typename Change>
  T Update(Change change, std::memory_order order) {
    Runtime* run = Runtime::Current();
    const T old = FromWord<T>(run == nullptr ? state_.latest : run->BeginUpdate(state_, order));
    const Word next = ToWord<T>(change(old));
    if (run == nullptr) {
      state_.latest = next;
    } else {
      run->EndUpdate(state_, next, order);
    }
    return old;
  }

  bool Compare(T& expected, T desired, std::memory_order success, std::memory_order failure,
               bool weak) {
    Word found = ToWord(expected);
    if (Runtime* run = Runtime::Current()) {
      const bool exchanged =
          run->CompareExchange(state_, found, ToWord(desired), success, failure, weak);
      if (!exchanged) expected = FromWord<T>(found);
      return exchanged;
    }
    const bool exchanged = state_.latest == found;
    if (exchanged) {
      state_.latest = ToWord(desired);
    } else {
      expected = FromWord<T>(state_.latest);
    }
    return exchanged;
  }

  mutable AtomicState state_;
};

// The model's plain cell. An access fails the run as a data race unless it is ordered with all
// accesses of other threads that conflict with it.
template <typename T>
class CheckedCell {
 public:
  CheckedCell() : CheckedCell(T{}) {}
  explicit CheckedCell(T value) : value_(std::move(value)) { Access(true); }
  ~CheckedCell() { Access(true); }
  CheckedCell(const CheckedCell& other) : CheckedCell(other.Read()) {}
  CheckedCell& operator=(const CheckedCell& other) {
    Write(other.Read());
    return *this;
  }

  const T& Read() const {
    Access(false);
    return value_;
  }
  T& Mutable() {
    Access(true);
    return value_;
  }
  void Write(T value) {
    Access(true);
    value_ = std::move(value);
  }

 private:
  void Access(bool write) const {
    if (Runtime* run = Runtime::Current()) run->AccessPlain(history_, write);
  }

  mutable PlainHistory history_;
  T value_;
};

class CheckedFootprint {
 public:
  void Read() const { static_cast<void>(cell_.Read()); }
  void Write() { cell_.Write(true); }

 private:
  CheckedCell<bool> cell_;
};

}  // namespace schedq::model

namespace schedq {

template <>
struct Seam<model::Atomic> {
  template <typename T>
  using Plain = model::CheckedCell<T>;
  using Footprint = model::CheckedFootprint;

  // Switches to another thread, if one is ready.
  static void Pause() {
    if (model::Runtime* run = model::Runtime::Current()) run->Yield();
  }

  // A futex: compares with the newest value and sleeps in one step. A deadline passes only when no
  // thread is ready, unless Options::early_returns_max allows it earlier.
  static bool Wait(const model::Atomic<uint32_t>& word, uint32_t expected,
                   std::optional<MonotonicTime> deadline) {
    model::Runtime* run = model::Runtime::Current();
    return run == nullptr || run->Wait(word.state(), expected, deadline.has_value());
  }
  static void WakeOne(const model::Atomic<uint32_t>& word) {
    if (model::Runtime* run = model::Runtime::Current()) run->Wake(word.state(), false);
  }
  static void WakeAll(const model::Atomic<uint32_t>& word) {
    if (model::Runtime* run = model::Runtime::Current()) run->Wake(word.state(), true);
  }

  static void Fence(std::memory_order order) {
    if (model::Runtime* run = model::Runtime::Current()) run->Fence(order);
  }

  static uint32_t ThreadIndex() {
    model::Runtime* run = model::Runtime::Current();
    return run == nullptr ? 0 : run->thread();
  }

  // One key, so that a schedule can be replayed.
  static NameKey KeyOfNames() { return NameKey::FromSeed(1); }
};

}  // namespace schedq
