// The run of one schedule: its threads, their steps, and its failure.
//
// Purpose: model::Atomic and the seam call the run for every step. The run chooses the next thread,
// applies the memory model, and ends at the first failure.
// When not to use it: in tests, which include explore.h.
// Allowed threads: one OS thread; the threads of the model are fibers on it.
// Invariants:
//   1. Exactly one fiber runs. It gives up control only in BeforeStep(), Yield(), Wait(), JoinAll()
//      and at its end.
//   2. A failed run stops at its failure: none of its fibers runs again, and no destructor is
//      called. The next run drops its memory as a whole.
//   3. With the same choices a run takes the same steps.
// Memory bound: kFibersMax stacks, the heap's arena, and the locations of the largest run.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/model/choice.h"
#include "tests/support/model/clock.h"
#include "tests/support/model/fiber.h"
#include "tests/support/model/heap.h"
#include "tests/support/model/memory.h"

namespace schedq::model {

enum class FailureKind {
  kCheck,          // A failed MODEL_CHECK, an exception, or an abort.
  kDataRace,       // Plain accesses, a construction or a destruction without an order.
  kDeadlock,       // Every thread is blocked.
  kLivelock,       // More steps than the bound.
  kStalled,        // The other threads cannot finish while one is frozen.
  kLeak,           // Blocks that were never freed.
  kUseAfterFree,   // An access to an atomic or a plain cell in freed memory.
  kBadFree,        // A double free, or a free of memory that was never allocated.
  kNotRepeatable,  // The same choices gave another run: the test uses something outside the model.
};
std::string_view FailureName(FailureKind kind);

// The bounds of a run.
struct Budgets {
  uint32_t preemptions_max;
  uint32_t stale_reads_max;
  uint32_t early_returns_max;
  uint32_t weak_failures_max;
  uint32_t steps_max;
};

// Freezes `thread` before its step number `step`, counted from 1; 0: no thread is frozen.
struct Freeze {
  uint32_t thread = 0;
  uint32_t step = 0;
};

// How a run ended.
struct Outcome {
  bool failed = false;
  FailureKind kind = FailureKind::kCheck;
  std::string message;
  uint32_t steps = 0;
  uint32_t threads = 0;
  bool froze = false;  // The thread to freeze reached its step.
};

using Observations = std::map<std::vector<int64_t>, uint64_t>;

// The state of one Atomic.
struct AtomicState {
  Word latest;
  uint32_t generation = 0;  // The run that `location` belongs to.
  uint32_t location = kNever;
  uint32_t creator = 0;
  uint32_t created_epoch = 0;
};

class Runtime final : private HeapListener {
 public:
  // The run that the caller is part of; null outside a run.
  static Runtime* Current() { return current_; }

  Runtime() = default;
  ~Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  using Body = std::function<void()>;
  Outcome Execute(const Body& body, Chooser& chooser, const Budgets& budgets, Freeze freeze,
                  HeapPolicy heap_policy, bool traces);
  const std::vector<uint8_t>& choices() const { return choices_; }
  const std::vector<std::string>& trace() const { return trace_; }
  Observations& observations() { return observations_; }

  // The operations of the body.
  void Spawn(std::function<void()> body);
  void JoinAll();
  void Observe(std::vector<int64_t> values);
  void Name(AtomicState& atomic, const char* name);
  [[noreturn]] void Fail(FailureKind kind, std::string message);

  // The operations of the seam.
  uint32_t thread() const { return running_; }
  void Yield();
  bool Wait(AtomicState& word, uint32_t expected, bool has_deadline);
  void Wake(AtomicState& word, bool all);

  // The operations of atomics. Each is one step.
  Word Load(AtomicState& atomic, std::memory_order order) {
    return StepsAlone(&atomic) ? atomic.latest : LoadAmongOthers(atomic, order);
  }
  void Store(AtomicState& atomic, Word value, std::memory_order order) {
    if (!StepsAlone(&atomic)) return StoreAmongOthers(atomic, value, order);
    StoreAlone(atomic, value);
  }
  // A read-modify-write in two halves without a step between them.
  Word BeginUpdate(AtomicState& atomic, std::memory_order order) {
    return StepsAlone(&atomic) ? atomic.latest : BeginUpdateAmongOthers(atomic, order);
  }
  void EndUpdate(AtomicState& atomic, Word value, std::memory_order order) {
    if (!IsAlone()) return EndUpdateAmongOthers(atomic, value, order);
    StoreAlone(atomic, value);
  }
  // A failing exchange may read a stale value, but only one that differs from `expected`.
  bool CompareExchange(AtomicState& atomic, Word& expected, Word desired, std::memory_order success,
                       std::memory_order failure, bool weak) {
    const bool may_fail = weak && left_.weak_failures_max > 0;
    if (may_fail || !StepsAlone(&atomic)) {
      return CompareExchangeAmongOthers(atomic, expected, desired, success, failure, weak);
    }
    const bool is_equal = atomic.latest == expected;
    if (is_equal) StoreAlone(atomic, desired);
    if (!is_equal) expected = atomic.latest;
    return is_equal;
  }
  void Fence(std::memory_order order);
  void Create(AtomicState& atomic) {
    atomic.generation = generation_;
    atomic.location = kNever;
    atomic.creator = running_;
    atomic.created_epoch = memory_.PlainEpoch(running_);
  }
  void Destroy(AtomicState& atomic) {
    if (atomic.generation != generation_) return;
    if (!IsAlone() || Heap::Get().IsFreed(&atomic)) CheckDestruction(atomic);
    atomic.generation = 0;
  }
  void AccessPlain(PlainHistory& history, bool write) {
    if (!IsAlone() || Heap::Get().IsFreed(&history)) return AccessAmongOthers(history, write);
    if (history.generation != generation_) {
      history = PlainHistory{};
      history.generation = generation_;
    }
    if (write) {
      history.writer = 0;
      history.write_epoch = memory_.PlainEpoch(0);
    } else {
      history.reads.at[0] = memory_.PlainEpoch(0);
    }
  }

  // A release and an acquire, for helpers that pass memory from thread to thread outside the code
  // under test.
  const View& Knowledge() override;
  void Learn(const View& view) override { memory_.Learn(running_, view); }

  // For recorders of histories: ticks the calling thread's clock and returns it.
  const Clock& Mark();
  // A moment whose place in the order of execution all threads agree on, and by which none learns
  // anything. Sequentially consistent operations on both sides of moments are ordered by them.
  void Moment() { memory_.Moment(running_); }

 private:
  enum class ThreadState : uint8_t { kReady, kWaiting, kJoining, kFrozen, kFinished };
  struct Thread {
    Fiber fiber{Fiber::Kind::kOwnStack};
    std::function<void()>* body = nullptr;  // In the run's own memory.
    ThreadState state = ThreadState::kFinished;
    bool yielded = false;  // The thread has paused and was not scheduled since.
    bool fresh = false;    // The thread was just chosen, so its next step needs no choice.
    bool timed_out = false;
    bool has_deadline = false;
    const AtomicState* waits_for = nullptr;
    uint32_t steps = 0;
  };
  static constexpr uint8_t kEarly = 0x80;  // Marks an option: the waiter returns without a wake-up.

  void OnHeapError(const char* what, const void* address) override;

  using Options = std::array<uint8_t, kFibersMax>;

  // Thread 0 is alone before the others start and after they were joined. Whatever others do is
  // ordered with what it does then. So it reads the newest store, has no choice, and is in no data
  // race: its steps need no location, and most of a schedule's steps are such. A run that writes a
  // trace takes these steps like all others, and takes the same ones.
  bool IsAlone() const { return memory_.is_alone() && !traces_; }
  // Whether the step is one of thread 0 alone and no failure; then it is taken.
  bool StepsAlone(const AtomicState* atomic) {
    if (!IsAlone() || steps_ >= left_.steps_max || Heap::Get().IsFreed(atomic)) return false;
    ++threads_[0].steps;
    threads_[0].fresh = false;
    ++steps_;
    memory_.Tick(0);
    return true;
  }
  // A thread that runs later finds only this value: the atomic is as if constructed by this step.
  void StoreAlone(AtomicState& atomic, Word value) {
    atomic.latest = value;
    atomic.generation = generation_;
    atomic.location = kNever;
    atomic.creator = 0;
    atomic.created_epoch = memory_.Now(0).ordered.at[0];
  }
  Word LoadAmongOthers(AtomicState& atomic, std::memory_order order);
  void StoreAmongOthers(AtomicState& atomic, Word value, std::memory_order order);
  Word BeginUpdateAmongOthers(AtomicState& atomic, std::memory_order order);
  void EndUpdateAmongOthers(AtomicState& atomic, Word value, std::memory_order order);
  bool CompareExchangeAmongOthers(AtomicState& atomic, Word& expected, Word desired,
                                  std::memory_order success, std::memory_order failure, bool weak);
  void CheckDestruction(AtomicState& atomic);
  void AccessAmongOthers(PlainHistory& history, bool write);

  static void RunThread(void* runtime);
  void RunBody();
  void Finish();
  // Called before a step. It may switch to another thread first; then it ticks the clock.
  void BeforeStep();
  void CheckSteps();
  // Switches to another thread, because the running one is blocked or has paused.
  void SwitchAway();
  // Called where no thread is ready: lets a deadline pass, or releases the frozen thread.
  void Unblock();
  void SwitchTo(uint8_t option);
  uint32_t AddReady(Options& options, uint32_t count, bool yielded_too) const;
  uint32_t AddEarly(Options& options, uint32_t count) const;
  uint32_t Choose(ChoiceKind kind, uint32_t count, const uint8_t* threads, bool continues);
  Location& Touch(AtomicState& atomic);
  // The ages that an access may have within the bound on old ones; 0 is always the first.
  struct Ages {
    std::array<uint8_t, kVersions> at{};
    uint32_t count = 1;
  };
  // Adds the ages at which a load is allowed.
  void AddLoads(Location& location, std::memory_order order, const Word* differs_from, Ages& ages);
  // Adds the ages behind which a store, or a read-modify-write of `expected`, is allowed.
  void AddStores(Location& location, std::memory_order order, Ages& ages);
  void AddUpdates(Location& location, std::memory_order order, const Word* expected, Ages& ages);
  uint32_t ChooseAge(const Ages& ages);
  void Note(const char* what, AtomicState* atomic, std::memory_order order, Word value,
            uint32_t age = 0);
  void NoteThread(const char* what);
  std::string DescribeThreads() const;

  static Runtime* current_;
  static uint32_t generation_;  // The number of the run.

  Fiber host_{Fiber::Kind::kHost};
  std::array<Thread, kFibersMax> threads_;
  Memory memory_;
  const Body* body_ = nullptr;
  Chooser* chooser_ = nullptr;
  Budgets left_{};  // What remains of each bound; steps_max is not counted down.
  Freeze freeze_;
  bool victim_released_ = false;
  uint32_t threads_used_ = 0;
  uint32_t running_ = 0;
  uint32_t unfinished_ = 0;
  uint32_t steps_ = 0;
  bool traces_ = false;
  uint32_t update_age_ = 0;  // From BeginUpdate to EndUpdate.
  Outcome outcome_;
  std::vector<uint8_t> choices_;
  std::vector<std::string> trace_;
  Observations observations_;
};

}  // namespace schedq::model
