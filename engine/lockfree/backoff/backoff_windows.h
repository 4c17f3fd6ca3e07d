// Pods that back off, by the second in which their backoff ends, best first within a second.
//
// Purpose: a ring of 1-second windows, each a small strict queue. Insert is one push; a flush takes
// whole windows in order; popping early looks at the first windows that hold something.
// When not to use it: for exact expirations (see TimeQueue in queue_parts.h).
// Threads: all operations from any thread, lock-free. However far apart seconds lie, an operation
// looks at each window at most once and at no second that no window serves.
// Invariants:
//  1. A window serves one second at a time. Before it is given to a later second it is closed, and
//     then seen empty: a push looks whether it is open after its entry is visible. So either the
//     entry is seen, or the push knows that no thread may look for it there. What has been closed
//     is still looked at.
//  2. Seconds with entries lie between `first` and `last`. An entry whose window serves another
//     second, or changed hands under it, is in `far`, ordered by second alone: of two entries of
//     one second the one in the window goes first.
//  3. Entries carry the version of their pod, so one that was pushed twice counts once.
// Memory: a window for each second of the ring that was ever used, at most Shape::kWindows. They
// share the memory of their runs: as much as was ever in use at one time. That of its heap, where
// entries that come unsorted go, each keeps for itself at the most that it ever held. A smaller
// ring would hold less, but where flushes are late it would send more beside the ring.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "engine/base/time/time.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"

namespace schedq {

// Windows are many and small. So are their buckets: mostly a window is not popped from while it
// fills, and its heap's front, which is copied when its bag is full, is a quarter of a bucket.
struct WindowShape : ActiveQueueShape {
  static constexpr uint32_t kRunsPerLane = 4;
  static constexpr uint32_t kLanesAtOnce = 8;
  static constexpr uint32_t kLanesMax = 8;
  static constexpr uint32_t kBucketEntries = 256;
  static constexpr uint32_t kFirstSegmentsBits = 1;
  // Threads rarely meet in one of so many, and each would have a line for it.
  static constexpr bool kTakesTurns = false;
};

struct BackoffWindowsShape {
  using Window = WindowShape;
  static constexpr int64_t kWindows = 1024;  // 17 minutes between the first and the last.
  // Enough that what a run costs as a whole hardly counts for each entry, and that the memory that
  // its pods are in comes while others are moved.
  static constexpr size_t kRunEntriesMax = 64;
};

// The window of an instant: its whole second of absolute time.
inline int64_t SecondOf(Instant instant) {
  return std::chrono::floor<std::chrono::seconds>(instant.time_since_epoch()).count();
}

enum class EarlyPop : uint8_t { kTaken, kEmpty, kChanged };

template <template <typename> class Atom, typename Shape = BackoffWindowsShape>
class BackoffWindows {
 public:
  static constexpr int64_t kWindows = Shape::kWindows;
  static constexpr size_t kRunEntriesMax = Shape::kRunEntriesMax;
  using Queue = ActiveQueue<Atom, typename Shape::Window>;

  BackoffWindows() = default;
  BackoffWindows(const BackoffWindows&) = delete;
  BackoffWindows& operator=(const BackoffWindows&) = delete;
  ~BackoffWindows() {
    for (auto& window : windows_) delete window.queue.load();
  }

  // Linearization point: the window's push.
  void Push(int64_t second, const ActiveEntry& entry) {
    Window& window = WindowOf(second);
    if (Claim(window, second)) {
      QueueOf(window).Push(entry);
      Widen(second);
      // The window may have been closed, to be given away, just before the push.
      if (window.served.load() == Open(second)) return;
    }
    far_.Push({0, second, entry.ticket});
    far_in_use_.store(true);
  }

  // How many segments of runs there are, used or to be used again. May be stale.
  uint64_t Segments() const { return segments_.Used(); }

  // Lets `taker` take the best entry of the first second that has one (ActiveQueue::TryTake), while
  // `is_unchanged()`, which is asked right before its claim: false gives it up (kChanged), and so
  // does a taker that leaves the entry.
  // Linearization point: that question.
  template <typename IsUnchanged, typename Taker>
  EarlyPop TryTakeFirst(IsUnchanged is_unchanged, Taker& taker) {
    const bool has_far = far_in_use_.load();
    const auto is_any = [](const ActiveEntry&) { return true; };
    EarlyPop outcome = EarlyPop::kEmpty;
    ForEachServed(first_.load(), last_.load(), [&](int64_t second, Queue& queue) {
      if (has_far) {
        const auto is_earlier = [&](const ActiveEntry& far) { return far.timestamp_ns < second; };
        outcome = TakeFrom(far_, is_earlier, is_unchanged, taker);
      }
      if (outcome == EarlyPop::kEmpty) outcome = TakeFrom(queue, is_any, is_unchanged, taker);
      return outcome != EarlyPop::kEmpty;
    });
    if (outcome != EarlyPop::kEmpty || !has_far) return outcome;
    return TakeFrom(far_, is_any, is_unchanged, taker);
  }

  // Shows every entry whose second is before `cutoff`, window by window, best first within one, and
  // drops it then (ActiveQueue::MoveFirst). Calls `move_run(std::span<ActiveEntry>)` with entries
  // of one priority in their order, at most kRunEntriesMax; and `move_ticket(ticket)` for those of
  // which nothing else was kept.
  template <typename MoveRun, typename MoveTicket>
  void Flush(int64_t cutoff, const MoveRun& move_run, const MoveTicket& move_ticket) {
    std::array<ActiveEntry, kRunEntriesMax> run;
    const int64_t last = std::min(last_.load(), cutoff - 1);
    const auto is_any = [](const ActiveEntry&) { return true; };
    ForEachServed(first_.load(), last, [&](int64_t, Queue& queue) {
      while (queue.MoveFirst(std::span(run), is_any, move_run) > 0) {
      }
      return false;
    });
    if (far_in_use_.load()) {
      const auto is_due = [&](const ActiveEntry& entry) { return entry.timestamp_ns < cutoff; };
      const auto move_each = [&](std::span<ActiveEntry> entries) {
        for (const ActiveEntry& entry : entries) move_ticket(entry.ticket);
      };
      while (far_.MoveFirst(std::span(run), is_due, move_each) > 0) {
      }
    }
    // A push that is late lowers it again (Widen).
    RaiseFirst(cutoff);
  }

 private:
  struct Window {
    // Twice the second, and one if the window is closed. Written by a thread that claims the
    // window.
    Atom<int64_t> served{Open(kNever)};
    // Set once.
    Atom<Queue*> queue{nullptr};
  };

  Window& WindowOf(int64_t second) {
    return windows_[static_cast<uint64_t>(second) % static_cast<uint64_t>(kWindows)];
  }

  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min() / 4;
  static constexpr int64_t Open(int64_t second) { return 2 * second; }
  static int64_t SecondServedBy(const Window& window) { return window.served.load() >> 1; }

  // Calls `visit(second, queue)` for each second from `first` to `last` that a window serves, in
  // their order, until it says true.
  template <typename Visit>
  void ForEachServed(int64_t first, int64_t last, const Visit& visit) {
    if (first > last) return;
    if (last - first >= kWindows) return ForEachServedOfMany(first, last, visit);
    for (int64_t second = first; second <= last; ++second) {
      if (VisitIfServed(second, visit)) return;
    }
  }
  // The same where there are more seconds than windows: asks the windows what they serve.
  template <typename Visit>
  [[gnu::noinline, gnu::cold]] void ForEachServedOfMany(int64_t first, int64_t last,
                                                        const Visit& visit) {
    std::array<int64_t, kWindows> served;
    int64_t* end = served.data();
    for (const Window& window : windows_) {
      const int64_t second = SecondServedBy(window);
      if (first <= second && second <= last) *end++ = second;
    }
    std::sort(served.data(), end);
    for (const int64_t* second = served.data(); second != end; ++second) {
      if (VisitIfServed(*second, visit)) return;
    }
  }
  template <typename Visit>
  bool VisitIfServed(int64_t second, const Visit& visit) {
    Window& window = WindowOf(second);
    return SecondServedBy(window) == second && visit(second, QueueOf(window));
  }

  // Whether the window serves `second` and is open. A window that was closed and is not empty
  // stays closed until it is; it needs no more pushes, for its second is long past.
  bool Claim(Window& window, int64_t second) {
    int64_t served = window.served.load();
    if (served >= Open(second)) return served == Open(second);
    Queue& queue = QueueOf(window);
    if (queue.Size() != 0) return false;
    const int64_t closed = served | 1;
    if (served != closed && !window.served.compare_exchange_strong(served, closed) &&
        served != closed) {
      return served == Open(second);
    }
    if (queue.Size() != 0) return false;
    served = closed;
    return window.served.compare_exchange_strong(served, Open(second)) || served == Open(second);
  }

  Queue& QueueOf(Window& window) {
    Queue* queue = window.queue.load();
    if (queue != nullptr) return *queue;
    auto fresh = std::make_unique<Queue>(segments_);
    if (window.queue.compare_exchange_strong(queue, fresh.get())) return *fresh.release();
    return *queue;
  }

  // After a push: the second is looked at from now on.
  void Widen(int64_t second) {
    int64_t last = last_.load();
    while (last < second && !last_.compare_exchange_weak(last, second)) {
    }
    int64_t first = first_.load();
    while (first > second && !first_.compare_exchange_weak(first, second)) {
    }
  }

  // Passes over windows that are empty and in the past.
  void RaiseFirst(int64_t cutoff) {
    int64_t first = first_.load();
    while (first < cutoff) {
      if (!first_.compare_exchange_weak(first, cutoff)) continue;
      // A push into a passed window may have read the old `first`: look once more, at each window
      // at most once, whatever second it serves.
      for (int64_t place = std::max(first, cutoff - kWindows); place < cutoff; ++place) {
        Window& window = WindowOf(place);
        const int64_t second = SecondServedBy(window);
        const bool is_passed = first <= second && second < cutoff;
        if (is_passed && QueueOf(window).Size() != 0) Widen(second);
      }
      return;
    }
  }

  // Asks the taker about entries that are wanted, and looks whether all is unchanged first.
  template <typename IsWanted, typename IsUnchanged, typename Taker>
  struct Asker {
    static constexpr bool kDropsToTake = Taker::kDropsToTake;
    static constexpr uint32_t kAhead = 0;
    Consent Ask(const ActiveEntry& first) {
      if (has_changed || !is_wanted(first)) return Consent::kLeave;
      const Consent consent = taker.Ask(first);
      has_changed = consent == Consent::kLeave;
      return consent;
    }
    bool Claim() {
      has_changed = !is_unchanged();
      return !has_changed && taker.Claim();
    }

    const IsWanted& is_wanted;
    const IsUnchanged& is_unchanged;
    Taker& taker;
    bool has_changed = false;
  };

  // The queue's first entry, if it `is_wanted`.
  template <typename IsWanted, typename IsUnchanged, typename Taker>
  static EarlyPop TakeFrom(Queue& queue, const IsWanted& is_wanted, const IsUnchanged& is_unchanged,
                           Taker& taker) {
    Asker<IsWanted, IsUnchanged, Taker> asker{is_wanted, is_unchanged, taker};
    switch (queue.TryTake(asker)) {
      case Taking::kTaken:
        return EarlyPop::kTaken;
      case Taking::kDropped:
        return EarlyPop::kChanged;
      default:
        return asker.has_changed ? EarlyPop::kChanged : EarlyPop::kEmpty;
    }
  }

  // Of all windows: as much as was in use at one time, not as each window once used.
  typename Queue::Segments segments_{Shape::Window::kFirstSegmentsBits,
                                     Shape::Window::kSegmentsMax};
  std::array<Window, kWindows> windows_;
  // Bounds of the seconds that may hold entries. Lowered and raised by pushes, `first` raised by
  // flushes; a stale reader of `first` looks at windows that are empty.
  Atom<int64_t> first_{std::numeric_limits<int64_t>::max()};
  Atom<int64_t> last_{std::numeric_limits<int64_t>::min()};
  Queue far_{segments_};
  Atom<bool> far_in_use_{false};
};

}  // namespace schedq
