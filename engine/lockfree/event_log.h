// The pods in flight and the events since the oldest of them was popped, in one list.
//
// Purpose: a pod that fails judges the events behind its own node. Ending the oldest pod frees the
// events up to the next one.
// Threads: all operations from any thread, lock-free; a retry means that another thread's step
// succeeded.
//
// No lost wake-up. An event is appended before the pool is scanned; a failing pod enters the pool
// and then reads the log again. Appending, scanning, entering and reading are seq_cst, so either
// the scan finds the pod or the pod finds the event.
//
// Invariants:
//  1. A node in front of which no pod is in flight is unlinked: an event at once, a pod once it has
//     ended and nobody reads from it. So what a reader walks over stays, and needs no pinning.
//  2. The first node is a dummy: what it held counts as dropped, and is destroyed when the next one
//     takes its place.
//  3. A node's generation grows with each use, so that a late reader does not take it for its own.
// Memory: a node for each pod in flight and each event behind the oldest of them, and one more; at
// the most as many as were ever needed at one time.
// Source: M. Michael and M. Scott, Simple, Fast, and Practical Non-Blocking and Blocking Concurrent
// Queue Algorithms, 1996 (counted links, type-stable nodes); the condition on removal is our own.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "engine/base/index_pool.h"
#include "engine/logged_event.h"

namespace schedq {

// The node of a pod in flight.
struct FlightPosition {
  uint32_t node = 0;
  uint32_t generation = 0;  // Of a pod's node never 0, so a zero position is none.

  bool IsSet() const { return generation != 0; }
  bool operator==(const FlightPosition&) const = default;
};

template <template <typename> class Atom>
class EventLog {
 public:
  explicit EventLog(uint32_t first_bits = 6) : nodes_(first_bits) {
    const uint32_t dummy = nodes_.Allocate();
    nodes_[dummy].BeginDummy();
    head_.store(Link{dummy, 0}.Bits());
    tail_.store(Link{dummy, 0}.Bits());
  }
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  ~EventLog() {
    for (uint32_t node = Link::From(head_.load()).node; node != Link::kNone;) {
      const uint32_t next = nodes_[node].LoadNext().node;
      nodes_[node].Forget();
      node = next;
    }
  }

  // A pod goes in flight. Linearization point: the exchange that links the node.
  FlightPosition Begin() {
    const uint32_t number = nodes_.Allocate();
    const uint32_t generation = nodes_[number].BeginPod();
    LinkIn(number);
    return {number, generation};
  }

  // The pod's attempt is over. Calls `dropped(EventLabel)` for each event that nobody needs now.
  template <typename Dropped>
  void End(FlightPosition position, Dropped dropped) {
    nodes_[position.node].EndPod(position.generation);
    Trim(dropped);
  }

  // Whether nobody is in flight and nothing is kept. Linearization point: the second load.
  bool IsEmpty() const {
    const Link tail = Link::From(tail_.load());
    return tail.node == Link::From(head_.load()).node &&
           nodes_[tail.node].LoadNext().node == Link::kNone;
  }

  // Linearization point: the exchange that links the node.
  template <typename Dropped>
  void Append(LoggedEvent logged, Dropped dropped) {
    const uint32_t number = nodes_.Allocate();
    nodes_[number].BeginEvent(std::move(logged));
    LinkIn(number);
    events_.fetch_add(1, std::memory_order_relaxed);
    // The last pod may have ended just before; then nobody else would drop this event.
    Trim(dropped);
  }

  // Where a reader stands: it has judged everything up to here.
  struct Cursor {
    uint32_t node = 0;
  };

  // Keeps what is behind a pod's node readable even if its attempt is ended by somebody else.
  // Nothing: the attempt is over.
  std::optional<Cursor> BeginReading(FlightPosition position) {
    if (!nodes_[position.node].TryHold(position.generation)) return std::nullopt;
    return Cursor{position.node};
  }
  // Calls `visit(const LoggedEvent&)` for each event behind the cursor, and moves it there.
  template <typename Visit>
  void ReadOn(Cursor* cursor, Visit visit) const {
    for (;;) {
      const uint32_t next = nodes_[cursor->node].LoadNext().node;
      if (next == Link::kNone) return;
      cursor->node = next;
      if (nodes_[next].IsEvent()) visit(nodes_[next].logged());
    }
  }
  template <typename Dropped>
  void EndReading(FlightPosition position, Dropped dropped) {
    nodes_[position.node].Unhold();
    Trim(dropped);
  }

  // Events that are kept. May be stale.
  uint64_t events() const { return LoadRelaxed(events_); }

 private:
  // A node's number with a count of changes.
  struct Link {
    static constexpr uint32_t kNone = ~uint32_t{0};
    uint32_t node = kNone;
    uint32_t changes = 0;

    static Link From(uint64_t bits) {
      return {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)};
    }
    uint64_t Bits() const { return uint64_t{changes} << 32 | node; }
    Link To(uint32_t next) const { return {next, changes + 1}; }
  };

  class Node {
   public:
    Atom<uint64_t>& FreeLink() { return free_link_; }

    void BeginDummy() { next_.store(Link{}.Bits()); }
    uint32_t BeginPod() {
      const uint32_t generation = BeginGeneration();
      StoreRelaxed(state_, uint64_t{generation} << 32);
      ResetNext();
      return generation;
    }
    void BeginEvent(LoggedEvent logged) {
      StoreRelaxed(label_, uint32_t{logged.event.label});
      new (storage_) LoggedEvent(std::move(logged));
      StoreRelaxed(state_, uint64_t{BeginGeneration()} << 32 | kEvent);
      ResetNext();
    }
    // The owner of a node that was unlinked, or of the whole log.
    void Forget() {
      if (IsEvent()) logged().~LoggedEvent();
      StoreRelaxed(state_, LoadRelaxed(state_) & ~uint64_t{kEvent});
    }

    // Relaxed: a node's kind is written before the node is linked, and read after the link was.
    bool IsEvent() const { return (LoadRelaxed(state_) & kEvent) != 0; }
    const LoggedEvent& logged() const {
      return *std::launder(reinterpret_cast<const LoggedEvent*>(storage_));
    }
    EventLabel label() const { return static_cast<EventLabel>(LoadRelaxed(label_)); }

    // May the node be passed by the head? Sequentially consistent, as EndPod and Unhold are: of two
    // threads that end neighbours, one must see both, or the head would stay behind for ever.
    bool IsPassable() const {
      const uint64_t state = state_.load();
      return (state & kEvent) != 0 || (state & ~kGenerationMask) == kEnded;
    }

    void EndPod(uint32_t generation) {
      // Nobody but the winner of the exchange that took the pod out of flight ends it.
      const uint64_t before = state_.fetch_or(kEnded);
      SCHEDQ_CHECK(before >> 32 == generation && (before & kEnded) == 0, "a flight ends once");
    }
    // False: the pod of this generation has ended.
    bool TryHold(uint32_t generation) {
      uint64_t state = LoadRelaxed(state_);
      do {
        if (state >> 32 != generation || (state & kEnded) != 0) return false;
        // Acquire: what is behind the node is read after it is held.
      } while (!state_.compare_exchange_weak(state, state + kOneHold, std::memory_order_acquire,
                                             std::memory_order_relaxed));
      return true;
    }
    void Unhold() { state_.fetch_sub(kOneHold); }

    // Sequentially consistent: see "No lost wake-up".
    Link LoadNext() const { return Link::From(next_.load()); }
    bool ExchangeNext(Link expected, uint32_t node) {
      uint64_t bits = expected.Bits();
      return next_.compare_exchange_strong(bits, expected.To(node).Bits());
    }

   private:
    static constexpr uint64_t kEvent = 1;
    static constexpr uint64_t kEnded = 2;
    static constexpr uint64_t kOneHold = 4;
    static constexpr uint64_t kGenerationMask = ~uint64_t{0} << 32;

    uint32_t BeginGeneration() {
      const auto generation = static_cast<uint32_t>(LoadRelaxed(state_) >> 32) + 1;
      return generation == 0 ? 1 : generation;
    }
    // The count of changes goes on, so that a thread that still has the node's former link fails.
    void ResetNext() {
      const Link before = Link::From(LoadRelaxed(next_));
      // Release pairs with LoadNext: who reads this node's link sees its kind and content.
      StoreRelease(next_, before.To(Link::kNone).Bits());
    }

    Atom<uint64_t> free_link_;
    // (generation, holds, ended, event). Written by the owner, by holders and by who ends the pod.
    Atom<uint64_t> state_;
    // Written by who appends.
    Atom<uint64_t> next_;
    Atom<uint32_t> label_;  // Of an event; a late reader may see another's and then fails.
    alignas(LoggedEvent) std::byte storage_[sizeof(LoggedEvent)];
  };

  void LinkIn(uint32_t number) {
    for (;;) {
      const Link tail = Link::From(tail_.load());
      const Link next = nodes_[tail.node].LoadNext();
      if (tail_.load() != tail.Bits()) continue;
      if (next.node != Link::kNone) {
        MoveTail(tail, next.node);  // Somebody linked a node and has not moved the tail yet.
      } else if (nodes_[tail.node].ExchangeNext(next, number)) {
        MoveTail(tail, number);
        return;
      }
    }
  }

  void MoveTail(Link tail, uint32_t node) {
    uint64_t expected = tail.Bits();
    tail_.compare_exchange_strong(expected, tail.To(node).Bits());
  }

  // Passes the head over what nobody needs.
  template <typename Dropped>
  void Trim(Dropped dropped) {
    for (;;) {
      const Link head = Link::From(head_.load());
      const Link tail = Link::From(tail_.load());
      const Link next = nodes_[head.node].LoadNext();
      if (head_.load() != head.Bits()) continue;
      if (next.node == Link::kNone) return;
      if (head.node == tail.node) {
        MoveTail(tail, next.node);
        continue;
      }
      // Read before the exchange: afterwards the node may be passed, and used again, by others.
      if (!nodes_[next.node].IsPassable()) {
        if (head_.load() != head.Bits()) continue;
        return;
      }
      const bool is_event = nodes_[next.node].IsEvent();
      const EventLabel label = nodes_[next.node].label();
      uint64_t expected = head.Bits();
      if (!head_.compare_exchange_strong(expected, head.To(next.node).Bits())) continue;
      if (is_event) {
        events_.fetch_sub(1, std::memory_order_relaxed);
        dropped(label);
      }
      nodes_[head.node].Forget();
      nodes_.Free(head.node);
    }
  }

  IndexPool<Node, Atom> nodes_;
  // Links to the dummy and to the last node or the one before it. Written by all.
  alignas(kCacheLineBytes) Atom<uint64_t> head_;
  alignas(kCacheLineBytes) Atom<uint64_t> tail_;
  Atom<uint64_t> events_{0};
};

}  // namespace schedq
