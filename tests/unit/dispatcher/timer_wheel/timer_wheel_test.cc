// Goal: a timer comes due at its tick, neither earlier nor later nor twice, in the order of ticks,
// however it was set, overwritten and cancelled; and no tick pays for another's timers.
// Method: an ordered map is the judge of random programs, on the shipped shape and on one so small
// that every border is near; each rule also has a test of its own.
#include "dispatcher/timer_wheel/timer_wheel.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "dispatcher/timer_wheel/occupancy_map.h"
#include "dispatcher/timer_wheel/tick_buckets.h"
#include "dispatcher/timer_wheel/ticket.h"
#include "dispatcher/timer_wheel/ticket_pool.h"
#include "engine/base/random.h"

namespace schedq {
namespace {

struct TinyShape {
  static constexpr uint32_t kBlockBits = 2;
  static constexpr uint32_t kHorizonBits = 6;
  static constexpr uint32_t kFirstTimersBits = 3;
};

template <typename Wheel>
std::vector<uint32_t> Expire(Wheel& wheel, Tick tick) {
  std::vector<uint32_t> expired;
  wheel.ExpireUntil(tick, [&](uint32_t timer) { expired.push_back(timer); });
  return expired;
}

// The judge: what is armed, by timer.
using Armed = std::map<uint32_t, Tick>;

// Ticks of what expired never fall, nothing is early, and all that is due is there.
void Judge(const std::vector<uint32_t>& expired, Tick now, Armed* armed) {
  Tick previous = 0;
  for (const uint32_t timer : expired) {
    const auto entry = armed->find(timer);
    ASSERT_NE(entry, armed->end()) << "timer " << timer << " was not armed";
    ASSERT_LE(entry->second, now);
    ASSERT_GE(entry->second, previous);
    previous = entry->second;
    armed->erase(entry);
  }
  for (const auto& [timer, tick] : *armed) ASSERT_GT(tick, now) << "timer " << timer << " is late";
}

template <typename Shape>
void RunRandomProgram(uint64_t seed, int steps, Tick delay_max, Tick leap_max) {
  Random random(seed);
  TimerWheel<std::atomic, Shape> wheel;
  Armed armed;
  Tick now = 0;
  constexpr uint32_t kTimers = 60;
  for (uint32_t timer = 0; timer < kTimers; ++timer) wheel.ReserveThrough(timer);
  for (int step = 0; step < steps; ++step) {
    const uint32_t timer = static_cast<uint32_t>(random.Below(kTimers));
    const uint64_t kind = random.Below(10);
    if (kind < 6) {
      const Tick tick = now + 1 + random.Below(delay_max);
      wheel.Schedule(timer, tick);
      armed[timer] = tick;
    } else if (kind < 8) {
      ASSERT_EQ(wheel.Cancel(timer), armed.erase(timer) == 1);
    } else {
      now += random.Below(leap_max);
      ASSERT_NO_FATAL_FAILURE(Judge(Expire(wheel, now), now, &armed)) << "seed " << seed;
    }
  }
}

TEST(TimerWheelTest, TinyWheelAgreesWithAnOrderedMap) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    RunRandomProgram<TinyShape>(seed, 400, 62, seed % 2 == 0 ? 5 : 40);
  }
}

TEST(TimerWheelTest, ShippedWheelAgreesWithAnOrderedMap) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RunRandomProgram<WheelShape>(seed, 500, seed % 2 == 0 ? 10'000 : 100'000'000, 20'000);
  }
}

void JudgeALateTimer() {
  Armed armed;
  armed[1] = 5;
  Judge({}, 5, &armed);
}
void JudgeAnUnknownTimer() {
  Armed armed;
  Judge({1}, 5, &armed);
}
TEST(TimerWheelTest, JudgeCatchesLateAndUnknownTimers) {
  EXPECT_FATAL_FAILURE(JudgeALateTimer(), "is late");
  EXPECT_FATAL_FAILURE(JudgeAnUnknownTimer(), "was not armed");
}

// A driver that pumps only when the wheel asks for it meets every tick.
TEST(TimerWheelTest, PumpingWhenAskedIsEnough) {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    TimerWheel<std::atomic, TinyShape> wheel;
    std::multiset<Tick> wanted;
    for (uint32_t timer = 0; timer < 20; ++timer) {
      wheel.ReserveThrough(timer);
      const Tick tick = 1 + random.Below(60);
      wanted.insert(tick);
      wheel.Schedule(timer, tick);
    }
    std::multiset<Tick> expired;
    Tick now = 0;
    for (int pump = 0; now != kNeverTick; ++pump) {
      ASSERT_LT(pump, 200) << "the wheel never stops asking";
      now = *wheel.ExpireUntil(now, [&](uint32_t) { expired.insert(now); });
    }
    ASSERT_EQ(expired, wanted);
  }
}

TEST(TimerWheelTest, EarlierOverwriteAsksForAPump) {
  TimerWheel<> wheel;
  wheel.ReserveThrough(0);
  EXPECT_EQ(wheel.Schedule(0, 100), 100u) << "no pump is planned";
  EXPECT_TRUE(Expire(wheel, 1).empty());
  EXPECT_EQ(wheel.Schedule(0, 300), kNeverTick) << "the wheel looks at 100 anyway";
  EXPECT_EQ(wheel.Schedule(0, 50), 50u);
  EXPECT_TRUE(Expire(wheel, 49).empty());
  EXPECT_EQ(Expire(wheel, 50), std::vector<uint32_t>{0});
  EXPECT_TRUE(Expire(wheel, 400).empty()) << "once";
}

TEST(TimerWheelTest, CancelledTimerStaysUntilSetAgain) {
  TimerWheel<> wheel;
  wheel.ReserveThrough(0);
  wheel.Schedule(0, 10);
  Expire(wheel, 1);
  EXPECT_TRUE(wheel.Cancel(0));
  EXPECT_FALSE(wheel.Cancel(0));
  EXPECT_TRUE(Expire(wheel, 20).empty());
  wheel.Schedule(0, 30);
  EXPECT_EQ(Expire(wheel, 30), std::vector<uint32_t>{0});
}

TEST(TimerWheelTest, LanesAreServedFirstComeFirstServed) {
  TimerWheel<> wheel(2);
  for (uint32_t timer = 0; timer < 4; ++timer) wheel.ReserveThrough(timer);
  wheel.Schedule(3, 0, 1);
  wheel.Schedule(1, 0, 0);
  wheel.Schedule(0, 0, 1);
  wheel.Schedule(2, 0, 1);
  wheel.Cancel(0);
  std::vector<uint32_t> taken;
  wheel.Pump(5, [&](Tick now) {
    EXPECT_EQ(now, 5u);
    for (uint32_t lane = 0; lane < 2; ++lane) {
      while (const auto timer = wheel.PopDue(lane)) taken.push_back(*timer);
    }
    return kNeverTick;
  });
  EXPECT_EQ(taken, (std::vector<uint32_t>{1, 3, 2}));
}

// The timers of all lanes, in the order in which they are popped.
std::vector<uint32_t> PopAll(TimerWheel<>& wheel, Tick tick) {
  std::vector<uint32_t> popped;
  wheel.Pump(tick, [&](Tick) {
    for (uint32_t lane = 0; lane < TimerWord::kLanesMax; ++lane) {
      while (const auto timer = wheel.PopDue(lane)) popped.push_back(*timer);
    }
    return kNeverTick;
  });
  return popped;
}

TEST(TimerWheelTest, ArmedTimerComesDueAsSoonAndInAsGoodALaneAsAnyWants) {
  TimerWheel<> wheel(3);
  wheel.ReserveThrough(2);
  const auto arm = [&](uint32_t timer, Tick tick, uint32_t lane) {
    wheel.ArmBy(timer, wheel.EntryOf(timer), tick, lane, [](Tick) {});
  };
  arm(0, 10, 2);
  arm(0, 20, 1);  // A better lane, and no later.
  arm(1, 30, 0);
  arm(1, 10, 2);  // Sooner, and no worse a lane.
  arm(2, 10, 1);
  EXPECT_EQ(PopAll(wheel, 9), std::vector<uint32_t>());
  EXPECT_EQ(PopAll(wheel, 10), (std::vector<uint32_t>{1, 0, 2}));
  EXPECT_EQ(PopAll(wheel, 40), std::vector<uint32_t>()) << "each once";
}

TEST(TimerWheelTest, TimerThatIsDueChangesItsLane) {
  TimerWheel<> wheel(2);
  wheel.ReserveThrough(1);
  for (const uint32_t timer : {0u, 1u}) wheel.Schedule(timer, 5, 1);
  wheel.Pump(6, [](Tick) { return kNeverTick; });
  wheel.ArmBy(1, wheel.EntryOf(1), 6, 0, [](Tick) {});
  EXPECT_EQ(PopAll(wheel, 7), (std::vector<uint32_t>{1, 0}));
}

TEST(TimerWheelTest, TimerThatIsDueCanBeSetToALaterTick) {
  TimerWheel<> wheel;
  wheel.ReserveThrough(0);
  wheel.Schedule(0, 5);
  wheel.Pump(6, [](Tick) { return kNeverTick; });
  wheel.Schedule(0, 9);
  EXPECT_EQ(PopAll(wheel, 8), std::vector<uint32_t>());
  EXPECT_EQ(PopAll(wheel, 9), std::vector<uint32_t>{0});
}

TEST(TimerWheelTest, ARoundThatThrowsEndsThePump) {
  TimerWheel<> wheel;
  wheel.ReserveThrough(1);
  wheel.Schedule(0, 5);
  const auto fail = [](Tick) -> Tick { throw std::runtime_error("a round's fault"); };
  EXPECT_THROW(wheel.Pump(5, fail), std::runtime_error);
  EXPECT_EQ(wheel.Schedule(1, 100), 100u) << "no pump is planned";
  EXPECT_EQ(Expire(wheel, 6), std::vector<uint32_t>{0});
}

// A hundred thousand timers of one far block move near a few at a time.
TEST(TimerWheelTest, NoTickPaysForABlock) {
  constexpr uint32_t kTimers = 100'000;
  constexpr Tick kFirst = 5u << WheelShape::kBlockBits;
  TicketPool pool;
  TickBuckets<WheelShape> buckets(&pool);
  for (uint32_t timer = 0; timer < kTimers; ++timer) {
    buckets.Link(Ticket(timer, kFirst + timer % (1u << WheelShape::kBlockBits)));
  }
  uint64_t expired = 0;
  uint64_t touched = 0;
  uint64_t most = 0;
  for (Tick tick = 1; tick < kFirst; ++tick) {
    const uint64_t now = buckets.AdvanceTo(
        tick, [](Ticket) {}, [&](Ticket) { ++expired; });
    touched += now;
    most = std::max(most, now);
  }
  EXPECT_EQ(expired, 0u);
  EXPECT_EQ(touched, kTimers) << "each moves once, before its block begins";
  EXPECT_LE(most, kTimers / (1u << WheelShape::kBlockBits) + 1);
}

// Each earlier overwrite leaves a stale ticket behind. Memory stays in proportion nevertheless.
TEST(TimerWheelTest, StaleTicketsAreSweptAway) {
  TimerWheel<> wheel;
  constexpr uint32_t kTimers = 2000;
  wheel.ReserveThrough(kTimers - 1);
  Random random(5);
  uint64_t most = 0;
  Tick now = 0;
  for (uint32_t turn = 0; turn < 200; ++turn) {
    for (uint32_t timer = 0; timer < kTimers; ++timer) {
      // Soon far away, soon near, so that buckets of all kinds and the lane hold stale tickets.
      const Tick far = now + 1'000'000 - turn * 1000 - random.Below(1000);
      wheel.Schedule(timer, timer % 3 == 0 ? now : far);
    }
    wheel.Pump(now, [&](Tick) {
      most = std::max(most, wheel.tickets());
      return kNeverTick;
    });
  }
  EXPECT_LE(most, 5u * kTimers);
  EXPECT_EQ(Expire(wheel, now + 2'000'000).size(), kTimers);
}

TEST(TicketPoolTest, ListsAreServedInOrderAndShareTheirChunks) {
  TicketPool pool;
  TicketList lists[3];
  std::deque<uint32_t> expected[3];
  Random random(11);
  for (uint32_t step = 0; step < 20'000; ++step) {
    const size_t which = random.Below(3);
    if (random.Chance(0.55)) {
      pool.PushBack(lists[which], Ticket(step, step));
      expected[which].push_back(step);
    } else if (!expected[which].empty()) {
      const uint32_t ahead = static_cast<uint32_t>(random.Below(20));
      if (const auto peeked = pool.PeekFront(lists[which], ahead)) {
        ASSERT_EQ(peeked->timer(), expected[which][ahead]);
      }
      ASSERT_EQ(pool.PopFront(lists[which]).timer(), expected[which].front());
      expected[which].pop_front();
    }
    if (step % 1000 != 0) continue;
    const auto is_even = [](uint32_t timer) { return timer % 2 == 0; };
    const uint64_t looked = pool.Filter(
        lists[which], [](Ticket) {}, [&](Ticket ticket) { return is_even(ticket.timer()); });
    ASSERT_EQ(looked, expected[which].size());
    std::erase_if(expected[which], [&](uint32_t timer) { return !is_even(timer); });
    ASSERT_EQ(lists[which].is_empty(), expected[which].empty());
  }
  ASSERT_EQ(pool.size(), expected[0].size() + expected[1].size() + expected[2].size());
}

TEST(OccupancyMapTest, FindsTheNextMember) {
  OccupancyMap map(10'000);
  std::set<size_t> members;
  Random random(3);
  for (int step = 0; step < 3000; ++step) {
    const size_t number = random.Below(10'000);
    if (random.Chance(0.5)) {
      map.Insert(number);
      members.insert(number);
    } else {
      map.Erase(number);
      members.erase(number);
    }
    const size_t from = random.Below(10'000);
    const auto wanted = members.lower_bound(from);
    const auto found = map.FindFrom(from);
    ASSERT_EQ(found.has_value(), wanted != members.end());
    if (found) {
      ASSERT_EQ(*found, *wanted);
    }
  }
}

TEST(TimerWordTest, TicksExpandAcrossTheirModulus) {
  constexpr uint64_t kModulus = uint64_t{1} << TimerWord::kTickBits;
  for (const uint64_t now : {kModulus - 3, kModulus, kModulus * 7 + 5}) {
    for (const int64_t distance : {-1000, -1, 0, 1, 1000, (1 << 27)}) {
      if (distance < 0 && now < 1000) continue;
      const uint64_t tick = now + static_cast<uint64_t>(distance);
      EXPECT_EQ(TimerWord::Expand(tick % kModulus, now), tick);
    }
  }
}

TEST(TimerWheelTest, ATickBeyondTheHorizonIsDueAtItsLastTick) {
  using Wheel = TimerWheel<std::atomic, TinyShape>;
  Wheel wheel;
  wheel.ReserveThrough(1);
  EXPECT_EQ(wheel.Schedule(0, kNeverTick), Wheel::kHorizonTicks - 1);
  wheel.Schedule(1, 10 * Wheel::kHorizonTicks);
  EXPECT_EQ(Expire(wheel, Wheel::kHorizonTicks - 2), std::vector<uint32_t>());
  EXPECT_EQ(Expire(wheel, Wheel::kHorizonTicks - 1), (std::vector<uint32_t>{0, 1}));
}

}  // namespace
}  // namespace schedq
