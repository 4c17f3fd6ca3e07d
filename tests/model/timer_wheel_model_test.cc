// Goal: however schedules, overwrites, cancels and pumps of a timer meet, it comes due once or was
// cancelled, at the tick that was set last, and the thread that must pump is told.
// Method: two or three threads on a tiny wheel, exhaustive within bounds; then seeds; then every
// thread frozen at every step.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dispatcher/timer_wheel/tick_buckets.h"
#include "dispatcher/timer_wheel/ticket.h"
#include "dispatcher/timer_wheel/ticket_inbox.h"
#include "dispatcher/timer_wheel/timer_wheel.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

struct TinyShape {
  static constexpr uint32_t kBlockBits = 2;
  static constexpr uint32_t kHorizonBits = 6;
  static constexpr uint32_t kFirstTimersBits = 2;
};
using Wheel = TimerWheel<model::Atomic, TinyShape>;

model::Options Named(uint32_t preemptions_max) {
  model::Options options = model::OptionsOfTest();
  options.preemptions_max = preemptions_max;
  options.stale_reads_max = 1;
  return options;
}

void ExpectRight(const model::Body& body, uint32_t preemptions_max = 2) {
  const model::Report report = model::Exhaust(Named(preemptions_max), body);
  model::ExpectExhausted(report, 100);
}

// A wheel, and what came due of its timers. Only the pumping thread counts.
struct Scene {
  Scene() {
    for (uint32_t timer = 0; timer < 3; ++timer) wheel.ReserveThrough(timer);
  }
  std::optional<Tick> Pump(Tick tick) {
    return wheel.ExpireUntil(tick, [&](uint32_t timer) { expired[timer].fetch_add(1); });
  }
  int Expired(uint32_t timer) { return expired[timer].load(); }

  Wheel wheel{2};
  std::array<model::Atomic<int>, 3> expired{};
};

model::Body CancelMeetsPump() {
  return [](model::Trial& trial) {
    Scene scene;
    scene.wheel.Schedule(0, 2);
    bool is_cancelled = false;
    trial.Thread([&] { is_cancelled = scene.wheel.Cancel(0); });
    trial.Thread([&] { scene.Pump(3); });
    trial.Join();
    scene.Pump(10);
    MODEL_CHECK(scene.Expired(0) == (is_cancelled ? 0 : 1), "cancelled or due, not both");
    trial.Observe({is_cancelled});
  };
}
TEST(TimerWheelModel, CancelMeetsPump) { ExpectRight(CancelMeetsPump(), 3); }

model::Body OverwriteMeetsPump() {
  return [](model::Trial& trial) {
    Scene scene;
    scene.wheel.Schedule(0, 9);
    scene.Pump(1);
    trial.Thread([&] { scene.wheel.Schedule(0, 3); });
    trial.Thread([&] { scene.Pump(5); });
    trial.Join();
    scene.Pump(6);
    MODEL_CHECK(scene.Expired(0) == 1, "the earlier tick has passed");
    scene.Pump(20);
    MODEL_CHECK(scene.Expired(0) == 1, "and the later one was overwritten");
  };
}
TEST(TimerWheelModel, OverwriteMeetsPump) { ExpectRight(OverwriteMeetsPump(), 3); }

model::Body PumpsMeet() {
  return [](model::Trial& trial) {
    Scene scene;
    scene.wheel.Schedule(0, 2);
    trial.Thread([&] { scene.Pump(1); });
    trial.Thread([&] { scene.Pump(4); });
    trial.Join();
    MODEL_CHECK(scene.Expired(0) == 1, "the pump advances to the latest tick that was asked for");
  };
}
TEST(TimerWheelModel, PumpsMeet) { ExpectRight(PumpsMeet(), 3); }

// The plan that was made before is for a tick that has passed, so it wakes no thread.
model::Body SleeperIsTold() {
  return [](model::Trial& trial) {
    Scene scene;
    scene.wheel.Schedule(1, 2);
    scene.Pump(1);
    std::array<Tick, 2> asked{};
    Tick planned = kNeverTick;
    trial.Thread([&] { asked[0] = scene.wheel.Schedule(0, 30); });
    trial.Thread([&] { asked[1] = scene.wheel.Schedule(0, 5); });
    trial.Thread([&] { planned = *scene.Pump(2); });
    trial.Join();
    // A sleeping thread looks when its last pump said, or earlier if a Schedule asked for it.
    planned = std::min({planned, asked[0], asked[1]});
    while (planned <= 5) planned = *scene.Pump(planned);
    const int in_time = scene.Expired(0);
    scene.Pump(29);
    MODEL_CHECK(scene.Expired(0) == in_time, "no thread pumped at tick 5");
    trial.Observe({in_time});
  };
}
TEST(TimerWheelModel, SleeperIsTold) { ExpectRight(SleeperIsTold()); }

model::Body OverwriteMeetsTake() {
  return [](model::Trial& trial) {
    Scene scene;
    scene.wheel.Schedule(0, 2);
    trial.Thread([&] { scene.wheel.Schedule(0, 20); });
    trial.Thread([&] { scene.Pump(3); });
    trial.Join();
    const int early = scene.Expired(0);
    scene.Pump(19);
    MODEL_CHECK(scene.Expired(0) == early, "what was overwritten does not come due");
    scene.Pump(20);
    MODEL_CHECK(scene.Expired(0) == early + 1, "what was set last does");
  };
}
TEST(TimerWheelModel, OverwriteMeetsTake) { ExpectRight(OverwriteMeetsTake(), 3); }

// Two threads arm a timer. Whichever has returned, the timer comes due by what that thread asked
// for, also if the other one has named the ticket and is frozen before it pushes it, or before it
// wakes the pump.
model::Body ArmsMeet(uint32_t lane_of_first) {
  return [lane_of_first](model::Trial& trial) {
    Scene scene;
    model::Atomic<bool> is_woken{false};
    scene.wheel.Schedule(1, 30);
    scene.Pump(0);
    const auto arm = [&](Tick tick, uint32_t lane) {
      scene.wheel.ArmBy(0, scene.wheel.EntryOf(0), tick, lane, [&](Tick) { is_woken.store(true); });
    };
    trial.Thread([&] { arm(2, lane_of_first); });
    trial.Thread([&] {
      arm(4, 0);
      MODEL_CHECK(is_woken.load(), "a thread that waits for tick 30 is told");
      // A ticket whose cell is claimed and not seen yet is looked for at the next tick.
      for (Tick planned = 4; planned <= 5;) planned = *scene.Pump(planned);
      MODEL_CHECK(scene.Expired(0) >= 1, "it comes due");
    });
    trial.Join();
    scene.Pump(10);
    const int expired = scene.Expired(0);
    MODEL_CHECK(expired == 1 || expired == 2, "a thread that is late arms it once more");
    trial.Observe({expired});
  };
}
TEST(TimerWheelModel, ArmsOfTwoLanesMeet) { ExpectRight(ArmsMeet(1)); }
TEST(TimerWheelModel, ArmsOfOneLaneMeet) { ExpectRight(ArmsMeet(0)); }

// A timer that has a ticket for tick 30 is armed for tick 2 by several threads.
struct SoonerScene : Scene {
  SoonerScene() { ArmBy(30); }

  void ArmBy(Tick tick) {
    wheel.ArmBy(0, wheel.EntryOf(0), tick, 0, [](Tick) {});
  }
  // The timer comes due at tick 2, also if another thread has armed it before and is frozen. (If it
  // is frozen while it pumps, this thread can't pump.)
  void ArmAndPump() {
    const int before = Expired(0);
    ArmBy(2);
    // A ticket whose cell is claimed and not seen yet is looked for at the next tick.
    for (std::optional<Tick> planned = 2; planned <= 3;) {
      planned = Pump(*planned);
      if (!planned) return;
    }
    MODEL_CHECK(Expired(0) > before, "what was armed comes due");
  }
};

// A ticket comes due before its thread says that it was pushed. Another thread arms the timer for
// the same tick and is frozen. Then the first thread goes on: what it says is not said of the
// second one's ticket, on which a third thread relies.
model::Body ArmedAnewForOneTick() {
  return [](model::Trial& trial) {
    SoonerScene scene;
    trial.Thread([&] { scene.ArmBy(2); });
    trial.Thread([&] { scene.ArmBy(2); });
    trial.Thread([&] {
      scene.Pump(2);
      scene.ArmBy(30);
      scene.ArmAndPump();
    });
    trial.Join();
    scene.Pump(5);
  };
}

// One thread relies on another's ticket and is late to say that it has pushed that too. Meanwhile
// the other one pushes it, finds it due, arms the timer for the same tick, and is frozen.
model::Body ArmedAnewByItsThread() {
  return [](model::Trial& trial) {
    SoonerScene scene;
    trial.Thread([&] {
      scene.ArmBy(2);
      scene.Pump(2);
      scene.ArmBy(30);
      scene.ArmBy(2);
    });
    trial.Thread([&] {
      scene.ArmBy(2);
      scene.ArmAndPump();
    });
    trial.Join();
    scene.Pump(5);
  };
}

// The pump meets the ticket of a timer that has none, before its thread has named it.
model::Body ArmMeetsItsPump() {
  return [](model::Trial& trial) {
    Scene scene;
    scene.wheel.Schedule(1, 30);
    scene.Pump(1);
    const auto arm = [&] { scene.wheel.ArmBy(0, scene.wheel.EntryOf(0), 2, 0, [](Tick) {}); };
    trial.Thread(arm);
    trial.Thread([&] { scene.Pump(2); });
    trial.Join();
    scene.Pump(3);
    MODEL_CHECK(scene.Expired(0) == 1, "what was armed comes due once");
  };
}
TEST(TimerWheelModel, ArmMeetsItsPump) { ExpectRight(ArmMeetsItsPump(), 3); }

// Likewise, and another thread arms the timer meanwhile: it comes due, so that the word of the
// first thread is as it was, but for its number.
model::Body ArmMeetsAnotherAndItsPump() {
  return [](model::Trial& trial) {
    Scene scene;
    const auto arm = [&] { scene.wheel.ArmBy(0, scene.wheel.EntryOf(0), 2, 0, [](Tick) {}); };
    trial.Thread(arm);
    trial.Thread([&] {
      arm();
      scene.Pump(2);
    });
    trial.Join();
    const int before = scene.Expired(0);
    arm();
    scene.Pump(3);
    MODEL_CHECK(scene.Expired(0) == before + 1, "what was armed last comes due");
  };
}
TEST(TimerWheelModel, ArmMeetsAnotherAndItsPump) { ExpectRight(ArmMeetsAnotherAndItsPump(), 3); }

// The pump disarms a timer, and then its user looks at what is due; a thread writes what is due,
// and then arms the timer.
model::Body ArmMeetsPump() {
  return [](model::Trial& trial) {
    Scene scene;
    model::Atomic<int> due{0};
    model::Atomic<int> done{0};
    const auto pump = [&](Tick tick) {
      scene.wheel.ExpireUntil(tick, [&](uint32_t) {
        if (due.exchange(0) == 1) done.fetch_add(1);
      });
    };
    scene.wheel.Schedule(0, 2);
    trial.Thread([&] {
      due.store(1);
      scene.wheel.ArmBy(0, scene.wheel.EntryOf(0), 3, 0, [](Tick) {});
    });
    trial.Thread([&] {
      pump(2);
      pump(3);
    });
    trial.Join();
    pump(4);
    MODEL_CHECK(done.load() == 1, "what was written before the timer was armed is seen");
  };
}
TEST(TimerWheelModel, ArmMeetsPump) { ExpectRight(ArmMeetsPump(), 3); }

// Three tickets of two threads, and a taker that looks twice amid them.
model::Body PushesMeetTaking() {
  return [](model::Trial& trial) {
    TicketInbox<model::Atomic> inbox(0);
    std::vector<uint32_t> taken;
    const auto take = [&] {
      inbox.TakeAll([&](Ticket ticket) { taken.push_back(ticket.timer()); });
    };
    trial.Thread([&] {
      inbox.Push(Ticket(1, 0));
      inbox.Push(Ticket(2, 0));
    });
    trial.Thread([&] { inbox.Push(Ticket(3, 0)); });
    trial.Thread([&] {
      take();
      take();
    });
    trial.Join();
    take();
    MODEL_CHECK(inbox.IsEmpty() && !inbox.HasHoles(), "nothing is left behind");
    std::vector<uint32_t> sorted = taken;
    std::sort(sorted.begin(), sorted.end());
    MODEL_CHECK(sorted == (std::vector<uint32_t>{1, 2, 3}), "each is taken once");
    const auto first = std::find(taken.begin(), taken.end(), 1u);
    MODEL_CHECK(std::find(first, taken.end(), 2u) != taken.end(), "in the order of their coming");
  };
}
TEST(TicketInboxModel, PushesMeetTaking) { ExpectRight(PushesMeetTaking()); }

// A frozen taker delays the pump only; a frozen pusher must not delay the others.
TEST(TicketInboxModel, FrozenPusherHoldsBackItsOwnTicketOnly) {
  const auto body = [](model::Trial& trial) {
    TicketInbox<model::Atomic> inbox(0);
    uint32_t taken = 0;
    const auto take = [&] { inbox.TakeAll([&](Ticket) { ++taken; }); };
    trial.Thread([&] { inbox.Push(Ticket(1, 0)); });
    trial.Thread([&] {
      // More rounds than there are buffers.
      for (uint32_t round = 0; round < 6; ++round) {
        inbox.Push(Ticket(2, 0));
        take();
        MODEL_CHECK(taken >= round + 1, "its own ticket comes at once");
      }
    });
    trial.Join();
    take();
    MODEL_CHECK(taken == 7, "each once");
  };
  const model::Report report = model::ExhaustStalls(Named(1), body);
  EXPECT_TRUE(report.passed() && report.complete) << report;
  ExpectRight(body);
}

TEST(TimerWheelModelSweep, ThreeThreads) {
  const auto body = [](model::Trial& trial) {
    Scene scene;
    std::array<int, 3> armed{};
    for (uint32_t thread = 0; thread < 3; ++thread) {
      trial.Thread([&scene, &armed, thread] {
        scene.wheel.Schedule(thread, 4 + thread);
        scene.Pump(2 + thread);
        if (!scene.wheel.Cancel(thread)) ++armed[thread];
        scene.wheel.Schedule(thread, 5);
        scene.wheel.Schedule(thread, 20 - thread);
        ++armed[thread];
      });
    }
    trial.Thread([&scene] {
      scene.Pump(3);
      scene.Pump(6);
    });
    trial.Join();
    scene.Pump(30);
    for (uint32_t thread = 0; thread < 3; ++thread) {
      // The first overwrite may have come due before the second.
      const int expired = scene.Expired(thread);
      MODEL_CHECK(expired == armed[thread] || expired == armed[thread] + 1, "each once");
    }
  };
  const model::Report report = model::Sweep(Named(0), 20'000, body);
  EXPECT_TRUE(report.passed()) << report;
}

TEST(TimerWheelModelStall, FrozenThreadStopsNoOther) {
  for (const model::Body& body : {CancelMeetsPump(), OverwriteMeetsPump(), PumpsMeet(), ArmsMeet(0),
                                  ArmsMeet(1), ArmMeetsPump(), ArmMeetsItsPump()}) {
    const model::Report report = model::ExhaustStalls(Named(1), body);
    model::ExpectNoStall(report, 10);
  }
}

// Two preemptions, so that a thread is late where another is frozen; no stale reads, for these are
// many schedules.
void ExpectNoStallOfLateThreads(const model::Body& body) {
  model::Options options = Named(2);
  options.stale_reads_max = 0;
  options.weak_failures_max = 0;
  model::ExpectNoStall(model::ExhaustStalls(options, body), 10);
}
TEST(TimerWheelModelStall, ArmedAnewForOneTick) {
  ExpectNoStallOfLateThreads(ArmedAnewForOneTick());
}
TEST(TimerWheelModelStall, ArmedAnewByItsThread) {
  ExpectNoStallOfLateThreads(ArmedAnewByItsThread());
}

}  // namespace
}  // namespace schedq
