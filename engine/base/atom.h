// The seam between concurrent code and what runs it.
//
// Purpose: every concurrent class takes `template <typename> class Atom` and reaches atomics, plain
// cells guarded by them, waiting and pausing only through here. With std::atomic it is the shipped
// code; with the model's atomics (tests/support/model) the same code runs under a deterministic
// scheduler that explores interleavings and stale reads, and under the stall harness.
// When not to use it: code that one thread owns needs none of this.
//
// An ordering is part of a name: a class declares small accessors such as `LoadHead()` that
// call the functions below, and says at that place which operation the ordering pairs with.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "engine/base/names/name_key.h"
#include "engine/base/time/time.h"

namespace schedq {

// A plain value that atomics protect. The shipped cell is just the value; the model's cell reports
// an access that nothing orders after the latest write (a data race).
template <typename T>
class PlainCell {
 public:
  PlainCell() = default;
  explicit PlainCell(T value) : value_(std::move(value)) {}

  const T& Read() const { return value_; }
  T& Mutable() { return value_; }
  void Write(T value) { value_ = std::move(value); }

 private:
  T value_{};
};

// Some memory consists of relaxed atomics, because a late reader may read it, although one thread
// at a time owns it. A footprint stands for such memory: each owner reads or writes it. In the
// shipped code it does nothing. In the model it is a plain cell, so that what one owner does must
// be ordered before what the next one does.
struct NoFootprint {
  void Read() const {}
  void Write() {}
};

namespace internal {

// The calling thread's number, or kNoThreadIndex before its first use. Used by that thread only.
inline constexpr uint32_t kNoThreadIndex = ~uint32_t{0};
inline constinit thread_local uint32_t thread_index = kNoThreadIndex;

// Gives the calling thread the lowest free number and returns it at the thread's end.
uint32_t ClaimThreadIndex();

// Above every number that a thread has had. Raised before the thread first uses its number.
inline constinit std::atomic<uint32_t> thread_indexes_used{0};

}  // namespace internal

// Linux gives thread ids below 2^22, so no process has more threads than this at one time.
inline constexpr uint32_t kThreadsMax = uint32_t{1} << 22;

// What a concurrent class needs beyond atomics. Specialised for each Atom.
template <template <typename> class Atom>
struct Seam;

template <>
struct Seam<std::atomic> {
  template <typename T>
  using Plain = PlainCell<T>;
  using Footprint = NoFootprint;

  // A hint to the processor inside a bounded retry.
  static void Pause();

  // Blocks while `word` holds `expected`, at most until `deadline`; may return early. Returns false
  // only when the deadline has passed. To wake a word without waiters costs a system call too, so
  // callers keep a count of waiters.
  static bool Wait(const std::atomic<uint32_t>& word, uint32_t expected,
                   std::optional<MonotonicTime> deadline);
  static void WakeOne(const std::atomic<uint32_t>& word);
  static void WakeAll(const std::atomic<uint32_t>& word);

  // A small dense number of the calling thread; a number is reused after its thread has ended, and
  // all that the earlier thread did happens before what its successor does.
  static uint32_t ThreadIndex() {
    const uint32_t index = internal::thread_index;
    return index != internal::kNoThreadIndex ? index : internal::ClaimThreadIndex();
  }
  // Above every number that a thread has had. Relaxed: a reader that must find what a thread wrote
  // under its number is ordered behind that thread, so also behind the mark's rise.
  static uint32_t ThreadIndexesUsed() {
    return internal::thread_indexes_used.load(std::memory_order_relaxed);
  }

  // What names are hashed with where nothing else is asked for.
  static NameKey KeyOfNames() { return NameKey::OfProcess(); }
};

// Named orderings. The name at the call says which ordering it is; the accessor around the call
// says why.
template <typename A>
auto LoadRelaxed(const A& atom) {
  return atom.load(std::memory_order_relaxed);
}
template <typename A>
auto LoadAcquire(const A& atom) {
  return atom.load(std::memory_order_acquire);
}
template <typename A, typename T>
void StoreRelaxed(A& atom, T value) {
  atom.store(value, std::memory_order_relaxed);
}
template <typename A, typename T>
void StoreRelease(A& atom, T value) {
  atom.store(value, std::memory_order_release);
}

}  // namespace schedq
