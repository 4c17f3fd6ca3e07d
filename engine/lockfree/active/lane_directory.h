// Finds the lane of a priority, and decides which priorities deserve one.
//
// Purpose: real clusters have few distinct priorities, so each gets a lane. Where priorities are
// random 32-bit numbers a lane each would be useless: the first kLanesAtOnce priorities get a lane
// when they are first seen, further ones when they were seen several times in a short while, and
// when there are kLanesMax lanes the rest has none.
// Threads: all operations from any thread. Find is wait-free, FindOrAdmit lock-free.
// Invariants:
//  1. A snapshot never changes; a newer one is it plus one lane. Lanes live until the destructor.
//  2. A lane's number is the count of lanes before it.
// Memory: a lane and a snapshot for each priority that got one; at most kLanesMax of both.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/base/atom.h"

namespace schedq {

template <template <typename> class Atom, typename Lane, uint32_t kLanesAtOnce, uint32_t kLanesMax>
class LaneDirectory {
 public:
  struct Place {
    Lane* lane = nullptr;  // Nullptr: none.
    uint32_t number = 0;
  };

  class Snapshot {
   public:
    uint32_t count() const { return count_; }
    // In the order of falling priority.
    const Place* begin() const { return places_.data(); }
    const Place* end() const { return places_.data() + count_; }

    Place Find(int32_t priority) const {
      // At most half of the table is filled, so the probes end.
      for (uint32_t cell = CellOf(priority);; cell = (cell + 1) % kCells) {
        const Place& place = table_[cell];
        if (place.lane == nullptr || place.lane->priority() == priority) return place;
      }
    }

   private:
    friend class LaneDirectory;
    // Wide enough that most priorities are found at the first probe.
    static constexpr uint32_t kCellsBits = std::bit_width(4 * kLanesMax - 1);
    static constexpr uint32_t kCells = uint32_t{1} << kCellsBits;

    static uint32_t CellOf(int32_t priority) {
      return (static_cast<uint32_t>(priority) * 0x9e3779b1U) >> (32 - kCellsBits);
    }

    void Insert(const Place& place) {
      uint32_t index = count_++;
      for (; index > 0 && places_[index - 1].lane->priority() < place.lane->priority(); --index) {
        places_[index] = places_[index - 1];
      }
      places_[index] = place;
      uint32_t cell = CellOf(place.lane->priority());
      while (table_[cell].lane != nullptr) cell = (cell + 1) % kCells;
      table_[cell] = place;
    }

    uint32_t count_ = 0;
    std::array<Place, kLanesMax> places_{};
    std::array<Place, kCells> table_{};
    const Snapshot* before_ = nullptr;
  };

  LaneDirectory() : snapshot_(new Snapshot) {}
  LaneDirectory(const LaneDirectory&) = delete;
  LaneDirectory& operator=(const LaneDirectory&) = delete;
  ~LaneDirectory() {
    const Snapshot* snapshot = &Current();
    for (const Place& place : *snapshot) delete place.lane;
    while (snapshot != nullptr) delete std::exchange(snapshot, snapshot->before_);
  }

  // Acquire pairs with the release in TryAdd: without it the snapshot's content, or a lane's, could
  // be read before it was written.
  const Snapshot& Current() const { return *LoadAcquire(snapshot_); }

  // The lane of `priority`, made now if it deserves one. `weight`: how many entries want it.
  Place FindOrAdmit(int32_t priority, size_t weight) {
    // Each round without an answer means that another thread added a lane, of which there are few.
    for (;;) {
      const Snapshot* current = &Current();
      const Place found = current->Find(priority);
      if (found.lane != nullptr || current->count() == kLanesMax) return found;
      if (current->count() >= kLanesAtOnce && !IsFrequent(priority, weight)) return {};
      const Place added = TryAdd(current, priority);
      if (added.lane != nullptr) return added;
    }
  }

 private:
  static constexpr uint32_t kSightings = 64;
  static constexpr uint64_t kFrequent = 3;

  // Release pairs with the acquire in Current. The failure's value is not used.
  bool ExchangeSnapshot(const Snapshot* expected, const Snapshot* desired) {
    return snapshot_.compare_exchange_strong(expected, desired, std::memory_order_release,
                                             std::memory_order_relaxed);
  }

  Place TryAdd(const Snapshot* current, int32_t priority) {
    auto lane = std::make_unique<Lane>(priority);
    std::unique_ptr<Snapshot> next(new Snapshot(*current));
    const Place place{lane.get(), current->count()};
    next->Insert(place);
    next->before_ = current;
    if (!ExchangeSnapshot(current, next.get())) return {};
    lane.release();
    next.release();
    return place;
  }

  // A small table of priorities that were pushed lately: (priority, count). Races lose counts,
  // which only delays a lane; so all is relaxed.
  bool IsFrequent(int32_t priority, size_t weight) {
    const uint64_t named = uint64_t{static_cast<uint32_t>(priority)} << 32;
    Atom<uint64_t>& sighting = sightings_[(named * 0x9e3779b97f4a7c15ULL) >> 58];
    static_assert(kSightings == 64, "the shift above leaves six bits");
    const uint64_t before = LoadRelaxed(sighting);
    const uint64_t count = ((before ^ named) >> 32 == 0 ? before & 0xffffffff : 0) + weight;
    StoreRelaxed(sighting, named | (count & 0xffffffff));
    return count >= kFrequent;
  }

  // Written by a thread that adds a lane. A thread that reads an old one finds the new lane's
  // number in no occupancy that it read before.
  Atom<const Snapshot*> snapshot_;
  // Written by pushes without a lane.
  std::array<Atom<uint64_t>, kSightings> sightings_{};
};

}  // namespace schedq
