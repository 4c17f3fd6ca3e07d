// The events since the oldest attempt in flight began, in one list, and which attempts still need
// them.
//
// Purpose: a pod in flight holds the event that was the last one when its attempt began; when it
// fails it judges what is behind that. To go in flight and to end cost one exchange each, whether
// there are events or not.
// Threads: all operations from any thread, lock-free; a retry means that another thread's step
// succeeded. A reader belongs to one thread at a time; several may read from one position.
//
// No lost wake-up. An event is appended before the pool is scanned; a failing pod enters the pool
// and then reads the log again. Appending, scanning, entering and reading are seq_cst, so either
// the scan finds the pod or the pod finds the event. A pod whose events were let go is told so.
//
// Invariants:
//  1. Only the first node is passed, once another is behind it. Before, it is killed, so that no
//     thread can hold it from then on. It is killed when no thread holds it, or when more than the
//     maximum of events are behind it. So what is behind a node that is held and alive is linked.
//  2. A node that is held when it is passed keeps its content until its last hold is given back.
//     It is freed by the thread that passed it or gave it back, whichever came last.
//  3. A reader holds the node that it reads. It holds the next one before it sees that its own is
//     alive: then the next one was linked when it was held. If its own was killed, events behind it
//     may be gone, and the reader has missed them.
//  4. What the first node held counts as dropped.
//  5. A node that is held from before to after a look that shows it as the tail was linked, and
//     events that come later are behind it.
//  6. A node's generation grows with each use, so that only the incarnation that was seen as the
//     first node is killed. A late hold may meet another incarnation; it is noticed and given back.
//  7. The head's count of changes is the number of nodes that were passed, the tail's the number of
//     those that were appended. The head never is before the tail's node by more than these tell.
// Memory: a node for each event behind the oldest position that is held, at most the maximum and
// one for each thread that appends; one more; and one for each position that is held before them.
// Nodes are used again, and as many stay as were ever needed at one time. An operation passes at
// most kLogTrimMax nodes, so when an old position is given up the rest goes with later operations:
// while no position is held, with each append and with each end.
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

// `Dropped` is called with the label of each event that is let go. `Shape` has kFirstLogBits,
// kLogEventsMax (how many events are kept at most) and kLogTrimMax (how many are let go by one
// operation at most).
template <template <typename> class Atom, typename Dropped, typename Shape>
class EventLog {
  static_assert(Shape::kLogTrimMax >= 2, "an append lets more events go than it adds");
  static_assert(Shape::kLogEventsMax >= 1, "the newest event is kept");

 public:
  explicit EventLog(Dropped dropped) : dropped_(std::move(dropped)), nodes_(Shape::kFirstLogBits) {
    const uint32_t first = nodes_.Allocate();
    nodes_[first].BeginEmpty();
    head_.store(Link{first, 0}.Bits());
    tail_.store(Link{first, 0}.Bits());
  }
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  // No attempt is in flight: the content of a node that is held but not linked would stay.
  ~EventLog() {
    for (uint32_t node = Link::From(head_.load()).node; node != Link::kNone;) {
      const uint32_t next = nodes_[node].LoadNext().node;
      nodes_[node].Forget();
      node = next;
    }
  }

  // An attempt begins. Linearization point: the exchange that holds the last node.
  FlightPosition Begin() { return {HoldLast() + 1}; }

  // The attempt is over: events that no attempt needs now are let go.
  void End(FlightPosition position) { GiveBack(position.node()); }

  // Whether no attempt is in flight that could read an event appended now, and nothing is kept.
  // An attempt whose events were let go reads none. Linearization point: the look at the holds. An
  // event that is linked stays linked, so the first node, without a successor later, had none then.
  bool IsEmpty() const {
    // A retry means that another thread passed a node.
    for (;;) {
      const uint64_t head = head_.load();
      const Node& first = nodes_[Link::From(head).node];
      const bool is_held = first.LoadState().IsHeld();
      const bool is_last = first.LoadNext().node == Link::kNone;
      if (head_.load() == head) return is_last && !is_held;
    }
  }

  // Linearization point: the exchange that links the node.
  void Append(LoggedEvent logged) {
    const uint32_t number = nodes_.Allocate();
    nodes_[number].BeginEvent(std::move(logged));
    LinkIn(number);
    // Makes room for the event, or drops it: the last pod may have ended just before, and then no
    // other thread would.
    Trim();
  }

  // Reads what is behind a position, and keeps it readable meanwhile, but for what has to make
  // room. Holds one node while it lives.
  class Reader {
   public:
    Reader(Reader&& other) noexcept
        : log_(other.log_),
          node_(std::exchange(other.node_, Link::kNone)),
          has_moved_(other.has_moved_) {}
    Reader& operator=(Reader&& other) noexcept {
      std::swap(log_, other.log_);
      std::swap(node_, other.node_);
      std::swap(has_moved_, other.has_moved_);
      return *this;
    }
    ~Reader() {
      if (!HasMissed()) GiveUp();
    }

    // The next event, good until the reader is used again. Null: there is none, or it was let go.
    [[gnu::always_inline]] const LoggedEvent* Next() {
      if (HasMissed()) return nullptr;
      const uint32_t next = log_->nodes_[node_].LoadNext().node;
      if (next == Link::kNone) return nullptr;
      if (!log_->HoldBehind(node_, next)) {
        GiveUp();
        return nullptr;
      }
      log_->GiveBackLinked(std::exchange(node_, next));
      has_moved_ = true;
      return &log_->nodes_[next].logged();
    }

    // Whether events behind the position were let go before they were read. Something happened,
    // and it is not known what.
    bool HasMissed() const { return node_ == Link::kNone; }

    // Goes behind the newest event, whatever was missed. Linearization point: as Begin.
    [[gnu::noinline]] void SkipToEnd() {
      const uint32_t last = log_->HoldLast();
      GiveUp();
      node_ = last;
    }

   private:
    friend class EventLog;
    Reader(EventLog* log, uint32_t node) : log_(log), node_(node) {}

    [[gnu::noinline]] void GiveUp() {
      if (node_ == Link::kNone) return;
      log_->GiveBack(std::exchange(node_, Link::kNone));
      // Nodes that were given back on the way may be what the head waited for.
      if (std::exchange(has_moved_, false)) log_->Trim();
    }

    EventLog* log_;
    uint32_t node_;
    bool has_moved_ = false;
  };

  // A reader of what is behind the position of an attempt that any thread may end meanwhile.
  // Nothing: `is_in_flight()`, asked once the position is held, says that the attempt is over. The
  // caller has seen the position in a way that orders this behind the attempt's beginning.
  template <typename IsInFlight>
  std::optional<Reader> BeginReading(FlightPosition position, IsInFlight is_in_flight) {
    // A node that was killed after the attempt began was passed to make room.
    const bool is_held = nodes_[position.node()].TryHold();
    std::optional<Reader> reader(Reader(this, is_held ? position.node() : Link::kNone));
    if (!is_in_flight()) reader.reset();
    return reader;
  }

  // Events that are kept. Exact while no thread appends or lets go; never below zero, because the
  // head is read first and never passes the tail.
  uint64_t events() const {
    const Link head = Link::From(head_.load());
    return Kept(head, Link::From(tail_.load()));
  }
  // Nodes that were ever in use at one time, and are used again.
  uint64_t nodes() const { return nodes_.Used(); }

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
  static uint32_t Kept(Link head, Link tail) { return tail.changes - head.changes; }

  // What may be done with a node.
  struct State {
    static constexpr uint64_t kAlive = 1;   // It can be held.
    static constexpr uint64_t kLinked = 2;  // The head has not passed it.
    static constexpr uint64_t kOneHold = 4;
    static constexpr uint64_t kOneGeneration = uint64_t{1} << 32;

    uint64_t bits = 0;

    bool IsAlive() const { return (bits & kAlive) != 0; }
    bool IsLinked() const { return (bits & kLinked) != 0; }
    bool IsHeld() const { return (bits & (kOneGeneration - kOneHold)) != 0; }
    State NextGeneration() const {
      return {(bits & ~(kOneGeneration - 1)) + kOneGeneration + (kAlive | kLinked)};
    }
  };

  class Node {
   public:
    Atom<uint64_t>& FreeLink() { return free_link_; }

    // The log's first node, behind which nothing is.
    void BeginEmpty() {
      StoreRelaxed(state_, State::kAlive | State::kLinked);
      next_.store(Link{}.Bits());
    }
    void BeginEvent(LoggedEvent logged) {
      StoreRelaxed(label_, uint32_t{logged.event.label});
      new (storage_.Mutable().bytes) LoggedEvent(std::move(logged));
      has_event_ = true;
      ResetNext();
      StartLife(State{LoadRelaxed(state_)}.NextGeneration());
    }
    // The owner of a node that no other thread can reach, or of the whole log.
    void Forget() {
      if (has_event_) {
        std::launder(reinterpret_cast<LoggedEvent*>(storage_.Mutable().bytes))->~LoggedEvent();
      }
      has_event_ = false;
    }

    const LoggedEvent& logged() const {
      return *std::launder(reinterpret_cast<const LoggedEvent*>(storage_.Read().bytes));
    }
    // Relaxed: an event's label is written before the node is linked, and read after the link was.
    EventLabel label() const { return static_cast<EventLabel>(LoadRelaxed(label_)); }

    // Sequentially consistent, as all exchanges of the state are: of two threads that give up
    // neighbours, one must see both, or the head would stay behind for ever. And a reader that sees
    // its node alive after it held the next one came before the thread that killed either
    // (invariant 3).
    State LoadState() const { return {state_.load()}; }

    // False: the node was killed.
    // Acquire: a thread that finds the node killed, because its attempt is over, sees that it is
    // over.
    bool TryHold() {
      uint64_t state = LoadAcquire(state_);
      do {
        if (!State{state}.IsAlive()) return false;
      } while (!state_.compare_exchange_weak(state, state + State::kOneHold));
      return true;
    }
    // Returns what is left.
    State Unhold() {
      const State before{state_.fetch_sub(State::kOneHold)};
      SCHEDQ_CHECK(before.IsHeld(), "a hold is given back once");
      return {before.bits - State::kOneHold};
    }
    State Unlink() { return {state_.fetch_sub(State::kLinked) - State::kLinked}; }
    // No thread can hold the node from now on, if nothing has changed since `seen`.
    bool TryKill(State seen) {
      const uint64_t dead = seen.bits - State::kAlive;
      return !seen.IsAlive() || state_.compare_exchange_strong(seen.bits, dead);
    }

    // Sequentially consistent: see "No lost wake-up".
    Link LoadNext() const { return Link::From(next_.load()); }
    bool ExchangeNext(Link expected, uint32_t node) {
      uint64_t bits = expected.Bits();
      return next_.compare_exchange_strong(bits, expected.To(node).Bits());
    }

   private:
    // Release, for a thread that comes to the node by an older way. It reads this state or link
    // with acquire and then looks whether the head or the tail still is the one that it came by.
    // The node was passed before this store, so it sees that the head has moved on. If the store
    // were relaxed, it might miss that, and kill or hold or link a node in its next life.
    void StartLife(State state) { StoreRelease(state_, state.bits); }
    // The count of changes goes on, so that a thread that still has the node's former link fails.
    void ResetNext() {
      const Link before = Link::From(LoadRelaxed(next_));
      StoreRelease(next_, before.To(Link::kNone).Bits());
    }

    Atom<uint64_t> free_link_;
    // Written by the owner of a dead node, by holders, by the threads that kill and pass it.
    Atom<uint64_t> state_;
    // Written by the appender.
    Atom<uint64_t> next_;
    Atom<uint32_t> label_;  // A late reader may see another's and then fails.
    bool has_event_;        // The owner's: false for the log's very first node.
    // Written by the appender, read by holders, destroyed by the thread that frees the node.
    struct alignas(LoggedEvent) Storage {
      std::byte bytes[sizeof(LoggedEvent)];
    };
    typename Seam<Atom>::template Plain<Storage> storage_;
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
      MoveTail(tail, next.node);  // A thread linked a node and has not moved the tail yet.
    }
  }

  [[gnu::always_inline]] uint32_t HoldLast() {
    for (;;) {
      const Link tail = FindLast().tail;
      if (!nodes_[tail.node].TryHold()) continue;
      if (tail_.load() == tail.Bits()) return tail.node;
      GiveBack(tail.node);
    }
  }

  // Holds `next`, which was seen behind `node`, which the caller holds. False: `node` was passed.
  [[gnu::always_inline]] bool HoldBehind(uint32_t node, uint32_t next) {
    // A thread that sees the link sees the next node alive, unless it was killed, and `node` before
    // it.
    if (!nodes_[next].TryHold()) return false;
    if (nodes_[node].LoadState().IsAlive()) return true;
    GiveBack(next);
    return false;
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

  // Only the last holder of a node that has a successor may be what the head waits for. The
  // appender of the successor trims after it. The last holder of another node trims too if the head
  // is behind it: an earlier operation has left it some.
  [[gnu::always_inline]] void GiveBack(uint32_t number) {
    const State left = GiveBackLinked(number);
    if (left.IsHeld() || !left.IsLinked()) return;
    if (nodes_[number].LoadNext().node != Link::kNone || IsBehind(number)) Trim();
  }
  // Whether the head has not come to the node. Relaxed: a late look leaves to a later operation
  // what no attempt needs.
  bool IsBehind(uint32_t number) const { return Link::From(LoadRelaxed(head_)).node != number; }
  // The same where the caller sees to it that the head goes on. Returns what is left.
  [[gnu::always_inline]] State GiveBackLinked(uint32_t number) {
    const State left = nodes_[number].Unhold();
    if (!left.IsHeld() && !left.IsLinked()) Free(number);
    return left;
  }

  // Passes the head over what no attempt needs, and over what has to make room.
  [[gnu::noinline]] void Trim() {
    for (uint32_t passed = 0; passed < Shape::kLogTrimMax;) {
      const Link head = Link::From(head_.load());
      const Link tail = Link::From(tail_.load());
      Node& first = nodes_[head.node];
      const State state = first.LoadState();
      const Link next = first.LoadNext();
      if (head_.load() != head.Bits()) continue;
      if (next.node == Link::kNone) return;
      const bool has_to_go = !state.IsAlive() || Kept(head, tail) > Shape::kLogEventsMax;
      if (state.IsHeld() && !has_to_go) return;
      if (head.node == tail.node) {
        MoveTail(tail, next.node);
        continue;
      }
      if (!first.TryKill(state)) continue;
      // Read before the exchange: afterwards the node may be passed, and used again, by others.
      const EventLabel label = nodes_[next.node].label();
      uint64_t expected = head.Bits();
      if (!head_.compare_exchange_strong(expected, head.To(next.node).Bits())) continue;
      ++passed;
      dropped_(label);
      Unlink(head.node);
    }
  }

  // Of a node that the caller passed. No thread can hold it any more, so that one without holds is
  // the caller's; of the caller and the last holder the later one frees it.
  void Unlink(uint32_t number) {
    Node& node = nodes_[number];
    if (node.LoadState().IsHeld() && node.Unlink().IsHeld()) return;
    Free(number);
  }

  void Free(uint32_t number) {
    nodes_[number].Forget();
    nodes_.Free(number);
  }

  const Dropped dropped_;
  IndexPool<Node, Atom> nodes_;
  // Links to the first and to the last node or the one before it. Written by threads that pass and
  // append nodes.
  alignas(kCacheLineBytes) Atom<uint64_t> head_;
  alignas(kCacheLineBytes) Atom<uint64_t> tail_;
};

}  // namespace schedq
