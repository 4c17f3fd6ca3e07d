// Small concurrent structures with a fault that can be switched on; the checkers must catch it.
//
// Each takes its Atom like shipped code, and a flag that plants the fault. Without the flag the
// structure is right, so that a test sees a checker accept and reject the same code.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/atom.h"

namespace schedq {

// Passes one value from one thread to another, with the orderings as parameters.
template <template <typename> class Atom, std::memory_order kStore, std::memory_order kLoad>
class Mailbox {
 public:
  void Put(int value) {
    value_.Write(value);
    full_.store(true, kStore);
  }
  std::optional<int> Take() {
    if (!full_.load(kLoad)) return std::nullopt;
    return value_.Read();
  }

 private:
  typename Seam<Atom>::template Plain<int> value_{0};
  Atom<bool> full_{false};
};

// Counts items, and lets a thread sleep until there is one. With the fault, the sleeper checks for
// items before it reads the word that it sleeps on, so that an item and its wake-up can come
// between the two.
template <template <typename> class Atom, bool kLosesWakeUps>
class SleepUntilItem {
 public:
  void Add() {
    items_.fetch_add(1);
    wake_ups_.fetch_add(1);
    Seam<Atom>::WakeOne(wake_ups_);
  }
  void AwaitItem() {
    for (;;) {
      if (kLosesWakeUps && items_.load() > 0) return;
      const uint32_t wake_ups = wake_ups_.load();
      if (!kLosesWakeUps && items_.load() > 0) return;
      Seam<Atom>::Wait(wake_ups_, wake_ups, std::nullopt);
    }
  }

 private:
  Atom<uint32_t> items_{0};
  Atom<uint32_t> wake_ups_{0};
};

enum class StackFault { kNone, kLeaksOnRetry, kTakesInTwoSteps };

// A stack of allocated nodes. Only one thread may call Pop, because it frees the node at once.
template <template <typename> class Atom, StackFault kFault = StackFault::kNone>
class NodeStack {
 public:
  ~NodeStack() { TakeAll(); }

  void Push(int value) {
    Node* node = new Node(value);
    Node* head = head_.load(std::memory_order_relaxed);
    for (;;) {
      node->next.store(head, std::memory_order_relaxed);
      if (Exchange(head, node)) return;
      if (kFault == StackFault::kLeaksOnRetry) node = new Node(value);
    }
  }

  std::optional<int> Pop() {
    Node* head = head_.load(std::memory_order_acquire);
    while (head != nullptr) {
      if (!Exchange(head, head->next.load(std::memory_order_relaxed))) continue;
      const int value = head->value;
      delete head;
      return value;
    }
    return std::nullopt;
  }

  // Takes and frees all nodes; any thread may call it.
  int TakeAll() {
    Node* node = nullptr;
    if (kFault == StackFault::kTakesInTwoSteps) {
      node = head_.load(std::memory_order_acquire);
      head_.store(nullptr, std::memory_order_relaxed);
    } else {
      node = head_.exchange(nullptr, std::memory_order_acquire);
    }
    int sum = 0;
    while (node != nullptr) {
      sum += node->value;
      Node* next = node->next.load(std::memory_order_relaxed);
      delete node;
      node = next;
    }
    return sum;
  }

 private:
  struct Node {
    explicit Node(int v) : value(v) {}
    const int value;
    Atom<Node*> next{nullptr};
  };

  bool Exchange(Node*& expected, Node* desired) {
    return head_.compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                         std::memory_order_acquire);
  }

  Atom<Node*> head_{nullptr};
};

// A queue of at most one item for each priority, 0 to 2. The right queue has a bit for each
// priority in one word, so that the exchange that claims the highest also validates that no higher
// one came. The faulty queue scans a word for each priority from the top, and an item may come
// above the scan.
template <template <typename> class Atom, bool kScansWithoutValidation>
class PriorityLanes {
 public:
  static constexpr int kLanes = 3;

  void Push(int priority) {
    if (kScansWithoutValidation) {
      lanes_[priority].store(1);
    } else {
      present_.fetch_or(uint32_t{1} << priority);
    }
  }

  // The priority popped, or -1.
  int Pop() { return kScansWithoutValidation ? PopScanning() : PopValidating(); }

 private:
  int PopScanning() {
    for (int priority = kLanes - 1; priority >= 0; --priority) {
      uint32_t one = 1;
      if (lanes_[priority].load() == 1 && lanes_[priority].compare_exchange_strong(one, 0)) {
        return priority;
      }
    }
    return -1;
  }

  int PopValidating() {
    uint32_t present = present_.load();
    while (present != 0) {
      int highest = kLanes - 1;
      while ((present >> highest & 1) == 0) --highest;
      if (present_.compare_exchange_strong(present, present & ~(uint32_t{1} << highest))) {
        return highest;
      }
    }
    return -1;
  }

  std::array<Atom<uint32_t>, kLanes> lanes_{};
  Atom<uint32_t> present_{0};
};

// Gives out each number once. With the fault it reads and writes in two steps.
template <template <typename> class Atom, bool kTakesTwoSteps>
class Tickets {
 public:
  int Next() {
    if (!kTakesTwoSteps) return next_.fetch_add(1);
    const int ticket = next_.load();
    next_.store(ticket + 1);
    return ticket;
  }

 private:
  Atom<int> next_{0};
};

// The specification of Tickets, for CheckLinearizable.
struct TicketSpec {
  using State = int;
  struct Operation {};
  using Result = int;
  static Result Apply(State& state, const Operation&) { return state++; }
  static std::string Describe(const Operation&) { return "next"; }
  static std::string Describe(const Result& result) { return std::to_string(result); }
};

enum class LockKind { kNone, kSpins, kSleeps };

// A counter. With a lock, a thread that is frozen while it holds the lock stops all others.
template <template <typename> class Atom, LockKind kLock>
class LockedCounter {
 public:
  void Add() {
    if (kLock == LockKind::kNone) {
      count_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    Lock();
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    Unlock();
  }
  uint64_t Count() const { return count_.load(std::memory_order_relaxed); }

 private:
  void Lock() {
    while (locked_.exchange(1, std::memory_order_acquire) != 0) {
      if (kLock == LockKind::kSpins) {
        Seam<Atom>::Pause();
      } else {
        Seam<Atom>::Wait(locked_, 1, std::nullopt);
      }
    }
  }
  void Unlock() {
    locked_.store(0, std::memory_order_release);
    if (kLock == LockKind::kSleeps) Seam<Atom>::WakeOne(locked_);
  }

  Atom<uint32_t> locked_{0};
  Atom<uint64_t> count_{0};
};

}  // namespace schedq
