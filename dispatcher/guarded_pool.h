// Numbered values that threads read while other threads replace them.
//
// Purpose: states that are never changed, only replaced: a thread makes a value, publishes its
// number in a word, and retires the value that the number replaced. A thread that reads a value
// guards its number first. A retired value is destroyed, and its memory used again, when no thread
// guards it.
// When not to use it: where a late reader's exchange fails anyway and values own no memory; then
// IndexPool is enough.
// Threads and progress: all operations from any thread, lock-free. In steady state nothing is
// allocated: each thread keeps a few free values for its own use. What it has too many of it gives
// to the others in packs, and takes packs of theirs, so that few exchanges meet on one word.
// Invariants:
//  1. A value does not change from its publication until it is destroyed, but for its notes. Their
//     memory stays notes for ever: a thread may read them without a guard, and reads those of a
//     newer value where the number was used again.
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
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "engine/base/atom.h"
#include "engine/base/index_pool.h"
#include "engine/base/segmented_array.h"
#include "engine/base/zeroed_memory.h"

namespace schedq {

template <typename Value, template <typename> class Atom = std::atomic, uint32_t kKeptMax = 64,
          uint32_t kNotes = 1>
class GuardedPool {
  struct Cell;
  struct Node;

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
    [[gnu::always_inline]] explicit Operation(GuardedPool& pool)
        : pool_(pool), cell_(pool.OwnCell()), is_inner_(cell_.begun % 2 != 0) {
      // Release: see OperationsOf. The operation's exchanges publish it.
      if (!is_inner_) StoreRelease(cell_.operations, ++cell_.begun);
    }
    [[gnu::always_inline]] ~Operation() {
      Unguard();
      // Release pairs with the acquire in OperationsOf: without it a thread that sees the end could
      // miss what this operation has done.
      if (!is_inner_) StoreRelease(cell_.operations, ++cell_.begun);
    }
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    // Then look again whether the number is still published.
    [[gnu::always_inline]] void Guard(uint32_t place, Number number) {
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
    [[gnu::always_inline]] Number Make(Members&&... members) {
      const Number number = pool_.Allocate(cell_);
      Construct(pool_.NodeOf(number), std::forward<Members>(members)...);
      return number;
    }
    // Likewise, and its first note. Relaxed: what publishes the number publishes the note.
    template <typename... Members>
    [[gnu::always_inline]] Number MakeNoted(uint64_t note, Members&&... members) {
      const Number number = pool_.Allocate(cell_);
      Node& node = pool_.NodeOf(number);
      StoreRelaxed(node.notes[0], note);
      Construct(node, std::forward<Members>(members)...);
      return number;
    }
    // Gives back a value that was never published, or that no other thread can reach any more.
    void Discard(Number number) {
      pool_.Destroy(number);
      pool_.Free(cell_, number);
    }
    // A value whose number this thread has taken out of its word.
    [[gnu::always_inline]] void Retire(Number number) {
      cell_.retired[cell_.retired_count++] = number;
      if (cell_.retired_count == kKeptMax) pool_.Sweep(cell_);
    }

   private:
    template <typename... Members>
    [[gnu::always_inline]] static void Construct(Node& node, Members&&... members) {
      node.footprint.Write();
      ::new (static_cast<void*>(node.memory)) Value{std::forward<Members>(members)...};
    }

    GuardedPool& pool_;
    Cell& cell_;
    const bool is_inner_;
    uint32_t guards_ = 0;  // Places that may hold a number of this operation.
  };

  // See invariant 2.
  [[gnu::always_inline]] const Value& operator[](Number number) const {
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
  Atom<uint64_t>& NoteOf(Number number, uint32_t which = 0) const {
    return NodeOf(number).notes[which];
  }

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
  // As many free values a thread gives away at once, or fewer where their numbers have no room in
  // the memory of the one that stands for all.
  static constexpr uint32_t kPackMax =
      std::min((kKeptMax + 1) / 2, static_cast<uint32_t>(sizeof(Value) / sizeof(Number)));
  static_assert(kKeptMax > 0 && kKeptMax <= 64, "a sweep marks what it keeps in one word");

  struct Node {
    Atom<uint64_t>& FreeLink() { return notes[0]; }

    // The owner's while the value is in use. The first one links free packs.
    std::array<Atom<uint64_t>, kNotes> notes;
    alignas(Value) std::byte memory[sizeof(Value)];
    [[no_unique_address]] typename Seam<Atom>::Footprint footprint;
  };
  static_assert(!std::is_same_v<Atom<uint64_t>, std::atomic<uint64_t>> ||
                    sizeof(Node) == kNotes * sizeof(uint64_t) + sizeof(Value),
                "a value has its notes before it, and no gap");

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

  [[gnu::always_inline]] Node& NodeOf(Number number) const { return nodes_[number - 1]; }

  [[gnu::always_inline]] Cell& OwnCell() {
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

  [[gnu::always_inline]] Number Allocate(Cell& cell) {
    if (cell.free_count == 0) TakePack(cell);
    return cell.free[--cell.free_count];
  }
  [[gnu::always_inline]] void Free(Cell& cell, Number number) {
    if (cell.free_count == kKeptMax) GivePack(cell);
    cell.free[cell.free_count++] = number;
  }
  // A pack is a free value whose memory says which others are free. A value that was never used is
  // a pack of its own, for its memory is zero.
  [[gnu::noinline]] void TakePack(Cell& cell) {
    const Number first = nodes_.Allocate() + 1;
    Node& node = NodeOf(first);
    node.footprint.Read();
    Number others = 0;
    std::memcpy(&others, node.memory, sizeof(Number));
    std::memcpy(cell.free.data(), node.memory + sizeof(Number), others * sizeof(Number));
    cell.free_count = others;
    cell.free[cell.free_count++] = first;
  }
  [[gnu::noinline]] void GivePack(Cell& cell) {
    const Number first = cell.free[--cell.free_count];
    const Number others = kPackMax - 1;
    cell.free_count -= others;
    Node& node = NodeOf(first);
    node.footprint.Write();
    std::memcpy(node.memory, &others, sizeof(Number));
    std::memcpy(node.memory + sizeof(Number), cell.free.data() + cell.free_count,
                others * sizeof(Number));
    nodes_.Free(first - 1);
  }
  [[gnu::always_inline]] void Destroy(Number number) {
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
      while (cell.retired_count != 0) Hold(cell, cell.retired[--cell.retired_count]);
    }
  }
  [[gnu::noinline, gnu::cold]] void SweepHeld(Cell& cell) {
    uint64_t rest = held_.exchange(0);
    while (rest != 0) {
      const Number link = static_cast<Number>(rest);
      const Number number = HeldBy(link);
      rest = NextOf(link);
      Free(cell, link);
      bool is_guarded = false;
      ForEachGuard([&](Number guarded) { is_guarded |= guarded == number; });
      if (is_guarded) {
        Hold(cell, number);
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
  void Hold(Cell& cell, Number number) {
    const Number link = Allocate(cell);
    uint64_t first = held_.load();
    do {
      StoreRelaxed(NoteOf(link), first << 32 | number);
    } while (!held_.compare_exchange_weak(first, link));
  }
  Number HeldBy(Number link) const { return static_cast<Number>(LoadRelaxed(NoteOf(link))); }
  uint64_t NextOf(Number link) const { return LoadRelaxed(NoteOf(link)) >> 32; }

  IndexPool<Node, Atom> nodes_;
  // Raised by a thread's first operation; read by sweeps.
  Atom<uint32_t> threads_{0};
  SegmentedArray<Cell, Atom> cells_;
  // The first of a list of retired values that stopped threads guard. Written by sweeps.
  Atom<uint64_t> held_{0};
};

}  // namespace schedq
