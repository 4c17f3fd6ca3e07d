// The events since the oldest attempt in flight began, in one list, and who still needs them.
//
// Purpose: a pod in flight holds the event that was the last one when its attempt began; when it
// fails it judges what is behind that. To go in flight and to end cost one exchange each, whether
// there are events or not.
// Threads: all operations from any thread, lock-free; a retry means that another thread's step
// succeeded.
//
// No lost wake-up. An event is appended before the pool is scanned; a failing pod enters the pool
// and then reads the log again. Appending, scanning, entering and reading are seq_cst, so either
// the scan finds the pod or the pod finds the event.
//
// Invariants:
//  1. Only the first node is unlinked, once another is behind it and nobody holds it: it is killed,
//     so that nobody can hold it from then on, and then passed. So what is behind a held node
//     stays, and a reader that holds one needs no pinning.
//  2. What the first node held counts as dropped, and is destroyed when the node is passed.
//  3. A node that is held from before to after a look that shows it as the tail was linked, and
//     events that come later are behind it.
//  4. A node's generation grows with each use, so that only the incarnation that was seen as the
//     first node is killed. A late hold may meet another incarnation; it is noticed and given back.
// Memory: a node for each event behind the oldest position that is held, and one more; at the most
// as many as were ever needed at one time.
// Source: M. Michael and M. Scott, Simple, Fast, and Practical Non-Blocking and Blocking Concurrent
// Queue Algorithms, 1996 (counted links, type-stable nodes); holds and killing are our own.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "engine/base/atom.h"
#include "engine/base/index_pool.h"
#include "engine/base/result.h"
#include "engine/base/zeroed_memory.h"
#include "engine/event.h"
#include "engine/logged_event.h"

namespace schedq {

// Where an attempt in flight began: behind this node of the log.
struct FlightPosition {
  uint32_t node_plus_one = 0;  // 0: not in flight.

  bool IsSet() const { return node_plus_one != 0; }
  uint32_t node() const { return node_plus_one - 1; }
  bool operator==(const FlightPosition&) const = default;
};

template <template <typename> class Atom>
class EventLog {
 public:
  explicit EventLog(uint32_t first_bits = 6) : nodes_(first_bits) {
    const uint32_t first = nodes_.Allocate();
    nodes_[first].BeginEmpty();
    head_.store(Link{first, 0}.Bits());
    tail_.store(Link{first, 0}.Bits());
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

  // An attempt begins. Linearization point: the exchange that holds the last node.
  template <typename Dropped>
  FlightPosition Begin(Dropped dropped) {
    for (;;) {
      const Link tail = FindLast().tail;
      if (!nodes_[tail.node].TryHold()) continue;
      if (tail_.load() == tail.Bits()) return {tail.node + 1};
      GiveBack(tail.node, dropped);
    }
  }

  // The attempt is over. Calls `dropped(EventLabel)` for each event that nobody needs now.
  template <typename Dropped>
  void End(FlightPosition position, Dropped dropped) {
    GiveBack(position.node(), dropped);
  }

  // Whether nobody is in flight and nothing is kept. Linearization point: the look at the holds. An
  // event that is linked stays linked, so the first node, without a successor later, had none then.
  bool IsEmpty() const {
    // A retry means that another thread passed a node.
    for (;;) {
      const uint64_t head = head_.load();
      const Node& first = nodes_[Link::From(head).node];
      const bool is_held = first.IsHeld();
      const bool is_last = first.LoadNext().node == Link::kNone;
      if (head_.load() == head) return is_last && !is_held;
    }
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

  // Keeps what is behind the position readable even if the attempt is ended by somebody else.
  // Nothing: `is_in_flight()`, asked once the position is held, says that the attempt is over.
  template <typename IsInFlight, typename Dropped>
  std::optional<Cursor> BeginReading(FlightPosition position, IsInFlight is_in_flight,
                                     Dropped dropped) {
    if (!nodes_[position.node()].TryHold()) return std::nullopt;
    if (is_in_flight()) return Cursor{position.node()};
    GiveBack(position.node(), dropped);
    return std::nullopt;
  }
  // Calls `visit(const LoggedEvent&)` for each event behind the cursor, and moves it there.
  template <typename Visit>
  void ReadOn(Cursor* cursor, Visit visit) const {
    for (;;) {
      const uint32_t next = nodes_[cursor->node].LoadNext().node;
      if (next == Link::kNone) return;
      cursor->node = next;
      visit(nodes_[next].logged());
    }
  }
  template <typename Dropped>
  void EndReading(FlightPosition position, Dropped dropped) {
    GiveBack(position.node(), dropped);
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

    // The log's first node, behind which nothing is.
    void BeginEmpty() {
      StoreRelaxed(state_, kAlive);
      next_.store(Link{}.Bits());
    }
    void BeginEvent(LoggedEvent logged) {
      StoreRelaxed(label_, uint32_t{logged.event.label});
      new (storage_) LoggedEvent(std::move(logged));
      has_event_ = true;
      ResetNext();
      const uint64_t generation = (LoadRelaxed(state_) & kGenerationMask) + kOneGeneration;
      StartLife(generation | kAlive);
    }
    // The owner of a node that was passed, or of the whole log.
    void Forget() {
      if (has_event_) logged().~LoggedEvent();
      has_event_ = false;
    }

    const LoggedEvent& logged() const {
      return *std::launder(reinterpret_cast<const LoggedEvent*>(storage_));
    }
    // Relaxed: an event's label is written before the node is linked, and read after the link was.
    EventLabel label() const { return static_cast<EventLabel>(LoadRelaxed(label_)); }

    // Sequentially consistent, as all exchanges of the state are: of two threads that give up
    // neighbours, one must see both, or the head would stay behind for ever.
    uint64_t LoadState() const { return state_.load(); }
    bool IsHeld() const { return HoldsIn(LoadState()) != 0; }
    static bool IsHeldIn(uint64_t state) { return HoldsIn(state) != 0; }

    // False: the node was killed.
    bool TryHold() {
      uint64_t state = LoadRelaxed(state_);
      do {
        if ((state & kAlive) == 0) return false;
      } while (!state_.compare_exchange_weak(state, state + kOneHold));
      return true;
    }
    // Whether nobody holds the node any more.
    bool Unhold() {
      const uint64_t before = state_.fetch_sub(kOneHold);
      SCHEDQ_CHECK(HoldsIn(before) != 0, "a flight ends once");
      return HoldsIn(before) == 1;
    }
    // Nobody holds the node from now on, if nobody does in `seen` and nothing has changed.
    bool TryKill(uint64_t seen) {
      return (seen & kAlive) == 0 || state_.compare_exchange_strong(seen, seen & ~kAlive);
    }

    // Sequentially consistent: see "No lost wake-up".
    Link LoadNext() const { return Link::From(next_.load()); }
    bool ExchangeNext(Link expected, uint32_t node) {
      uint64_t bits = expected.Bits();
      return next_.compare_exchange_strong(bits, expected.To(node).Bits());
    }

   private:
    static constexpr uint64_t kAlive = 1;
    static constexpr uint64_t kOneHold = 2;
    static constexpr uint64_t kOneGeneration = uint64_t{1} << 32;
    static constexpr uint64_t kGenerationMask = ~(kOneGeneration - 1);

    static uint64_t HoldsIn(uint64_t state) { return (state & ~kGenerationMask) >> 1; }

    // Release, for a thread that comes to the node by an older way. It reads this state or link
    // with acquire and then looks whether the head or the tail still is the one that it came by.
    // The node was passed before this store, so it sees that the head has moved on. If the store
    // were relaxed, it might miss that, and kill or hold or link a node in its next life.
    void StartLife(uint64_t state) { StoreRelease(state_, state); }
    // The count of changes goes on, so that a thread that still has the node's former link fails.
    void ResetNext() {
      const Link before = Link::From(LoadRelaxed(next_));
      StoreRelease(next_, before.To(Link::kNone).Bits());
    }

    Atom<uint64_t> free_link_;
    // (generation, holds, alive). Written by the owner of a dead node, by holders, by who kills it.
    Atom<uint64_t> state_;
    // Written by who appends.
    Atom<uint64_t> next_;
    Atom<uint32_t> label_;  // A late reader may see another's and then fails.
    bool has_event_;        // The owner's: false for the log's very first node.
    alignas(LoggedEvent) std::byte storage_[sizeof(LoggedEvent)];
  };

  // The last node, and the link behind it that led nowhere while the tail was this.
  struct Last {
    Link tail;
    Link next;
  };
  Last FindLast() {
    for (;;) {
      const Link tail = Link::From(tail_.load());
      const Link next = nodes_[tail.node].LoadNext();
      if (tail_.load() != tail.Bits()) continue;
      if (next.node == Link::kNone) return {tail, next};
      MoveTail(tail, next.node);  // Somebody linked a node and has not moved the tail yet.
    }
  }

  void LinkIn(uint32_t number) {
    for (;;) {
      const Last last = FindLast();
      if (!nodes_[last.tail.node].ExchangeNext(last.next, number)) continue;
      MoveTail(last.tail, number);
      return;
    }
  }

  void MoveTail(Link tail, uint32_t node) {
    uint64_t expected = tail.Bits();
    tail_.compare_exchange_strong(expected, tail.To(node).Bits());
  }

  // Only the last holder of a node that has a successor may be what the head waits for. Who appends
  // the successor later trims after it.
  template <typename Dropped>
  void GiveBack(uint32_t number, Dropped dropped) {
    Node& node = nodes_[number];
    if (node.Unhold() && node.LoadNext().node != Link::kNone) Trim(dropped);
  }

  // Passes the head over what nobody needs.
  template <typename Dropped>
  void Trim(Dropped dropped) {
    for (;;) {
      const Link head = Link::From(head_.load());
      const Link tail = Link::From(tail_.load());
      Node& first = nodes_[head.node];
      const uint64_t state = first.LoadState();
      const Link next = first.LoadNext();
      if (head_.load() != head.Bits()) continue;
      if (next.node == Link::kNone || Node::IsHeldIn(state)) return;
      if (head.node == tail.node) {
        MoveTail(tail, next.node);
        continue;
      }
      if (!first.TryKill(state)) continue;
      // Read before the exchange: afterwards the node may be passed, and used again, by others.
      const EventLabel label = nodes_[next.node].label();
      uint64_t expected = head.Bits();
      if (!head_.compare_exchange_strong(expected, head.To(next.node).Bits())) continue;
      events_.fetch_sub(1, std::memory_order_relaxed);
      dropped(label);
      first.Forget();
      nodes_.Free(head.node);
    }
  }

  IndexPool<Node, Atom> nodes_;
  // Links to the first and to the last node or the one before it. Written by who passes nodes and
  // who appends them.
  alignas(kCacheLineBytes) Atom<uint64_t> head_;
  alignas(kCacheLineBytes) Atom<uint64_t> tail_;
  Atom<uint64_t> events_{0};
};

}  // namespace schedq
