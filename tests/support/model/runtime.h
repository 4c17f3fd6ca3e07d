// One schedule of a model run: its threads, their steps, and what is wrong with them.
//
// Purpose: model::Atomic and the seam call in here before and for every step; the run decides who
// goes on, keeps the memory model, and ends at the first failure.
// When not to use it: tests include explore.h; this is the machinery below.
// Allowed threads: one OS thread; the threads of the model are fibers on it.
// Invariants:
//   1. Exactly one fiber runs; it gives up control only in Point(), Yield(), Wait(), Join() and at
//      its end.
//   2. A failed run is frozen where it stands: no fiber of it runs again and no destructor is
//   called;
//      its memory is dropped as a whole by the next run.
//   3. With the same choices a run takes the same steps.
// Memory bound: kFibersMax stacks, the heap's arena, and the locations of the largest run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/model/choice.h"
#include "tests/support/model/fiber.h"
#include "tests/support/model/heap.h"
#include "tests/support/model/memory.h"

namespace schedq::model {

enum class FailureKind {
  kCheck,          // MODEL_CHECK, or an exception or abort out of the code
  kDataRace,       // plain accesses, construction or destruction that nothing orders
  kDeadlock,       // every thread is blocked
  kLivelock,       // more steps than the bound
  kStalled,        // the others cannot finish while one thread is frozen
  kLeak,           // blocks that were never freed
  kUseAfterFree,   // an atomic or a plain cell in freed memory
  kBadFree,        // a double free, or a free of what was never allocated
  kNotRepeatable,  // the same choices led elsewhere: the test draws on something outside the model
};
std::string_view FailureName(FailureKind kind);

// What a run may do at most, beyond what it must.
struct Budgets {
  uint32_t preemptions_max;
  uint32_t stale_reads_max;
  uint32_t early_returns_max;
  uint32_t weak_failures_max;
  uint32_t steps_max;
};

// Which thread is frozen before its how manyeth step (from 1); none when step is 0.
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
  bool froze = false;  // the victim reached its step
};

using Observations = std::map<std::vector<int64_t>, uint64_t>;

// What one Atomic keeps beyond its latest value.
struct AtomicState {
  Word latest;
  uint32_t generation = 0;  // of the run that location belongs to
  uint32_t location = kNever;
  uint32_t creator = 0;
  uint32_t created_epoch = 0;
};

class Runtime final : private HeapListener {
 public:
  // The run that the caller is a step of; null outside of one.
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

  // What the body does.
  void Spawn(std::function<void()> body);
  void JoinAll();
  void Observe(std::vector<int64_t> values);
  void Name(AtomicState& atomic, const char* name);
  [[noreturn]] void Fail(FailureKind kind, std::string message);

  // What the seam does.
  uint32_t thread() const { return running_; }
  void Yield();
  bool Wait(AtomicState& word, uint32_t expected, bool has_deadline);
  void Wake(AtomicState& word, bool all);

  // What atomics do. Each is one step.
  Word Load(AtomicState& atomic, std::memory_order order);
  void Store(AtomicState& atomic, Word value, std::memory_order order);
  // A read-modify-write in two halves without a step between them.
  Word BeginUpdate(AtomicState& atomic);
  void EndUpdate(AtomicState& atomic, Word value, std::memory_order order);
  // Reads what a failing exchange reads: stale values only where they differ from `expected`.
  bool CompareExchange(AtomicState& atomic, Word& expected, Word desired, std::memory_order success,
                       std::memory_order failure, bool weak);
  void Fence(std::memory_order order);
  void Create(AtomicState& atomic);
  void Destroy(AtomicState& atomic);
  void AccessPlain(PlainHistory& history, bool write);

  // What hands memory over outside the code under test does: a release and an acquire.
  const View& Knowledge() override;
  void Learn(const View& view) override { memory_.Learn(running_, view); }

  // What history recorders do: what the calling thread knows, after a tick of its clock.
  const Clock& Mark();

 private:
  enum class ThreadState : uint8_t { kReady, kWaiting, kJoining, kFrozen, kFinished };
  struct Thread {
    Fiber fiber{Fiber::Kind::kOwnStack};
    std::function<void()>* body = nullptr;  // in the run's own memory
    ThreadState state = ThreadState::kFinished;
    bool yielded = false;  // has paused and not been scheduled since
    bool fresh = false;    // was just chosen, so its next step needs no choice
    bool timed_out = false;
    bool has_deadline = false;
    const AtomicState* waits_for = nullptr;
    uint32_t steps = 0;
  };
  static constexpr uint8_t kEarly = 0x80;  // an option: this waiter returns without a wake-up

  void OnHeapError(const char* what, const void* address) override;

  using Options = std::array<uint8_t, kFibersMax>;

  static void RunThread(void* runtime);
  void RunBody();
  void Finish();
  // Before a step: perhaps somebody else goes first. Then the step's tick.
  void Point();
  void CheckSteps();
  // The running thread cannot go on, or does not want to.
  void Leave();
  void Rescue();
  void SwitchTo(uint8_t option);
  uint32_t AddReady(Options& options, uint32_t count, bool yielded_too) const;
  uint32_t AddEarly(Options& options, uint32_t count) const;
  uint32_t Choose(ChoiceKind kind, uint32_t count, const uint8_t* threads, bool continues);
  Location& Touch(AtomicState& atomic);
  uint32_t ChooseAge(Location& location, std::memory_order order, const Word* differs_from);
  void Note(const char* what, AtomicState* atomic, std::memory_order order, Word value,
            uint32_t age = 0);
  void NoteThread(const char* what);
  std::string DescribeThreads() const;

  static Runtime* current_;
  static uint32_t generation_;  // one a run

  Fiber host_{Fiber::Kind::kHost};
  std::array<Thread, kFibersMax> threads_;
  Memory memory_;
  const Body* body_ = nullptr;
  Chooser* chooser_ = nullptr;
  Budgets left_{};  // steps_max excepted, what remains
  Freeze freeze_;
  bool victim_released_ = false;
  uint32_t threads_used_ = 0;
  uint32_t running_ = 0;
  uint32_t unfinished_ = 0;
  uint32_t steps_ = 0;
  bool traces_ = false;
  Outcome outcome_;
  std::vector<uint8_t> choices_;
  std::vector<std::string> trace_;
  Observations observations_;
};

}  // namespace schedq::model
