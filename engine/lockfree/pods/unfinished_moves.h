// What each thread has begun to do with a pod, so that others can finish it.
//
// Purpose: a move is an exchange of the pod's slot, and then what follows from it: the ticket by
// which the pod is found, the look at what happened meanwhile. A thread may stop in between. So it
// announces the move before the exchange and withdraws that when nothing is left to do; a thread
// that needs the move's result looks here and does what is left.
// Threads: all operations from any thread, wait-free but for a thread's first announcement.
// Invariants:
//  1. A move is named by the pod, its version and where it goes: no other move of the pod has this
//     name.
//  2. A thread that sees a slot as a move has left it sees the announcement too, or what the move's
//     thread did later: the announcement is stored before the exchange, and withdrawn when all that
//     followed is done, which a thread that sees the withdrawal sees.
//  3. A helper that has finished a move withdraws it for its thread, by an exchange that
//     fails if the thread announces something else by now. So others finish a move a few times at
//     most.
//  4. What an exception has left unfinished stays announced, and others finish it.
// Memory: two lines for each thread that there was at one time, and eight bytes for each entry of a
// list.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/atom.h"
#include "engine/base/segmented_array.h"
#include "engine/base/zeroed_memory.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/place.h"
#include "engine/pod_key.h"

namespace schedq {

// A move's name as a number that is never 0.
class MoveName {
 public:
  MoveName() = default;  // None.
  MoveName(PodId pod, uint32_t version, Place to)
      : bits_(uint64_t{pod} << 32 | version | KindOf(to)) {}
  explicit MoveName(uint64_t bits) : bits_(bits) {}
  // Of the move to active of the pod that has this ticket in backoff.
  static MoveName OfFlush(uint64_t ticket) { return MoveName(ticket | KindOf(Place::kActive)); }

  uint64_t bits() const { return bits_; }
  PodId pod() const { return static_cast<PodId>(bits_ >> 32); }
  // Whether a pod that has this version in this place is where the move has led it.
  bool Leads(uint32_t version, Place place) const {
    return static_cast<uint32_t>(bits_) == (version | KindOf(place));
  }

 private:
  // A record is in the pool, in backoff and in active at most once each.
  static uint32_t KindOf(Place place) {
    if (place == Place::kActive) return 1;
    return InBackoff(place) ? 2 : 3;
  }
  static_assert(PodFacts::kVersionStep == 4, "a version leaves two bits");

  uint64_t bits_ = 0;
};

// A move with what it takes to finish it.
struct Move {
  MoveName name;
  uint32_t note = 0;  // The owner's.
  // Of an attempt that ends with the move: what was logged since is still to be judged.
  FlightPosition flight;
};

template <template <typename> class Atom, uint32_t kManyMax>
class UnfinishedMoves {
 public:
  // An operation that moves a pod, judges it again and asks PreEnqueue anew announces three.
  static constexpr uint32_t kAtOnce = 4;

  UnfinishedMoves() : cells_(kFirstBits) {}

 private:
  struct alignas(kCacheLineBytes) Cell {
    // Written by the thread of this number, and withdrawn by helpers that finish them; 0: none.
    std::array<Atom<uint64_t>, kAtOnce> names{};
    // Written by the thread before the name.
    std::array<Atom<uint32_t>, kAtOnce> notes{};
    std::array<Atom<uint32_t>, kAtOnce> flights{};
    // How many of the list are under way. The thread's.
    Atom<uint32_t> many_count{0};
    // Withdrawn by helpers, one by one.
    std::array<Atom<uint64_t>, kManyMax> many{};
  };

 public:
  // The calling thread's announcement of one move. It stays until it is withdrawn.
  class Announcement {
   public:
    Announcement() = default;

    // Release is enough: a thread that needs to see this has seen the exchange that follows
    // (invariant 2), and that is a release too. The note's release pairs with the acquire of its
    // reader: without it a helper could take the note of a later move for this one's.
    void Announce(const Move& move) {
      StoreRelease(cell_->notes[place_], move.note);
      StoreRelease(cell_->flights[place_], move.flight.node_plus_one);
      StoreRelease(cell_->names[place_], move.name.bits());
    }
    // Release pairs with the acquire of FinishIf: without it a thread that sees no move any more
    // could miss what followed from it.
    void Withdraw() { StoreRelease(cell_->names[place_], uint64_t{0}); }

    // What another announcement of this thread says, but for the attempt that ended with the move.
    void AnnounceRestOf(const Announcement& other) {
      const uint64_t name = LoadRelaxed(other.cell_->names[other.place_]);
      if (name == 0) return;  // Another thread has finished it.
      Announce({MoveName(name), LoadRelaxed(other.cell_->notes[other.place_]), {}});
    }

   private:
    friend class UnfinishedMoves;
    Announcement(Cell* cell, uint32_t place) : cell_(cell), place_(place) {}

    Cell* cell_ = nullptr;
    uint32_t place_ = 0;
  };
  // Remembers that a scope was left by an exception before what it began was finished.
  class Leftover {
   public:
    explicit Leftover(UnfinishedMoves* moves) : moves_(*moves) {}
    Leftover(const Leftover&) = delete;
    Leftover& operator=(const Leftover&) = delete;
    // Relaxed: the thread's own next operation finishes it, or any other that sees this.
    ~Leftover() {
      if (!is_finished_) StoreRelaxed(moves_.has_left_, true);
    }
    void Finished() { is_finished_ = true; }

   private:
    UnfinishedMoves& moves_;
    bool is_finished_ = false;
  };
  // Whether a scope was left so, and this was not asked since. Relaxed: see Leftover.
  [[gnu::always_inline]] bool TakeLeft() {
    if (!LoadRelaxed(has_left_)) [[likely]]
      return false;
    StoreRelaxed(has_left_, false);
    return true;
  }

  // A free place among the calling thread's; the last one if none is. Relaxed: the thread's own, or
  // withdrawn by others for good.
  Announcement Begin() {
    Cell& cell = OwnCell();
    uint32_t place = 0;
    while (LoadRelaxed(cell.names[place]) != 0 && place + 1 < kAtOnce) ++place;
    return {&cell, place};
  }

  // Several moves to active at once, of pods that keep their version. Relaxed: the count publishes
  // them, and an entry of an older list names a move that has led nowhere or is over.
  template <typename Entry>
  void AnnounceMany(std::span<Entry> entries) {
    Cell& cell = OwnCell();
    for (size_t i = 0; i < entries.size(); ++i) {
      StoreRelaxed(cell.many[i], MoveName::OfFlush(entries[i].ticket).bits());
    }
    StoreRelease(cell.many_count, static_cast<uint32_t>(entries.size()));
  }
  // Release: as Announcement::Withdraw.
  void WithdrawMany() { StoreRelease(OwnCell().many_count, uint32_t{0}); }

  // Calls `finish(const Move&, is_under_way)` for each move under way, and withdraws it if that
  // says that it is finished. `is_under_way()`: whether its thread still announces it. Returns
  // whether one was finished.
  template <typename Finish>
  bool FinishAll(const Finish& finish) {
    return FinishIf([](MoveName) { return true; }, finish);
  }
  // The same for the moves of one pod.
  template <typename Finish>
  bool FinishOf(PodId pod, const Finish& finish) {
    return FinishIf([pod](MoveName name) { return name.pod() == pod; }, finish);
  }
  // Whether a move of the pod is announced that the caller saw in the pod's slot (invariant 2).
  bool IsUnderWay(PodId pod) {
    bool is_found = false;
    FinishOf(pod, [&is_found](const Move&, const auto&) {
      is_found = true;
      return false;
    });
    return is_found;
  }

 private:
  static constexpr uint32_t kFirstBits = 2;

  Cell& OwnCell() {
    const uint32_t thread = Seam<Atom>::ThreadIndex();
    // Acquire pairs with the raise in MakeCell: without it the thread could miss that another one,
    // of a larger number, has made its cell.
    if (thread >= LoadAcquire(threads_)) MakeCell(thread);
    return cells_[thread];
  }

  template <typename IsWanted, typename Finish>
  bool FinishIf(const IsWanted& is_wanted, const Finish& finish) {
    bool is_any_finished = false;
    // Acquire pairs with the release in MakeCell: without it the cell could be read before it was
    // made.
    const uint32_t threads = LoadAcquire(threads_);
    for (uint32_t thread = 0; thread < threads; ++thread) {
      Cell& cell = cells_[thread];
      for (uint32_t i = 0; i < kAtOnce; ++i) {
        is_any_finished |=
            FinishOne(cell.names[i], is_wanted, finish, &cell.notes[i], &cell.flights[i]);
      }
      // Acquire pairs with AnnounceMany: without it entries of an older list could be read.
      const uint32_t count = LoadAcquire(cell.many_count);
      for (uint32_t i = 0; i < count; ++i) {
        is_any_finished |= FinishOne(cell.many[i], is_wanted, finish, nullptr, nullptr);
      }
    }
    return is_any_finished;
  }

  template <typename IsWanted, typename Finish>
  static bool FinishOne(Atom<uint64_t>& announced, const IsWanted& is_wanted, const Finish& finish,
                        const Atom<uint32_t>* note, const Atom<uint32_t>* flight) {
    // Acquire pairs with Withdraw and Announce: see there.
    uint64_t bits = LoadAcquire(announced);
    if (bits == 0 || !is_wanted(MoveName(bits))) return false;
    Move move{MoveName(bits), 0, {}};
    if (note != nullptr) {
      // Acquire pairs with Announce: if they are a later move's, the name is seen to have changed.
      move.note = LoadAcquire(*note);
      move.flight = FlightPosition{LoadAcquire(*flight)};
      if (LoadRelaxed(announced) != bits) return false;
    }
    // Acquire pairs with Withdraw.
    const auto is_under_way = [&] { return LoadAcquire(announced) == bits; };
    if (!finish(move, is_under_way)) return false;
    // Release: a thread that sees it withdrawn sees it finished. The failure's value is not used.
    announced.compare_exchange_strong(bits, 0, std::memory_order_release,
                                      std::memory_order_relaxed);
    return true;
  }

  [[gnu::noinline, gnu::cold]] void MakeCell(uint32_t thread) {
    cells_.ReserveThrough(thread);
    uint32_t seen = LoadRelaxed(threads_);
    // Release pairs with the acquire in FinishIf. Each retry is another new thread.
    while (seen <= thread &&
           !threads_.compare_exchange_weak(seen, thread + 1, std::memory_order_release,
                                           std::memory_order_relaxed)) {
    }
  }

  // Written when an operation is left by an exception, and by the one that finishes that.
  Atom<bool> has_left_{false};
  // Raised by a thread's first announcement.
  Atom<uint32_t> threads_{0};
  SegmentedArray<Cell, Atom> cells_;
};

}  // namespace schedq
