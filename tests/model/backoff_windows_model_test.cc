// Goal: what backs off is found: by an early pop, or by the flush of its time at the latest,
// however pushes, pops, flushes and windows that change hands meet.
// Method: a ring of two windows, so that seconds meet in one window, exhaustive to two or three
// preemptions; seeds beyond. Tickets may come out twice (a queue above drops the second), never not
// at all.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/backoff/backoff_windows.h"
#include "tests/model/active_queue_model.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

struct TwoWindows {
  using Window = ModelShape;
  static constexpr int64_t kWindows = 2;
  static constexpr size_t kRunEntriesMax = 2;
};
// With what was taken: an entry may be shown to two, and one of them takes what it stands for.
struct Windows : BackoffWindows<model::Atomic, TwoWindows> {
  PopsElsewhere taken;
};

model::Options Named(uint32_t preemptions_max = 2) {
  model::Options options = model::OptionsOfTest();
  options.preemptions_max = preemptions_max;
  options.stale_reads_max = 0;
  options.steps_max = 20'000;
  return options;
}

void Put(Windows& windows, int64_t second, uint64_t ticket) {
  windows.Push(second, {1, static_cast<int64_t>(ticket), ticket});
}
std::set<uint64_t> Flush(Windows& windows, int64_t cutoff) {
  std::set<uint64_t> tickets;
  const auto take = [&](uint64_t ticket) {
    if (windows.taken.Take(ticket)) tickets.insert(ticket);
  };
  const auto take_run = [&](std::span<ActiveEntry> run) {
    for (const ActiveEntry& entry : run) take(entry.ticket);
  };
  windows.Flush(cutoff, take_run, take);
  return tickets;
}
std::set<uint64_t> PopOne(Windows& windows) {
  PopsElsewhere::Taker taker{windows.taken};
  EarlyPop outcome = EarlyPop::kChanged;
  while (outcome == EarlyPop::kChanged) {
    outcome = windows.TryTakeFirst([] { return true; }, taker);
  }
  if (outcome == EarlyPop::kEmpty) return {};
  return {taker.ticket};
}

void ExpectRight(const model::Body& body, uint32_t preemptions_max = 2) {
  const model::Report report = model::Exhaust(Named(preemptions_max), body);
  model::ExpectExhausted(report, 100);
}

// The window of second 1 is empty, and another second wants it while a push comes for second 1.
model::Body PushMeetsClaim() {
  return [](model::Trial& trial) {
    Windows windows;
    Put(windows, 1, 1);
    MODEL_CHECK(PopOne(windows).count(1) == 1, "the window is used and empty");
    trial.Thread([&] { Put(windows, 1, 2); });
    trial.Thread([&] { Put(windows, 3, 3); });
    trial.Join();
    MODEL_CHECK(Flush(windows, 2).count(2) == 1, "an entry is flushed at its time");
    MODEL_CHECK(Flush(windows, 4).count(3) == 1, "and so is the other");
  };
}
TEST(BackoffWindowsModel, WindowIsNotGivenAwayUnderAPush) { ExpectRight(PushMeetsClaim()); }

// The clock leaps over more seconds than the ring has, while a push comes for one of them.
model::Body PushMeetsLeap() {
  return [](model::Trial& trial) {
    Windows windows;
    Put(windows, 1, 1);
    std::set<uint64_t> flushed;
    trial.Thread([&] { Put(windows, 2, 2); });
    trial.Thread([&] { flushed = Flush(windows, 50); });
    trial.Join();
    flushed.merge(Flush(windows, 51));
    MODEL_CHECK(flushed.size() == 2, "nothing is left behind");
  };
}
TEST(BackoffWindowsModel, PushIsFoundAfterALeapOfTheClock) { ExpectRight(PushMeetsLeap()); }

TEST(BackoffWindowsModel, PushMeetsPop) {
  ExpectRight([](model::Trial& trial) {
    Windows windows;
    Put(windows, 1, 1);
    std::set<uint64_t> popped;
    trial.Thread([&] { Put(windows, 2, 2); });
    trial.Thread([&] { popped = PopOne(windows); });
    trial.Join();
    MODEL_CHECK(popped.count(1) == 1, "the earlier window goes first");
    MODEL_CHECK(PopOne(windows).count(2) == 1, "the other is there");
    MODEL_CHECK(PopOne(windows).empty(), "and nothing else");
  });
}

// Second 3 finds its window in use by second 1, and waits beside the ring.
TEST(BackoffWindowsModel, PopBesideTheRingMeetsPush) {
  ExpectRight([](model::Trial& trial) {
    Windows windows;
    Put(windows, 1, 1);
    Put(windows, 3, 3);
    std::array<std::set<uint64_t>, 2> popped;
    trial.Thread([&] { Put(windows, 2, 2); });
    trial.Thread([&] { popped = {PopOne(windows), PopOne(windows)}; });
    trial.Join();
    MODEL_CHECK(popped[0].count(1) == 1, "the earliest goes first");
    MODEL_CHECK(popped[1].size() == 1, "there is another one");
    const uint64_t left = popped[1].count(2) == 1 ? 3 : 2;
    MODEL_CHECK(PopOne(windows).count(left) == 1, "and the third is still there");
    MODEL_CHECK(PopOne(windows).empty(), "and nothing else");
  });
}

TEST(BackoffWindowsModel, PopBesideTheRingMeetsPop) {
  ExpectRight([](model::Trial& trial) {
    Windows windows;
    Put(windows, 1, 1);
    Put(windows, 3, 3);
    Put(windows, 4, 4);
    std::array<std::set<uint64_t>, 2> popped;
    trial.Thread([&] { popped[0] = PopOne(windows); });
    trial.Thread([&] { popped[1] = PopOne(windows); });
    trial.Join();
    popped[0].merge(popped[1]);
    MODEL_CHECK((popped[0] == std::set<uint64_t>{1, 3}), "the two earliest went");
    MODEL_CHECK(PopOne(windows).count(4) == 1, "the third is still there");
  });
}

TEST(BackoffWindowsModel, FlushMeetsPop) {
  ExpectRight([](model::Trial& trial) {
    Windows windows;
    Put(windows, 1, 1);
    Put(windows, 2, 2);
    std::set<uint64_t> flushed;
    std::set<uint64_t> popped;
    trial.Thread([&] { flushed = Flush(windows, 2); });
    trial.Thread([&] { popped = PopOne(windows); });
    trial.Join();
    flushed.merge(popped);
    flushed.merge(Flush(windows, 9));
    MODEL_CHECK(flushed.size() == 2 && popped.size() == 0, "each comes out once");
  });
}

TEST(BackoffWindowsModelSweep, ThreeThreads) {
  const auto body = [](model::Trial& trial) {
    Windows windows;
    std::array<std::set<uint64_t>, 3> out;
    trial.Thread([&] {
      Put(windows, 1, 1);
      Put(windows, 4, 2);
      Put(windows, 2, 3);
    });
    trial.Thread([&] {
      Put(windows, 3, 4);
      out[1] = PopOne(windows);
      Put(windows, 5, 5);
    });
    trial.Thread([&] {
      out[0] = Flush(windows, 2);
      out[2] = Flush(windows, 4);
    });
    trial.Join();
    std::set<uint64_t> all = Flush(windows, 10);
    for (auto& some : out) all.merge(some);
    MODEL_CHECK(all.size() == 5, "each comes out");
  };
  const model::Report report = model::Sweep(Named(), 4'000, body);
  EXPECT_TRUE(report.passed()) << report;
}

TEST(BackoffWindowsModelStall, FrozenThreadStopsNoOther) {
  for (const model::Body& body : {PushMeetsClaim(), PushMeetsLeap()}) {
    const model::Report report = model::ExhaustStalls(Named(0), body);
    model::ExpectNoStall(report, 10);
  }
}

}  // namespace
}  // namespace schedq
