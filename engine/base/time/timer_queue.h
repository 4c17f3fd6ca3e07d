// Pending timers in order of (instant, order of scheduling): what both clocks have in common.
//
// When not to use it: directly; clocks and the code above them use Clock.
// Threads: one at a time; the clocks hold a lock around it. O(log n) to add and take, O(1) to
// cancel.
// Invariants:
//  1. A live timer has exactly one entry in the heap, except that a one-shot timer has none while
//     its action runs; it is not live then.
//  2. Entries of cancelled timers are at most half of the heap, and at most kDeadEntriesMin more.
// Memory: proportional to the most timers that were pending at one time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"

namespace schedq {

class TimerQueue {
 public:
  struct Due {
    TimerId id;
    Instant at;
    std::function<void()> action;
  };

  // A zero period means once.
  TimerId Add(Instant at, Duration period, std::function<void()> action);
  // False: unknown, cancelled, or a one-shot timer that was taken.
  bool Cancel(TimerId id);

  // When the earliest timer is due.
  std::optional<Instant> NextInstant();
  // The earliest timer. A periodic one is scheduled again, for its first tick after `now`, before
  // its action runs; the caller hands the action back through GiveBack. There must be one.
  Due TakeNext(Instant now);
  void GiveBack(Due due);

  size_t size() const { return live_; }

 private:
  static constexpr size_t kDeadEntriesMin = 64;

  struct Slot {
    std::function<void()> action;
    Duration period{0};
    uint32_t generation = 0;
    bool live = false;
  };
  struct Entry {
    Instant at;
    uint64_t order;
    TimerId id;
  };
  struct Later {
    bool operator()(const Entry& left, const Entry& right) const {
      return left.at != right.at ? left.at > right.at : left.order > right.order;
    }
  };

  Slot* LiveSlot(TimerId id);
  void Retire(TimerId id);
  void PushEntry(Instant at, TimerId id);
  void PopEntry();
  void DropDeadOnTop();
  void Compact();

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  uint64_t next_order_ = 0;
  size_t live_ = 0;
  size_t dead_entries_ = 0;
};

}  // namespace schedq
