// Any thread pushes tickets here, and one at a time, the taker, takes them in the order of coming.
//
// Purpose: the way into the wheel. When not to use it: for several takers at once.
//
// How it works. A cursor names a buffer and how many of its cells are claimed. A pushing thread
// claims a cell by one addition, and then writes it. The taker exchanges the cursor for an empty
// buffer's, and reads the claimed cells of the old buffer. A cell that is claimed and not written
// yet is a *hole*. The taker remembers the hole and reads it again later; its buffer is not used
// again before the hole is filled. If no buffer is free, the taker continues in the one in use.
//
// Threads and progress:
//   Push      any thread; wait-free, but for the growth of a buffer, which is lock-free.
//             Linearization point: the addition.
//   the rest  the taker: one thread at a time. Never waits: a thread that is frozen in Push delays
//             its own ticket only.
// Invariants:
//  1. A ticket is taken once, and after all whose Push had ended before its own began.
//  2. Cells of a buffer that is not in use are zero, but for those of holes.
// Memory: two buffers, each of eight bytes times the most tickets that ever came between two calls
// of TakeAll; more while at least three threads are frozen in Push. Untouched pages cost nothing.
// Source: the claiming of cells is that of C. Yang and J. Mellor-Crummey, A Wait-free Queue as Fast
// as Fetch-and-Add, 2016.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "dispatcher/timer_wheel/ticket.h"
#include "engine/base/atom.h"
#include "engine/base/segmented_array.h"
#include "engine/base/zeroed_memory.h"

namespace schedq {

template <template <typename> class Atom = std::atomic>
class TicketInbox {
 public:
  // `first_bits` is the first allocation of a buffer, as a power of two of tickets.
  explicit TicketInbox(uint32_t first_bits)
      : buffers_{Cells(first_bits), Cells(first_bits), Cells(first_bits), Cells(first_bits)} {}

  void Push(Ticket ticket) {
    // Sequentially consistent: see IsEmpty.
    const uint64_t cursor = cursor_.fetch_add(1);
    Cells& cells = buffers_[BufferOf(cursor)];
    const uint32_t position = PositionOf(cursor);
    cells.Reserve(position);
    StoreCell(cells[position], ticket.bits());
  }

  // Calls visit(ticket) for each that is there.
  template <typename Visit>
  void TakeAll(const Visit& visit) {
    if (IsEmpty()) return TakeHoles(visit);
    const uint32_t next = FreeBuffer();
    const uint32_t end =
        PositionOf(next == current_ ? cursor_.load() : cursor_.exchange(uint64_t{next} << 32));
    // After the cursor's exchange, so that a hole that was filled before any of these came is taken
    // first.
    TakeHoles(visit);
    for (; taken_ < end; ++taken_) {
      if (TakeCell(current_, taken_, visit)) continue;
      holes_.push_back({current_, taken_});
      ++holes_in_[current_];
    }
    if (next == current_) return;
    current_ = next;
    taken_ = 0;
  }

  // No cell was claimed since the last TakeAll. Sequentially consistent, as is the addition in
  // Push. If one thread pushes and then reads a word, and the other writes that word and then calls
  // this, at least one of them sees what the other wrote.
  bool IsEmpty() const { return PositionOf(cursor_.load()) == taken_; }
  // A claimed cell has not been taken yet. The taker is not told when it is written.
  bool HasHoles() const { return !holes_.empty(); }

 private:
  static constexpr uint32_t kBuffers = 4;
  using Cells = SegmentedArray<Atom<uint64_t>, Atom>;
  struct Hole {
    uint32_t buffer;
    uint32_t position;
  };

  static uint32_t BufferOf(uint64_t cursor) { return static_cast<uint32_t>(cursor >> 32); }
  static uint32_t PositionOf(uint64_t cursor) { return static_cast<uint32_t>(cursor); }

  // Relaxed, both: a cell publishes nothing but its ticket. The cursor orders the taker's zero
  // before the cell's next ticket.
  static uint64_t LoadCell(const Atom<uint64_t>& cell) { return LoadRelaxed(cell); }
  static void StoreCell(Atom<uint64_t>& cell, uint64_t bits) { StoreRelaxed(cell, bits); }

  // The one in use when all others have holes.
  uint32_t FreeBuffer() const {
    for (uint32_t buffer = 0; buffer < kBuffers; ++buffer) {
      if (buffer != current_ && holes_in_[buffer] == 0) return buffer;
    }
    return current_;
  }

  // False: it is a hole.
  template <typename Visit>
  bool TakeCell(uint32_t buffer, uint32_t position, const Visit& visit) {
    // Null: the cell's segment has not been made yet.
    Atom<uint64_t>* const cell = buffers_[buffer].Find(position);
    const uint64_t bits = cell == nullptr ? 0 : LoadCell(*cell);
    if (bits == 0) return false;
    StoreCell(*cell, 0);
    visit(Ticket::FromBits(bits));
    return true;
  }

  template <typename Visit>
  void TakeHoles(const Visit& visit) {
    if (holes_.empty()) return;
    std::erase_if(holes_, [&](const Hole& hole) {
      const bool is_filled = TakeCell(hole.buffer, hole.position, visit);
      if (is_filled) --holes_in_[hole.buffer];
      return is_filled;
    });
  }

  // Written by pushing threads and by the taker. The upper half is the buffer in use, the lower
  // half is how many of its cells are claimed.
  alignas(kCacheLineBytes) Atom<uint64_t> cursor_{0};

  std::array<Cells, kBuffers> buffers_;

  // The taker's.
  uint32_t current_ = 0;
  uint32_t taken_ = 0;  // Cells of the buffer in use that were read.
  std::array<uint32_t, kBuffers> holes_in_{};
  std::vector<Hole> holes_;
};

}  // namespace schedq
