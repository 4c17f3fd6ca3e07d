// Runs a concurrent test body under many schedules, and says how many there were.
//
// Purpose: the tests' entry to the model. A body builds what it tests, starts up to seven threads,
// joins them and checks; Exhaust() runs it under every schedule within bounds, Sweep() under seeded
// random ones, ExhaustStalls() under every schedule in which one thread is frozen for good.
// When not to use it: code with more than a few dozen steps a thread needs Sweep(); code that
// blocks in the operating system, or draws on real time or real randomness, cannot run here at all.
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
// Replay: a failure prints SCHEDQ_MODEL_REPLAY='name:...'; with that variable set, the exploration
// of that name runs this one schedule and prints its steps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/model/atomic.h"

// Fails the run when the condition does not hold. Only inside a body and its threads.
#define MODEL_CHECK(condition, message) \
  ((condition) ? static_cast<void>(0)   \
               : ::schedq::model::FailCheck(__FILE__, __LINE__, #condition, message))

namespace schedq::model {

struct Options {
  // Names the exploration in a replay; unique within a test program.
  std::string name;
  // Bounds of Exhaust and ExhaustStalls; a sweep draws both without bound.
  uint32_t preemptions_max = 3;  // switches away from a thread that could go on
  uint32_t stale_reads_max = 2;  // loads that return another than the newest store
  // Bounds of all.
  uint32_t early_returns_max = 0;  // waits that end without a wake-up
  uint32_t weak_failures_max = 1;  // weak exchanges that fail without cause
  uint32_t steps_max = 2000;       // a run with more is a livelock
  uint64_t schedules_max = 5'000'000;
  HeapPolicy heap_policy = HeapPolicy::kQuarantine;
  uint64_t seed = 1;  // the first seed of a sweep; the next schedule takes the next seed
};

struct Failure {
  FailureKind kind;
  std::string message;
  std::string replay;  // the value of SCHEDQ_MODEL_REPLAY
  std::optional<uint64_t> seed;
  std::vector<std::string> trace;
};

struct Report {
  std::string name;
  uint64_t schedules = 0;
  uint64_t steps_most = 0;
  // Every schedule within the bounds was run (never of a sweep).
  bool complete = false;
  // Pairs of a victim and a step at which it was frozen.
  uint64_t freezes = 0;
  // What Trial::Observe was given, and in how many schedules.
  Observations observations;
  std::optional<Failure> failure;

  bool passed() const { return !failure.has_value(); }
  // Whether the exploration ended with a failure of this kind.
  bool failed_by(FailureKind kind) const { return failure && failure->kind == kind; }
};
std::ostream& operator<<(std::ostream& out, const Report& report);

// What a body may do.
class Trial {
 public:
  explicit Trial(Runtime& runtime) : runtime_(runtime) {}
  // Starts a thread; it runs when the schedule says so.
  void Thread(std::function<void()> body) { runtime_.Spawn(std::move(body)); }
  // Waits for all threads. A body must join before it returns, and may then start more.
  void Join() { runtime_.JoinAll(); }
  // Adds to the report what this schedule led to.
  void Observe(std::vector<int64_t> values) { runtime_.Observe(std::move(values)); }

 private:
  Runtime& runtime_;
};

using Body = std::function<void(Trial&)>;

// How many preemptions to explore: `usual`, or what SCHEDQ_MODEL_PREEMPTIONS says, for those who
// have the time. Each one more is some 15 to 50 times as many schedules.
uint32_t PreemptionsOr(uint32_t usual);

Report Exhaust(const Options& options, const Body& body);
Report Sweep(const Options& options, uint64_t schedules, const Body& body);
// For each thread and each of its steps: freezes the thread before that step until all others have
// finished, which they must; then lets it go on to the end. The body's own thread is never frozen.
Report ExhaustStalls(const Options& options, const Body& body);

[[noreturn]] void FailCheck(const char* file, int line, const char* condition,
                            const std::string& message);

}  // namespace schedq::model
