// Goal: the model's memory is that of C++20, within the bounds that memory.h states.
// Method: classic litmus tests. Each is explored to the end without bounds on preemptions and stale
// reads, and the set of outcomes must be exactly the allowed one: a forbidden outcome that appears
// is a model too weak, an allowed one that is missing is a model that would let bugs pass.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "tests/support/model/atomic.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/runtime.h"

namespace schedq {
namespace {

using model::Report;
using model::Trial;
using Outcomes = std::set<std::vector<int64_t>>;
using Order = std::memory_order;

constexpr Order kRelaxed = std::memory_order_relaxed;
constexpr Order kAcquire = std::memory_order_acquire;
constexpr Order kRelease = std::memory_order_release;
constexpr Order kSeqCst = std::memory_order_seq_cst;

struct Orders {
  Order store;
  Order load;
  // A fence between the two accesses of a thread; relaxed for none.
  Order fence = kRelaxed;
};

constexpr Orders kAllRelaxed{kRelaxed, kRelaxed};
constexpr Orders kReleaseAcquire{kRelease, kAcquire};
constexpr Orders kAllSeqCst{kSeqCst, kSeqCst};
constexpr Orders kSeqCstFences{kRelaxed, kRelaxed, kSeqCst};
constexpr Orders kAcqRelFences{kRelaxed, kRelaxed, std::memory_order_acq_rel};

void FenceIf(Order order) {
  if (order != kRelaxed) Seam<model::Atomic>::Fence(order);
}

Report Explore(const std::function<void(Trial&)>& body) {
  return model::Exhaust({.name = testing::UnitTest::GetInstance()->current_test_info()->name(),
                         .preemptions_max = 1000,
                         .stale_reads_max = 1000},
                        body);
}

Outcomes OutcomesOf(const std::function<void(Trial&)>& body) {
  const Report report = Explore(body);
  EXPECT_TRUE(report.passed() && report.complete) << report;
  Outcomes outcomes;
  for (const auto& [values, schedules] : report.observations) outcomes.insert(values);
  return outcomes;
}

// thread 1: x = 1; read y        thread 2: y = 1; read x
Outcomes StoreBuffering(Orders orders) {
  return OutcomesOf([orders](Trial& trial) {
    model::Atomic<int> x(0), y(0);
    int read_y = -1, read_x = -1;
    trial.Thread([&] {
      x.store(1, orders.store);
      FenceIf(orders.fence);
      read_y = y.load(orders.load);
    });
    trial.Thread([&] {
      y.store(1, orders.store);
      FenceIf(orders.fence);
      read_x = x.load(orders.load);
    });
    trial.Join();
    trial.Observe({read_y, read_x});
  });
}

// thread 1: data = 1; flag = 1        thread 2: read flag; read data
Outcomes MessagePassing(Orders orders) {
  return OutcomesOf([orders](Trial& trial) {
    model::Atomic<int> data(0), flag(0);
    int read_flag = -1, read_data = -1;
    trial.Thread([&] {
      data.store(1, kRelaxed);
      FenceIf(orders.fence);
      flag.store(1, orders.store);
    });
    trial.Thread([&] {
      read_flag = flag.load(orders.load);
      FenceIf(orders.fence);
      read_data = data.load(kRelaxed);
    });
    trial.Join();
    trial.Observe({read_flag, read_data});
  });
}

// thread 1: x = 1    2: y = 1    3: read x; read y    4: read y; read x
Outcomes IndependentReads(Orders orders) {
  return OutcomesOf([orders](Trial& trial) {
    model::Atomic<int> x(0), y(0);
    int first_x = -1, then_y = -1, first_y = -1, then_x = -1;
    trial.Thread([&] { x.store(1, orders.store); });
    trial.Thread([&] { y.store(1, orders.store); });
    trial.Thread([&] {
      first_x = x.load(orders.load);
      FenceIf(orders.fence);
      then_y = y.load(orders.load);
    });
    trial.Thread([&] {
      first_y = y.load(orders.load);
      FenceIf(orders.fence);
      then_x = x.load(orders.load);
    });
    trial.Join();
    trial.Observe({first_x, then_y, first_y, then_x});
  });
}

Outcomes AllBits(size_t bits, const Outcomes& forbidden) {
  Outcomes all;
  for (int64_t pattern = 0; pattern < int64_t{1} << bits; ++pattern) {
    std::vector<int64_t> values;
    for (size_t bit = 0; bit < bits; ++bit) values.push_back(pattern >> bit & 1);
    if (forbidden.count(values) == 0) all.insert(values);
  }
  return all;
}

TEST(LitmusTest, StoreBufferingNeedsSequentialConsistency) {
  const Outcomes strong = AllBits(2, {{0, 0}});
  EXPECT_EQ(StoreBuffering(kAllRelaxed), AllBits(2, {}));
  EXPECT_EQ(StoreBuffering(kReleaseAcquire), AllBits(2, {}));
  EXPECT_EQ(StoreBuffering({kSeqCst, kAcquire}), AllBits(2, {}));
  EXPECT_EQ(StoreBuffering({kRelease, kSeqCst}), AllBits(2, {}));
  EXPECT_EQ(StoreBuffering(kAcqRelFences), AllBits(2, {}));
  EXPECT_EQ(StoreBuffering(kAllSeqCst), strong);
  EXPECT_EQ(StoreBuffering(kSeqCstFences), strong);
}

TEST(LitmusTest, StoreBufferingWithFenceOnOneSide) {
  // A fence on one side pairs with sequentially consistent operations on the other.
  const Outcomes outcomes = OutcomesOf([](Trial& trial) {
    model::Atomic<int> x(0), y(0);
    int read_y = -1, read_x = -1;
    trial.Thread([&] {
      x.store(1, kRelaxed);
      FenceIf(kSeqCst);
      read_y = y.load(kRelaxed);
    });
    trial.Thread([&] {
      y.store(1, kSeqCst);
      read_x = x.load(kSeqCst);
    });
    trial.Join();
    trial.Observe({read_y, read_x});
  });
  EXPECT_EQ(outcomes, AllBits(2, {{0, 0}}));
}

TEST(LitmusTest, MessagePassingNeedsReleaseAndAcquire) {
  const Outcomes strong = AllBits(2, {{1, 0}});
  EXPECT_EQ(MessagePassing(kAllRelaxed), AllBits(2, {}));
  EXPECT_EQ(MessagePassing({kRelease, kRelaxed}), AllBits(2, {}));
  EXPECT_EQ(MessagePassing({kRelaxed, kAcquire}), AllBits(2, {}));
  EXPECT_EQ(MessagePassing(kReleaseAcquire), strong);
  EXPECT_EQ(MessagePassing(kAcqRelFences), strong);
  EXPECT_EQ(MessagePassing(kAllSeqCst), strong);
}

TEST(LitmusTest, IndependentReadersMayDisagreeUnlessSequentiallyConsistent) {
  const Outcomes strong = AllBits(4, {{1, 0, 1, 0}});
  EXPECT_EQ(IndependentReads(kAllRelaxed), AllBits(4, {}));
  EXPECT_EQ(IndependentReads(kReleaseAcquire), AllBits(4, {}));
  EXPECT_EQ(IndependentReads(kAllSeqCst), strong);
  EXPECT_EQ(IndependentReads({kRelease, kSeqCst}), strong);
  EXPECT_EQ(IndependentReads(kSeqCstFences), strong);
}

TEST(LitmusTest, OneLocationIsCoherent) {
  const Outcomes outcomes = OutcomesOf([](Trial& trial) {
    model::Atomic<int> x(0);
    int first = -1, second = -1;
    trial.Thread([&] {
      x.store(1, kRelaxed);
      x.store(2, kRelaxed);
    });
    trial.Thread([&] {
      first = x.load(kRelaxed);
      second = x.load(kRelaxed);
    });
    trial.Join();
    trial.Observe({first, second});
  });
  EXPECT_EQ(outcomes, (Outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

TEST(LitmusTest, WhatWasReadPassesOn) {
  // thread 1: x = 1    2: if x, y = 1    3: read y; read x
  const auto causality = [](Orders orders) {
    return OutcomesOf([orders](Trial& trial) {
      model::Atomic<int> x(0), y(0);
      int read_y = -1, read_x = -1;
      trial.Thread([&] { x.store(1, kRelaxed); });
      trial.Thread([&] {
        if (x.load(kRelaxed) == 1) y.store(1, orders.store);
      });
      trial.Thread([&] {
        read_y = y.load(orders.load);
        read_x = x.load(kRelaxed);
      });
      trial.Join();
      trial.Observe({read_y, read_x});
    });
  };
  EXPECT_EQ(causality(kReleaseAcquire), AllBits(2, {{1, 0}}));
  EXPECT_EQ(causality(kAllRelaxed), AllBits(2, {}));
}

// Thread 1 releases 1; thread 2 (or thread 1 itself) changes the flag to 2 in the way given; thread
// 3 acquires and, at 2, reads what thread 1 wrote before.
Report ReleaseSequence(const std::function<void(model::Atomic<int>&)>& continue_in_thread_1,
                       const std::function<void(model::Atomic<int>&)>& change_in_thread_2) {
  return Explore([&](Trial& trial) {
    model::Atomic<int> flag(0);
    model::CheckedCell<int> data(0);
    trial.Thread([&] {
      data.Write(1);
      flag.store(1, kRelease);
      continue_in_thread_1(flag);
    });
    trial.Thread([&] { change_in_thread_2(flag); });
    trial.Thread([&] {
      if (flag.load(kAcquire) == 2) MODEL_CHECK(data.Read() == 1, "the write came before");
    });
    trial.Join();
  });
}

TEST(LitmusTest, ReleaseSequenceGoesOnThroughUpdatesOnly) {
  const auto nothing = [](model::Atomic<int>&) {};
  const Report update = ReleaseSequence(nothing, [](model::Atomic<int>& flag) {
    int one = 1;
    flag.compare_exchange_strong(one, 2, kRelaxed, kRelaxed);
  });
  EXPECT_TRUE(update.passed() && update.complete) << update;

  const Report overwrite = ReleaseSequence(nothing, [](model::Atomic<int>& flag) {
    if (flag.load(kRelaxed) == 1) flag.store(2, kRelaxed);
  });
  EXPECT_TRUE(overwrite.failed_by(model::FailureKind::kDataRace)) << overwrite;

  // C++17 still counted later stores of the same thread; C++20 does not.
  const Report own_store =
      ReleaseSequence([](model::Atomic<int>& flag) { flag.store(2, kRelaxed); }, nothing);
  EXPECT_TRUE(own_store.failed_by(model::FailureKind::kDataRace)) << own_store;
}

TEST(LitmusTest, UpdatesReadTheNewest) {
  const Outcomes outcomes = OutcomesOf([](Trial& trial) {
    model::Atomic<int> x(0);
    trial.Thread([&] { x.fetch_add(1, kRelaxed); });
    trial.Thread([&] { x.fetch_add(1, kRelaxed); });
    trial.Thread([&] { x.exchange(x.load(kRelaxed), kRelaxed); });
    trial.Join();
    trial.Observe({x.load(kRelaxed)});
  });
  EXPECT_EQ(outcomes, (Outcomes{{0}, {1}, {2}}));
}

TEST(LitmusTest, StatedBoundsHold) {
  // What the model leaves out by its form; when it learns them, memory.h must say so.
  const Outcomes load_buffering = OutcomesOf([](Trial& trial) {
    model::Atomic<int> x(0), y(0);
    int read_x = -1, read_y = -1;
    trial.Thread([&] {
      read_x = x.load(kRelaxed);
      y.store(1, kRelaxed);
    });
    trial.Thread([&] {
      read_y = y.load(kRelaxed);
      x.store(1, kRelaxed);
    });
    trial.Join();
    trial.Observe({read_x, read_y});
  });
  EXPECT_EQ(load_buffering, AllBits(2, {{1, 1}}));

  const Outcomes two_writes = OutcomesOf([](Trial& trial) {
    model::Atomic<int> x(0), y(0);
    trial.Thread([&] {
      x.store(1, kRelaxed);
      y.store(2, kRelaxed);
    });
    trial.Thread([&] {
      y.store(1, kRelaxed);
      x.store(2, kRelaxed);
    });
    trial.Join();
    trial.Observe({x.load(kRelaxed), y.load(kRelaxed)});
  });
  EXPECT_EQ(two_writes, (Outcomes{{1, 1}, {1, 2}, {2, 1}, {2, 2}}));
}

}  // namespace
}  // namespace schedq
