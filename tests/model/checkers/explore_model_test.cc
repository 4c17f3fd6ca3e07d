// Goal: exploration does what its reports say: it is complete within its bounds, finds with seeds
// what is too large to exhaust, replays, freezes threads, and is fast enough to be used.
// Method: counts that are known by arithmetic, faults whose failing schedule is run again by its
// recorded choices and by its seed, and a clock around a large exploration.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/sanitizers.h"
#include "tests/support/faulty_structures.h"
#include "tests/support/model/atomic.h"
#include "tests/support/model/choice.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/runtime.h"

namespace schedq {
namespace {

using model::FailureKind;
using model::Report;
using model::Trial;

// Two threads of three independent steps each.
void IndependentSteps(Trial& trial) {
  model::Atomic<int> own[2];
  for (int self = 0; self < 2; ++self) {
    trial.Thread([&own, self] {
      for (int step = 0; step < 3; ++step) own[self].fetch_add(1, std::memory_order_relaxed);
    });
  }
  trial.Join();
}

TEST(ExploreTest, SchedulesWithinAPreemptionBoundAreAllRun) {
  // Without a bound the six steps interleave in C(6, 3) = 20 ways. Without preemptions one thread
  // runs after the other, 2 ways; with one, a cut after step 1 or 2 of the first thread, 4 more.
  for (const auto& [preemptions_max, schedules] :
       std::vector<std::pair<uint32_t, uint64_t>>{{0, 2}, {1, 6}, {100, 20}}) {
    const Report report = model::Exhaust(
        {.name = "independent", .preemptions_max = preemptions_max}, IndependentSteps);
    EXPECT_TRUE(report.passed() && report.complete) << report;
    EXPECT_EQ(report.schedules, schedules) << preemptions_max << " preemptions";
  }
}

TEST(ExploreTest, GivingUpIsNotComplete) {
  const Report report = model::Exhaust({.name = "given up", .schedules_max = 5}, IndependentSteps);
  EXPECT_TRUE(report.passed());
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.schedules, 5u);
}

TEST(ExploreTest, JoinOrdersAndThreadsMayFollow) {
  // Plain accesses of two phases need no atomic between them: the join orders them.
  const Report report = model::Exhaust({.name = "phases"}, [](Trial& trial) {
    model::CheckedCell<int> cells[2];
    for (int phase = 1; phase <= 3; ++phase) {
      for (int self = 0; self < 2; ++self) {
        trial.Thread([&, self] { cells[self].Write(cells[self].Read() + 1); });
      }
      trial.Join();
      MODEL_CHECK(cells[0].Read() == phase && cells[1].Read() == phase, "both have run");
    }
  });
  EXPECT_TRUE(report.passed() && report.complete) << report;
  EXPECT_EQ(report.schedules, 8u);  // two orders in each phase
}

// Fails when a reader meets all three of a writer's values in order, each in time.
void NarrowWindow(Trial& trial) {
  model::Atomic<int> value(0);
  bool met[3] = {};
  trial.Thread([&] {
    for (int i = 1; i <= 3; ++i) value.store(i);
  });
  trial.Thread([&] {
    for (int i = 0; i < 3; ++i) met[i] = value.load() == i + 1;
  });
  trial.Join();
  MODEL_CHECK(!(met[0] && met[1] && met[2]), "planted");
}

class ReplayScope {
 public:
  explicit ReplayScope(const std::string& value) {
    setenv("SCHEDQ_MODEL_REPLAY", value.c_str(), 1);
  }
  ~ReplayScope() { unsetenv("SCHEDQ_MODEL_REPLAY"); }
};

TEST(ExploreTest, FailureReplaysByItsChoices) {
  const model::Options options{.name = "narrow window", .preemptions_max = 5};
  const Report report = model::Exhaust(options, NarrowWindow);
  ASSERT_TRUE(report.failed_by(FailureKind::kCheck)) << report;
  EXPECT_GT(report.failure->trace.size(), 6u);
  const ReplayScope scope(report.failure->replay);
  const Report again = model::Exhaust(options, NarrowWindow);
  ASSERT_TRUE(again.failed_by(FailureKind::kCheck)) << again;
  EXPECT_EQ(again.schedules, 1u);
  EXPECT_EQ(again.failure->trace, report.failure->trace);
  // Another exploration does not listen.
  EXPECT_EQ(
      model::Exhaust({.name = "independent", .preemptions_max = 0}, IndependentSteps).schedules,
      2u);
}

TEST(ExploreTest, SweepFindsAndReplaysByItsSeed) {
  model::Options options{.name = "narrow window swept"};
  const Report report = model::Sweep(options, 20'000, NarrowWindow);
  ASSERT_TRUE(report.failed_by(FailureKind::kCheck)) << report;
  ASSERT_TRUE(report.failure->seed.has_value());
  EXPECT_FALSE(report.complete);
  options.seed = *report.failure->seed;
  const Report again = model::Sweep(options, 1, NarrowWindow);
  ASSERT_TRUE(again.failed_by(FailureKind::kCheck)) << again;
  EXPECT_EQ(again.failure->trace, report.failure->trace);
}

TEST(ExploreTest, SweepGoesThroughItsSchedules) {
  const Report report = model::Sweep({.name = "independent swept"}, 1000, [](Trial& trial) {
    model::Atomic<int> order(0);
    int first = -1;
    for (int self = 0; self < 3; ++self) {
      trial.Thread([&, self] {
        if (order.fetch_add(1) == 0) first = self;
      });
    }
    trial.Join();
    trial.Observe({first});
  });
  EXPECT_TRUE(report.passed()) << report;
  EXPECT_EQ(report.schedules, 1000u);
  // Each thread comes first in a fair share of the seeds.
  ASSERT_EQ(report.observations.size(), 3u);
  for (const auto& [first, schedules] : report.observations) EXPECT_GT(schedules, 200u);
}

TEST(ExploreTest, OutsideDrawsAreReported) {
  int runs = 0;
  const Report report = model::Exhaust({.name = "draws"}, [&runs](Trial& trial) {
    model::Atomic<int> value(0);
    const int steps = ++runs % 3;
    for (int self = 0; self < 2; ++self) {
      trial.Thread([&] {
        for (int i = 0; i < steps; ++i) value.fetch_add(1);
        trial.Observe({});
      });
    }
    trial.Join();
  });
  EXPECT_TRUE(report.failed_by(FailureKind::kNotRepeatable)) << report;
}

template <LockKind kLock>
Report ExploreFrozenCounter() {
  model::Options options{.name = "counter", .preemptions_max = 2, .steps_max = 60};
  return model::ExhaustStalls(options, [](Trial& trial) {
    LockedCounter<model::Atomic, kLock> counter;
    for (int self = 0; self < 3; ++self) {
      trial.Thread([&] {
        counter.Add();
        counter.Add();
      });
    }
    trial.Join();
    MODEL_CHECK(counter.Count() == 6, "nothing is lost");
  });
}

TEST(ExploreTest, FrozenLockHolderIsCaught) {
  const Report spins = ExploreFrozenCounter<LockKind::kSpins>();
  ASSERT_TRUE(spins.failed_by(FailureKind::kStalled)) << spins;
  {
    const ReplayScope scope(spins.failure->replay);
    const Report again = ExploreFrozenCounter<LockKind::kSpins>();
    ASSERT_TRUE(again.failed_by(FailureKind::kStalled)) << again;
    EXPECT_EQ(again.failure->trace, spins.failure->trace);
  }
  const Report sleeps = ExploreFrozenCounter<LockKind::kSleeps>();
  EXPECT_TRUE(sleeps.failed_by(FailureKind::kStalled)) << sleeps;
  const Report free = ExploreFrozenCounter<LockKind::kNone>();
  EXPECT_TRUE(free.passed() && free.complete) << free;
  EXPECT_EQ(free.freezes, 6u);  // three threads of two steps
  EXPECT_GT(free.schedules, 50u);
}

TEST(ExploreTest, LocksAreCorrectWhenNoThreadIsFrozen) {
  const auto body = [](Trial& trial) {
    LockedCounter<model::Atomic, LockKind::kSleeps> counter;
    for (int self = 0; self < 2; ++self) trial.Thread([&] { counter.Add(); });
    trial.Join();
    MODEL_CHECK(counter.Count() == 2, "nothing is lost");
  };
  const Report report = model::Exhaust({.name = "lock"}, body);
  model::ExpectExhausted(report, 20);
}

TEST(ExploreTest, HundredThousandSchedulesTakeSeconds) {
#ifdef SCHEDQ_THREAD_SANITIZER
  GTEST_SKIP() << "ThreadSanitizer takes milliseconds for the fibers of each schedule";
#endif
  const auto begun = std::chrono::steady_clock::now();
  const Report report = model::Exhaust({.name = "speed"}, [](Trial& trial) {
    model::Atomic<int> value(0);
    for (int self = 0; self < 3; ++self) {
      trial.Thread([&] {
        for (int i = 0; i < 7; ++i) {
          int expected = value.load();
          value.compare_exchange_strong(expected, expected + 1);
        }
      });
    }
    trial.Join();
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  model::ExpectExhausted(report, 100'000);
  EXPECT_GE(report.steps_most, 40u);
#ifndef SCHEDQ_ADDRESS_SANITIZER
  EXPECT_LT(took.count(), 5.0);
#endif
  RecordProperty("microseconds_per_schedule",
                 std::to_string(took.count() * 1e6 / static_cast<double>(report.schedules)));
}

TEST(ChoiceTest, ListsSurviveText) {
  const std::vector<uint8_t> choices = {0, 0, 0, 1, 0, 2, 2, 0, 0, 5};
  std::vector<uint8_t> read;
  EXPECT_EQ(model::FormatChoices(choices), "0x3,1,0,2,2,0x2,5");
  ASSERT_TRUE(model::ParseChoices("0x3,1,0,2,2,0x2,5", read));
  EXPECT_EQ(read, choices);
  EXPECT_EQ(model::FormatChoices({0, 0}), "0");
  for (const char* bad : {"a", "1;2", "0x", "300", "1x99999999"}) {
    EXPECT_FALSE(model::ParseChoices(bad, read)) << bad;
  }
}

}  // namespace
}  // namespace schedq
