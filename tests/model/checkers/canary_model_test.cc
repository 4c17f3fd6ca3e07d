// Goal: the model catches the classic faults of concurrent code, and passes the same code without.
// Method: each structure of faulty_structures.h is explored with its fault and without. With it the
// exploration must end in the kind of failure that the fault is; without it the exploration must be
// complete and large enough to mean something.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "engine/base/result.h"
#include "engine/base/sanitizers.h"
#include "engine/base/time/time.h"
#include "tests/model/checkers/pooled_stack.h"
#include "tests/support/faulty_structures.h"
#include "tests/support/model/atomic.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/heap.h"
#include "tests/support/model/runtime.h"

namespace schedq {
namespace {

using model::FailureKind;
using model::Report;
using model::Trial;

template <std::memory_order kStore, std::memory_order kLoad>
Report ExploreMailbox() {
  return model::Exhaust(model::OptionsOfTest(), [](Trial& trial) {
    Mailbox<model::Atomic, kStore, kLoad> mailbox;
    trial.Thread([&] { mailbox.Put(7); });
    trial.Thread([&] {
      for (int attempt = 0; attempt < 2; ++attempt) {
        const auto value = mailbox.Take();
        MODEL_CHECK(!value || *value == 7, "what was put comes out");
      }
    });
    trial.Join();
  });
}

TEST(CanaryTest, WeakenedReleaseIsADataRace) {
  const Report weak = ExploreMailbox<std::memory_order_relaxed, std::memory_order_acquire>();
  EXPECT_TRUE(weak.failed_by(FailureKind::kDataRace)) << weak;
}

TEST(CanaryTest, WeakenedAcquireIsADataRace) {
  const Report weak = ExploreMailbox<std::memory_order_release, std::memory_order_relaxed>();
  EXPECT_TRUE(weak.failed_by(FailureKind::kDataRace)) << weak;
}

TEST(CanaryTest, ReleaseAndAcquireHandOver) {
  model::ExpectExhausted(ExploreMailbox<std::memory_order_release, std::memory_order_acquire>(), 6);
}

// Two threads exclude each other with one flag each (Dekker); only sequential consistency does it.
Report ExploreDekker(std::memory_order store, std::memory_order load) {
  return model::Exhaust(model::OptionsOfTest(), [=](Trial& trial) {
    model::Atomic<bool> wants[2];
    model::CheckedCell<int> guarded(0);
    for (int self = 0; self < 2; ++self) {
      trial.Thread([&, self] {
        wants[self].store(true, store);
        if (!wants[1 - self].load(load)) guarded.Write(self);
      });
    }
    trial.Join();
  });
}

TEST(CanaryTest, WeakenedDekkerIsADataRace) {
  const Report weak = ExploreDekker(std::memory_order_release, std::memory_order_acquire);
  EXPECT_TRUE(weak.failed_by(FailureKind::kDataRace)) << weak;
  model::ExpectExhausted(ExploreDekker(std::memory_order_seq_cst, std::memory_order_seq_cst), 6);
}

template <bool kLosesWakeUps>
Report ExploreSleepUntilItem() {
  return model::Exhaust(model::OptionsOfTest(), [](Trial& trial) {
    SleepUntilItem<model::Atomic, kLosesWakeUps> items;
    trial.Thread([&] { items.AwaitItem(); });
    trial.Thread([&] { items.Add(); });
    trial.Join();
  });
}

TEST(CanaryTest, LostWakeUpIsADeadlock) {
  const Report bad = ExploreSleepUntilItem<true>();
  EXPECT_TRUE(bad.failed_by(FailureKind::kDeadlock)) << bad;
  model::ExpectExhausted(ExploreSleepUntilItem<false>(), 10);
}

template <StackFault kFault>
Report ExploreStack() {
  return model::Exhaust(model::OptionsOfTest(), [](Trial& trial) {
    NodeStack<model::Atomic, kFault> stack;
    int sums[2] = {};
    for (int self = 0; self < 2; ++self) {
      trial.Thread([&, self] {
        stack.Push(1 + self);
        sums[self] = stack.TakeAll();
      });
    }
    trial.Join();
    const int rest = stack.TakeAll();
    MODEL_CHECK(sums[0] + sums[1] + rest == 3, "every value is taken once");
  });
}

TEST(CanaryTest, LeakIsCaught) {
  const Report bad = ExploreStack<StackFault::kLeaksOnRetry>();
  EXPECT_TRUE(bad.failed_by(FailureKind::kLeak)) << bad;
  model::ExpectExhausted(ExploreStack<StackFault::kNone>(), 200);
}

TEST(CanaryTest, DoubleFreeIsCaught) {
  const Report bad = ExploreStack<StackFault::kTakesInTwoSteps>();
  // Whichever of the three is met first: both takers hold the same nodes.
  EXPECT_TRUE(bad.failed_by(FailureKind::kBadFree) || bad.failed_by(FailureKind::kUseAfterFree) ||
              bad.failed_by(FailureKind::kDataRace))
      << bad;
  const Report plain = model::Exhaust(model::OptionsOfTest(".plain"), [](Trial& trial) {
    int* block = new int(1);
    trial.Thread([=] { delete block; });
    trial.Thread([=] { delete block; });
    trial.Join();
  });
  EXPECT_TRUE(plain.failed_by(FailureKind::kBadFree)) << plain;
}

TEST(CanaryTest, UseAfterFreeIsCaught) {
  // The stack frees at once, which is right for one popper and wrong for two.
  const auto body = [](uint32_t poppers) {
    return [poppers](Trial& trial) {
      NodeStack<model::Atomic> stack;
      stack.Push(1);
      stack.Push(2);
      for (uint32_t i = 0; i < poppers; ++i) trial.Thread([&] { stack.Pop(); });
      trial.Thread([&] { stack.Push(3); });
      trial.Join();
    };
  };
  const Report bad = model::Exhaust(model::OptionsOfTest(), body(2));
  EXPECT_TRUE(bad.failed_by(FailureKind::kUseAfterFree) || bad.failed_by(FailureKind::kDataRace))
      << bad;
  model::ExpectExhausted(model::Exhaust(model::OptionsOfTest(), body(1)), 10);
}

template <bool kForgetsTag>
Report ExplorePooledStack() {
  model::Options options = model::OptionsOfTest();
  options.preemptions_max = 2;
  return model::Exhaust(options, [](Trial& trial) {
    PooledStack<kForgetsTag> stack(4);
    std::map<int, int> popped;
    stack.Push(1);
    stack.Push(2);
    const auto pop = [&] {
      if (const auto value = stack.Pop()) ++popped[*value];
    };
    trial.Thread(pop);
    trial.Thread([&] {
      pop();
      pop();
      stack.Push(3);
      stack.Push(4);
    });
    trial.Join();
    for (int rest = 0; rest < 4; ++rest) pop();
    for (int value = 1; value <= 4; ++value) {
      MODEL_CHECK(popped[value] == 1, "each value is popped once");
    }
  });
}

TEST(CanaryTest, AbaIsCaught) {
  const Report bad = ExplorePooledStack<true>();
  EXPECT_TRUE(bad.failed_by(FailureKind::kCheck) || bad.failed_by(FailureKind::kBadFree)) << bad;
  model::ExpectExhausted(ExplorePooledStack<false>(), 100);
}

TEST(CanaryTest, RecyclingHeapGivesBackTheLatestBlock) {
  for (const bool recycles : {false, true}) {
    model::Options options = model::OptionsOfTest(recycles ? ".recycles" : ".quarantines");
    options.heap_policy =
        recycles ? model::HeapPolicy::kRecycleLifo : model::HeapPolicy::kQuarantine;
    const Report report = model::Exhaust(options, [recycles](Trial& trial) {
      trial.Thread([=] {
        // Called as functions, because a compiler may leave out an allocation that is not used.
        void* first = ::operator new(8);
        const auto before = reinterpret_cast<uintptr_t>(first);
        ::operator delete(first);
        void* second = ::operator new(8);
        MODEL_CHECK((reinterpret_cast<uintptr_t>(second) == before) == recycles,
                    "an address comes back only when the heap recycles");
        ::operator delete(second);
      });
      trial.Join();
    });
    EXPECT_TRUE(report.passed() && report.complete) << report;
  }
}

TEST(CanaryTest, SpinThatNoThreadEndsIsALivelock) {
  const Report bad = model::Exhaust(model::OptionsOfTest(), [](Trial& trial) {
    model::Atomic<int> flag(0);
    trial.Thread([&] {
      while (flag.load() == 0) Seam<model::Atomic>::Pause();
    });
    trial.Join();
  });
  EXPECT_TRUE(bad.failed_by(FailureKind::kLivelock)) << bad;

  const Report good = model::Exhaust(model::OptionsOfTest(".ends"), [](Trial& trial) {
    model::Atomic<int> flag(0);
    for (int spinner = 0; spinner < 2; ++spinner) {
      trial.Thread([&] {
        while (flag.load() == 0) Seam<model::Atomic>::Pause();
      });
    }
    trial.Thread([&] { flag.store(1); });
    trial.Join();
  });
  model::ExpectExhausted(good, 8);
}

TEST(CanaryTest, ExceptionFailsTheRunOnly) {
  const Report throws = model::Exhaust(model::OptionsOfTest(), [](Trial& trial) {
    trial.Thread([] { throw std::runtime_error("planted"); });
    trial.Join();
  });
  EXPECT_TRUE(throws.failed_by(FailureKind::kCheck)) << throws;
}

TEST(CanaryTest, AbortFailsTheRunOnly) {
#ifdef SCHEDQ_THREAD_SANITIZER
  GTEST_SKIP() << "under ThreadSanitizer an abort ends the process";
#endif
  const Report aborts = model::Exhaust(model::OptionsOfTest(), [](Trial& trial) {
    model::Atomic<int> flag(0);
    trial.Thread([&] { flag.store(1); });
    trial.Thread([&] { SCHEDQ_CHECK(flag.load() == 0, "planted"); });
    trial.Join();
  });
  EXPECT_TRUE(aborts.failed_by(FailureKind::kCheck)) << aborts;
}

TEST(CanaryTest, FaultFailsTheRunOnly) {
#if defined(SCHEDQ_ADDRESS_SANITIZER) || defined(SCHEDQ_THREAD_SANITIZER)
  GTEST_SKIP() << "the sanitizers keep faults for themselves";
#endif
  const Report faults = model::Exhaust(model::OptionsOfTest(), [](Trial& trial) {
    trial.Thread([] { std::raise(SIGSEGV); });
    trial.Join();
  });
  EXPECT_TRUE(faults.failed_by(FailureKind::kCheck)) << faults;
}

TEST(CanaryTest, DeadlinePassesOnlyWhenNoThreadCanRun) {
  const Report report = model::Exhaust(model::OptionsOfTest(), [](Trial& trial) {
    model::Atomic<uint32_t> word(0);
    bool woken = true;
    trial.Thread([&] { woken = Seam<model::Atomic>::Wait(word, 0, MonotonicTime()); });
    trial.Join();
    MODEL_CHECK(!woken, "no thread wakes the sleeper");
  });
  EXPECT_TRUE(report.passed() && report.complete) << report;
}

}  // namespace
}  // namespace schedq
