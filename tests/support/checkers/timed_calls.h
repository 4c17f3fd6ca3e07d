// What one thread has called of a priority queue, and when.
//
// Purpose: the histories of stress runs, which JudgePriorityHistory (priority_judge.h) checks. Each
// thread has a TimedCalls of its own, and no thread writes what another one reads.
// When not to use it: under the model, which has no time; see tests/support/history.h.
// Allowed threads: one calls the queue through it; others read it after that one was joined.
// Invariants:
//   1. A call that has responded has invoked_ns <= responded_ns.
//   2. What the call did to memory is seen by a thread whose clock shows a later time than
//      responded_ns. A processor may keep a store to itself for a while, and a clock does not wait
//      for that. So an exchange, which on x86 empties the store buffer, stands before the second
//      reading of the clock, and another one after the first reading.
// Memory bound: 48 bytes a call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "engine/lockfree/active/active_entry.h"

namespace schedq {

struct TimedCall {
  enum class Kind : uint8_t { kPush, kPop, kPopNothing, kRemove };
  static constexpr uint64_t kPending = std::numeric_limits<uint64_t>::max();

  uint64_t invoked_ns = 0;
  uint64_t responded_ns = kPending;
  // Of a push and a pop: the entry. Of a removal: its ticket.
  ActiveEntry entry;
  Kind kind = Kind::kPush;
};
static_assert(sizeof(TimedCall) == 48, "the memory bound above");

class TimedCalls {
 public:
  explicit TimedCalls(size_t calls_expected) { calls_.reserve(calls_expected); }
  TimedCalls(const TimedCalls&) = delete;
  TimedCalls& operator=(const TimedCalls&) = delete;

  // Each runs the call, which does what its name says. A push may choose the entry's timestamp.
  template <typename Function>
  void Push(const ActiveEntry& entry, Function push) {
    const size_t place = Invoke(TimedCall::Kind::kPush, entry);
    push();
    Respond(place);
    calls_[place].entry = entry;
  }
  // Some pushes that one call does: each takes as long as the whole call.
  template <typename Function>
  void PushRun(const ActiveEntry* entries, size_t count, Function push) {
    const size_t first = calls_.size();
    for (size_t i = 0; i < count; ++i) {
      calls_.push_back({0, TimedCall::kPending, entries[i], TimedCall::Kind::kPush});
    }
    const uint64_t invoked_ns = TimeBefore();
    push();
    const uint64_t responded_ns = TimeAfter();
    for (size_t i = first; i < calls_.size(); ++i) {
      calls_[i].invoked_ns = invoked_ns;
      calls_[i].responded_ns = responded_ns;
    }
  }
  // What is left of an entry that was not popped.
  template <typename Function>
  void Remove(uint64_t ticket, Function remove) {
    const size_t place = Invoke(TimedCall::Kind::kRemove, {0, 0, ticket});
    remove();
    Respond(place);
  }
  // `pop` returns std::optional<ActiveEntry>, and so does this.
  template <typename Function>
  std::optional<ActiveEntry> Pop(Function pop) {
    const size_t place = Invoke(TimedCall::Kind::kPop, {});
    const std::optional<ActiveEntry> popped = pop();
    Respond(place);
    if (popped) {
      calls_[place].entry = *popped;
    } else {
      calls_[place].kind = TimedCall::Kind::kPopNothing;
    }
    return popped;
  }

  const std::vector<TimedCall>& calls() const { return calls_; }
  // For tests of judges, which tamper with a history.
  std::vector<TimedCall>& calls() { return calls_; }

 private:
  static uint64_t Now() {
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  uint64_t TimeBefore() {
    const uint64_t now = Now();
    barrier_.exchange(now);
    return now;
  }
  uint64_t TimeAfter() {
    barrier_.exchange(0);
    return Now();
  }
  size_t Invoke(TimedCall::Kind kind, const ActiveEntry& entry) {
    calls_.push_back({0, TimedCall::kPending, entry, kind});
    calls_.back().invoked_ns = TimeBefore();
    return calls_.size() - 1;
  }
  void Respond(size_t place) { calls_[place].responded_ns = TimeAfter(); }

  // The thread's own.
  alignas(64) std::atomic<uint64_t> barrier_{0};
  std::vector<TimedCall> calls_;
};

}  // namespace schedq
