// Turns of threads that meet (turns.h): a wait ends, whatever the other thread does.
#include "engine/lockfree/active/turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace schedq {
namespace {

using CrowdTurns = Turns<std::atomic, true>;

// Takes `count` turns of a thread that has met another one.
void TakeTurns(CrowdTurns& turns, int count) {
  for (int i = 0; i < count; ++i) {
    CrowdTurns::Turn turn(turns);
    turn.Met();
  }
}

TEST(Turns, AThreadThatStoppedAmidItsTurnIsNotWaitedFor) {
  CrowdTurns turns;
  CrowdTurns::Turn stopped(turns);
  stopped.Met();
  std::thread([&turns] { TakeTurns(turns, 1000); }).join();
}

TEST(Turns, AThreadThatNeverPausesIsWaitedForABoundedTime) {
  CrowdTurns turns;
  std::atomic<bool> is_over = false;
  std::thread busy([&] {
    while (!is_over) TakeTurns(turns, 1);
  });
  std::thread([&turns] { TakeTurns(turns, 1000); }).join();
  is_over = true;
  busy.join();
}

TEST(Turns, OnlyAThreadThatMetAnotherTakesTurnsAndOnlyForAWhile) {
  CrowdTurns turns;
  std::thread([&turns] {
    {
      const CrowdTurns::Turn stranger(turns);
      EXPECT_FALSE(turns.IsUnderWay());
    }
    TakeTurns(turns, 1);
    uint32_t begun = 0;
    for (uint32_t i = 0; i < 2 * CrowdTurns::kOperationsAfterMeeting; ++i) {
      const CrowdTurns::Turn turn(turns);
      begun += turns.IsUnderWay() ? 1 : 0;
    }
    EXPECT_EQ(begun, CrowdTurns::kOperationsAfterMeeting - 1);
  }).join();
}

TEST(Turns, ATurnEndsWithItsScopeHoweverOftenItsThreadMeetsAnother) {
  CrowdTurns turns;
  {
    CrowdTurns::Turn turn(turns);
    turn.Met();
    turn.Met();
    EXPECT_TRUE(turns.IsUnderWay());
  }
  EXPECT_FALSE(turns.IsUnderWay());
}

}  // namespace
}  // namespace schedq
