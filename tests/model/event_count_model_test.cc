// Goal: no thread sleeps while there is something to take. A taker announces itself, looks once
// more and then sleeps; a push that it did not see wakes it.
// Method: takers and pushers of a counter, exhaustive to three preemptions with two stale reads. A
// taker that sleeps on is a deadlock, which the model reports. One that does not look again, and a
// pusher that notifies too early, must be caught.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "engine/base/time/time.h"
#include "engine/lockfree/event_count.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/runtime.h"

namespace schedq {
namespace {

using model::FailureKind;
using model::Report;

// A queue that is only a number of things, with the waiting around it that the engine's Pop has.
struct Counted {
  model::Atomic<int> things{0};
  model::Atomic<bool> is_closed{false};
  EventCount<model::Atomic> is_there;

  void Push() {
    things.fetch_add(1);
    is_there.NotifyOne();
  }
  void Close() {
    is_closed.store(true);
    is_there.NotifyAll();
  }
  bool TryTake() {
    int seen = things.load();
    while (seen > 0) {
      if (things.compare_exchange_strong(seen, seen - 1)) return true;
    }
    return false;
  }
  // False: it is closed, or the deadline has passed.
  bool Take(std::optional<MonotonicTime> deadline = std::nullopt) {
    for (;;) {
      const auto ticket = is_there.PrepareWait();
      const bool is_taken = TryTake();
      if (is_taken || is_closed.load()) {
        is_there.CancelWait();
        return is_taken;
      }
      if (!is_there.CommitWait(ticket, deadline)) return TryTake();
    }
  }
};

void ExpectRight(const model::Body& body, const model::Options& options = model::OptionsOfTest()) {
  const Report report = model::Exhaust(options, body);
  model::ExpectExhausted(report, 20);
}

void ExpectSomebodySleepsOn(const model::Body& body) {
  const Report report = model::Exhaust(model::OptionsOfTest(), body);
  EXPECT_TRUE(report.failed_by(FailureKind::kDeadlock)) << report;
}

TEST(EventCountModel, PushMeetsSleep) {
  ExpectRight([](model::Trial& trial) {
    Counted queue;
    trial.Thread([&] { MODEL_CHECK(queue.Take(), "there is one for it"); });
    trial.Thread([&] { queue.Push(); });
    trial.Join();
    MODEL_CHECK(queue.things.load() == 0 && queue.is_there.Waiters() == 0, "nothing is left");
  });
}

// Two wake-ups must not both go to one.
TEST(EventCountModel, TwoPushesMeetTwoSleepers) {
  ExpectRight([](model::Trial& trial) {
    Counted queue;
    for (int taker = 0; taker < 2; ++taker) {
      trial.Thread([&] { MODEL_CHECK(queue.Take(), "there is one for each"); });
    }
    trial.Thread([&] {
      queue.Push();
      queue.Push();
    });
    trial.Join();
    MODEL_CHECK(queue.things.load() == 0 && queue.is_there.Waiters() == 0, "nothing is left");
  });
}

// A wake-up may go to a taker that leaves by its deadline; the thing must not be lost with it.
TEST(EventCountModel, DeadlineTakesNoWakeUpAway) {
  model::Options options = model::OptionsOfTest();
  options.early_returns_max = 1;
  options.preemptions_max = 2;
  ExpectRight(
      [](model::Trial& trial) {
        Counted queue;
        trial.Thread([&] {
          // What it takes it gives back, for the other one.
          if (queue.Take(MonotonicTime())) queue.Push();
        });
        trial.Thread([&] { MODEL_CHECK(queue.Take(), "it waits as long as it takes"); });
        trial.Thread([&] { queue.Push(); });
        trial.Join();
        MODEL_CHECK(queue.things.load() == 0, "nothing is left");
      },
      options);
}

TEST(EventCountModel, CloseWakesAll) {
  ExpectRight([](model::Trial& trial) {
    Counted queue;
    for (int taker = 0; taker < 2; ++taker) {
      trial.Thread([&] { MODEL_CHECK(!queue.Take(), "there was nothing"); });
    }
    trial.Thread([&] { queue.Close(); });
    trial.Join();
    MODEL_CHECK(queue.is_there.Waiters() == 0, "no thread waits");
  });
}

TEST(EventCountModelCanary, TakerThatDoesNotLookAgainIsCaught) {
  ExpectSomebodySleepsOn([](model::Trial& trial) {
    Counted queue;
    trial.Thread([&] {
      if (queue.TryTake()) return;
      queue.is_there.CommitWait(queue.is_there.PrepareWait(), std::nullopt);
    });
    trial.Thread([&] { queue.Push(); });
    trial.Join();
  });
}

TEST(EventCountModelCanary, PusherThatNotifiesTooEarlyIsCaught) {
  ExpectSomebodySleepsOn([](model::Trial& trial) {
    Counted queue;
    trial.Thread([&] { static_cast<void>(queue.Take()); });
    trial.Thread([&] {
      queue.is_there.NotifyOne();
      queue.things.fetch_add(1);
    });
    trial.Join();
  });
}

}  // namespace
}  // namespace schedq
