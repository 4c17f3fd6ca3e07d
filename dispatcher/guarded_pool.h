// Numbered values that threads read while other threads replace them.
//
// Purpose: states that are never changed, only replaced: a thread makes a value, publishes its
// number in a word, and retires the value that the number replaced. A thread that reads a value
// guards its number first. A retired value is destroyed, and its memory used again, when no thread
// guards it.
// When not to use it: where a late reader's exchange fails anyway and values own no memory; then
// IndexPool is enough.
// Threads and progress: all operations from any thread, lock-free. In steady state nothing is
// allocated: each thread keeps a few values for its own use.
// Invariants:
//  1. A value does not change from its publication until it is destroyed, but for its note.
//  2. A thread reads a value only while it guards the number, and has seen the number in the word
//     after it began to; or if it has itself taken the number out of the word and not yet retired
//     it. The guard and the look at the word are sequentially consistent, and so are the word's
//     exchange and the sweep's look at the guards: if the look at the word came before the
//     exchange, the sweep sees the guard.
// Memory: as many values as were ever in use at one time, kKeptMax retired and kKeptMax free ones
// for each thread, and three for each thread that is stopped while it reads.
// Source: M. Michael, Hazard Pointers: Safe Memory Reclamation for Lock-Free Objects, 2004.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "engine/base/atom.h"
#include "engine/base/index_pool.h"
#include "engine/base/segmented_array.h"
#include "engine/base/zeroed_memory.h"

namespace schedq {

template <typename Value, template <typename> class Atom = std::atomic, uint32_t kKeptMax = 64>
class GuardedPool {
  struct Cell;

 public:
  // 0: none.
  using Number = uint32_t;
  // As many values a thread guards at one time.
  static constexpr uint32_t kGuards = 3;

  explicit GuardedPool(uint32_t first_bits) : nodes_(first_bits), cells_(kFirstCellsBits) {}
  GuardedPool(const GuardedPool&) = delete;
  GuardedPool& operator=(const GuardedPool&) = delete;
  // No other thread may use it. What is published has been discarded.
  ~GuardedPool() {
    for (uint32_t thread = 0; thread < threads_.load(); ++thread) {
      Cell& cell = cells_[thread];
      for (uint32_t i = 0; i < cell.retired_count; ++i) Destroy(cell.retired[i]);
    }
    for (auto link = static_cast<Number>(held_.load()); link != 0;) {
      Destroy(HeldBy(link));
      link = static_cast<Number>(NextOf(link));
    }
  }

  // One operation of a thread. Its guards end with it. An operation that begins within another one
  // of the thread ends the guards of both.
  class Operation {
   public:
    explicit Operation(GuardedPool& pool)
        : pool_(pool), cell_(pool.OwnCell()), is_inner_(cell_.begun % 2 != 0) {
      // Release: see OperationsOf. The operation's exchanges publish it.
      if (!is_inner_) StoreRelease(cell_.operations, ++cell_.begun);
    }
    ~Operation() {
      Unguard();
      // Release pairs with the acquire in OperationsOf: without it a thread that sees the end could
      // miss what this operation has done.
      if (!is_inner_) StoreRelease(cell_.operations, ++cell_.begun);
    }
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    // Then look again whether the number is still published.
    void Guard(uint32_t place, Number number) {
      cell_.guarded[place].store(number);
      guards_ = std::max(guards_, place + 1);
    }
    // Release pairs with the sweep's load: without it the value could be destroyed while it is
    // still read.
    void Unguard() {
      while (guards_ != 0) StoreRelease(cell_.guarded[--guards_], Number{0});
    }

    // A value of these members that nobody else knows.
    template <typename... Members>
    Number Make(Members&&... members) {
      const Number number = pool_.Allocate(cell_);
      Node& node = pool_.NodeOf(number);
      node.footprint.Write();
      ::new (static_cast<void*>(node.memory)) Value{std::forward<Members>(members)...};
      return number;
    }
    // Gives back a value that was never published, or that no other thread can reach any more.
    void Discard(Number number) {
      pool_.Destroy(number);
      pool_.Free(cell_, number);
    }
    // A value whose number this thread has taken out of its word.
    void Retire(Number number) {
      cell_.retired[cell_.retired_count++] = number;
      if (cell_.retired_count == kKeptMax) pool_.Sweep(cell_);
    }

   private:
    GuardedPool& pool_;
    Cell& cell_;
    const bool is_inner_;
    uint32_t guards_ = 0;  // Places that may hold a number of this operation.
  };

  // See invariant 2.
  const Value& operator[](Number number) const {
    Node& node = NodeOf(number);
    node.footprint.Read();
    return *std::launder(reinterpret_cast<const Value*>(node.memory));
  }
  // Of a value that was not published yet.
  Value& Private(Number number) {
    Node& node = NodeOf(number);
    node.footprint.Write();
    return *std::launder(reinterpret_cast<Value*>(node.memory));
  }
  // A word beside the value, its owner's while the value is in use.
  Atom<uint64_t>& NoteOf(Number number) { return NodeOf(number).note; }

  void Prefetch(Number number) const {
    const Node* const node = &NodeOf(number);
    __builtin_prefetch(node);
    __builtin_prefetch(reinterpret_cast<const char*>(node + 1) - 1);
  }

  // Threads that may have begun an operation.
  uint32_t Threads() const { return LoadAcquire(threads_); }
  // What the thread counts: odd while it is in an operation. Acquire pairs with the release at the
  // operation's end.
  uint64_t OperationsOf(uint32_t thread) const { return LoadAcquire(cells_[thread].operations); }

 private:
  static constexpr uint32_t kFirstCellsBits = 2;
  static_assert(kKeptMax > 0 && kKeptMax <= 64, "a sweep marks what it keeps in one word");

  struct Node {
    Atom<uint64_t>& FreeLink() { return note; }

    // The owner's while the value is in use; then the chain's.
    Atom<uint64_t> note;
    alignas(Value) std::byte memory[sizeof(Value)];
    [[no_unique_address]] typename Seam<Atom>::Footprint footprint;
  };
  static_assert(!std::is_same_v<Atom<uint64_t>, std::atomic<uint64_t>> ||
                    sizeof(Node) == sizeof(uint64_t) + sizeof(Value),
                "a value has its note before it, and no gap");

  struct alignas(kCacheLineBytes) Cell {
    // Written by the thread, read by sweeps. 0: nothing.
    std::array<Atom<Number>, kGuards> guarded{};
    // Written by the thread; odd while it is in an operation.
    Atom<uint64_t> operations{0};
    // The thread's.
    uint64_t begun = 0;  // As `operations`.
    uint32_t free_count = 0;
    uint32_t retired_count = 0;
    std::array<Number, kKeptMax> free{};
    std::array<Number, kKeptMax> retired{};
  };

  Node& NodeOf(Number number) const { return nodes_[number - 1]; }

  Cell& OwnCell() {
    const uint32_t thread = Seam<Atom>::ThreadIndex();
    // Sequentially consistent, where another thread has raised it: a sweep that does not see this
    // thread came before the thread's first guard.
    if (thread >= threads_.load()) MakeCell(thread);
    return cells_[thread];
  }
  [[gnu::noinline, gnu::cold]] void MakeCell(uint32_t thread) {
    cells_.ReserveThrough(thread);
    uint32_t threads = threads_.load();
    // Each failed exchange means that another new thread raised it.
    while (threads <= thread && !threads_.compare_exchange_weak(threads, thread + 1)) {
    }
  }

  Number Allocate(Cell& cell) {
    if (cell.free_count != 0) return cell.free[--cell.free_count];
    return nodes_.Allocate() + 1;
  }
  void Free(Cell& cell, Number number) {
    if (cell.free_count < kKeptMax) {
      cell.free[cell.free_count++] = number;
    } else {
      nodes_.Free(number - 1);
    }
  }
  void Destroy(Number number) {
    Node& node = NodeOf(number);
    node.footprint.Write();
    std::launder(reinterpret_cast<Value*>(node.memory))->~Value();
  }

  // Calls guards(number) for each guarded number. Sequentially consistent: see invariant 2.
  template <typename Visit>
  void ForEachGuard(const Visit& visit) const {
    const uint32_t threads = threads_.load();
    for (uint32_t thread = 0; thread < threads; ++thread) {
      for (const Atom<Number>& guarded : cells_[thread].guarded) {
        const Number number = guarded.load();
        if (number != 0) visit(number);
      }
    }
  }

  // Gives back what the thread has retired and nobody guards.
  [[gnu::noinline]] void Sweep(Cell& cell) {
    uint64_t kept = 0;
    ForEachGuard([&](Number guarded) {
      for (uint32_t i = 0; i < cell.retired_count; ++i) {
        if (cell.retired[i] == guarded) kept |= uint64_t{1} << i;
      }
    });
    const uint32_t count = std::exchange(cell.retired_count, 0);
    for (uint32_t i = 0; i < count; ++i) {
      const Number number = cell.retired[i];
      if ((kept >> i & 1) != 0) {
        cell.retired[cell.retired_count++] = number;
      } else {
        Destroy(number);
        Free(cell, number);
      }
    }
    if (held_.load() != 0) SweepHeld(cell);
    // Few threads are stopped at one time, so this is rare.
    if (cell.retired_count * 2 >= kKeptMax) {
      while (cell.retired_count != 0) Hold(cell.retired[--cell.retired_count]);
    }
  }
  [[gnu::noinline, gnu::cold]] void SweepHeld(Cell& cell) {
    uint64_t rest = held_.exchange(0);
    while (rest != 0) {
      const Number link = static_cast<Number>(rest);
      const Number number = HeldBy(link);
      rest = NextOf(link);
      nodes_.Free(link - 1);
      bool is_guarded = false;
      ForEachGuard([&](Number guarded) { is_guarded |= guarded == number; });
      if (is_guarded) {
        Hold(number);
      } else {
        Destroy(number);
        Free(cell, number);
      }
    }
  }
  // The list is through the notes of elements that hold no value, because the owner of a value that
  // is guarded may still write its note. An exchange fails only where another thread's succeeded. A
  // list that was taken away and has the same first number again is as good as the one that was
  // read.
  void Hold(Number number) {
    const Number link = nodes_.Allocate() + 1;
    uint64_t first = held_.load();
    do {
      StoreRelaxed(NodeOf(link).note, first << 32 | number);
    } while (!held_.compare_exchange_weak(first, link));
  }
  Number HeldBy(Number link) const { return static_cast<Number>(LoadRelaxed(NodeOf(link).note)); }
  uint64_t NextOf(Number link) const { return LoadRelaxed(NodeOf(link).note) >> 32; }

  IndexPool<Node, Atom> nodes_;
  // Raised by a thread's first operation; read by sweeps.
  Atom<uint32_t> threads_{0};
  SegmentedArray<Cell, Atom> cells_;
  // The first of a list of retired values that stopped threads guard. Written by sweeps.
  Atom<uint64_t> held_{0};
};

}  // namespace schedq
