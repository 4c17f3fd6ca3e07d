// Runs a concurrent test body under many schedules, and reports their number.
//
// Purpose: the interface of the model for tests. A body builds the structure that it tests, starts
// up to seven threads, joins them and checks. Exhaust() runs it under every schedule within bounds,
// Sweep() under seeded random ones, ExhaustStalls() under every schedule in which one thread is
// frozen until all others have finished.
// When not to use it: for code that blocks in the operating system or uses real time or real
// randomness. Code with more than a few dozen steps a thread needs Sweep().
// Example:
//   model::Report report = model::Exhaust({.name = "stack"}, [](model::Trial& trial) {
//     Stack<model::Atomic> stack;
//     trial.Thread([&] { stack.Push(1); });
//     trial.Thread([&] { stack.Pop(); });
//     trial.Join();
//     MODEL_CHECK(stack.Size() <= 1, "a push and a pop leave at most one");
//   });
//   EXPECT_TRUE(report.passed() && report.complete) << report;
//   EXPECT_GT(report.schedules, 20u);
// Replay: a failure prints SCHEDQ_MODEL_REPLAY='name:...'. With that variable set, the exploration
// of that name runs this one schedule and prints its steps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/model/atomic.h"  // IWYU pragma: keep
#include "tests/support/model/heap.h"
#include "tests/support/model/runtime.h"

// Fails the run when the condition does not hold. Only a body and its threads may use it.
#define MODEL_CHECK(condition, message) \
  ((condition) ? static_cast<void>(0)   \
               : ::schedq::model::FailCheck(__FILE__, __LINE__, #condition, message))

namespace schedq::model {

struct Options {
  // Names the exploration in a replay; unique within a test program.
  std::string name;
  // Bounds of Exhaust and ExhaustStalls; Sweep has no bound on these two.
  uint32_t preemptions_max = 3;  // Switches away from a thread that is ready.
  uint32_t stale_reads_max = 2;  // Accesses that are not placed at the newest store.
  // Bounds of all explorations.
  uint32_t early_returns_max = 0;  // Waits that end without a wake-up.
  uint32_t weak_failures_max = 1;  // Weak exchanges that fail without cause.
  uint32_t steps_max = 2000;       // A run with more steps is a livelock.
  uint64_t schedules_max = 5'000'000;
  HeapPolicy heap_policy = HeapPolicy::kQuarantine;
  uint64_t seed = 1;  // The first seed of a sweep; each schedule takes the next one.
};

struct Failure {
  FailureKind kind;
  std::string message;
  std::string replay;  // The value of SCHEDQ_MODEL_REPLAY.
  std::optional<uint64_t> seed;
  std::vector<std::string> trace;
};

struct Report {
  std::string name;
  uint64_t schedules = 0;
  uint64_t steps_most = 0;
  // Every schedule within the bounds was run. Always false for a sweep.
  bool complete = false;
  // The number of pairs of a thread and a step at which it was frozen.
  uint64_t freezes = 0;
  // Each argument of Trial::Observe, with the number of schedules that passed it.
  Observations observations;
  std::optional<Failure> failure;

  bool passed() const { return !failure.has_value(); }
  // Whether the exploration ended with a failure of this kind.
  bool failed_by(FailureKind kind) const { return failure && failure->kind == kind; }
};
std::ostream& operator<<(std::ostream& out, const Report& report);

// The operations of a body.
class Trial {
 public:
  explicit Trial(Runtime& runtime) : runtime_(runtime) {}
  // Starts a thread, which runs when the schedule chooses it.
  void Thread(std::function<void()> body) { runtime_.Spawn(std::move(body)); }
  // Waits for all threads; the body may start more afterwards. A body must join before it returns.
  void Join() { runtime_.JoinAll(); }
  // Adds these values, an outcome of the schedule, to the report.
  void Observe(std::vector<int64_t> values) { runtime_.Observe(std::move(values)); }

 private:
  Runtime& runtime_;
};

using Body = std::function<void(Trial&)>;

// The number of preemptions to explore: SCHEDQ_MODEL_PREEMPTIONS if it is set, else `usual`. Each
// further preemption multiplies the schedules by some 15 to 50.
uint32_t PreemptionsOr(uint32_t usual);

Report Exhaust(const Options& options, const Body& body);
Report Sweep(const Options& options, uint64_t schedules, const Body& body);
// For each thread and each of its steps, freezes the thread before that step. All other threads
// must then finish; after them the frozen thread continues to its end. The body's own thread is
// never frozen.
Report ExhaustStalls(const Options& options, const Body& body);

[[noreturn]] void FailCheck(const char* file, int line, const char* condition,
                            const std::string& message);

}  // namespace schedq::model
