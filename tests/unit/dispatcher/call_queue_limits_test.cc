// Goal: nothing that a caller says ends the program: any delay, any time without a dispatch, and
// answers that nobody waits for.
// Method: each on a virtual clock in which the test is the server.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "tests/support/call_queue_fixture.h"
#include "tests/support/call_scene.h"

namespace schedq {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Tags = std::vector<uint64_t>;

class CallQueueLimitsTest : public CallQueueFixture {
 protected:
  // Dispatches when the queue says, until `end`. Returns what started.
  Tags DispatchAsToldUntil(Instant end) {
    Tags started;
    for (int round = 0; round < 1000 && clock_.Now() < end; ++round) {
      const Instant next = std::min({next_, wake_, end});
      wake_ = Instant::max();
      const Duration left = std::max(next - clock_.Now(), Duration(milliseconds(1)));
      for (const uint64_t tag : DispatchAfter(left)) started.push_back(tag);
    }
    return started;
  }
};

TEST_F(CallQueueLimitsTest, ACallMayWaitLongerThanTheWheelReaches) {
  const Instant began = clock_.Now();
  queue_->Add(SetMessage(Spec(0, 1, hours(1000)), "a"));
  EXPECT_EQ(DispatchAsToldUntil(began + hours(1000) - milliseconds(1)), Tags());
  EXPECT_EQ(DispatchAsToldUntil(began + hours(1000) + milliseconds(1)), Tags{1});
  queue_->Complete(0, Status());
}

TEST_F(CallQueueLimitsTest, ALongDelayCanBeOverwrittenAndCancelled) {
  queue_->Add(SetMessage(Spec(0, 1, hours(1000)), "a"));
  queue_->Add(SetMessage(Spec(1, 2, hours(1000)), "b"));
  DispatchAfter(hours(100));
  queue_->Cancel(0);
  queue_->Add(SetMessage(Spec(1, 3, hours(1)), "c"));
  EXPECT_EQ(DispatchAsToldUntil(clock_.Now() + hours(2)), Tags{3});
  queue_->Complete(1, Status());
  EXPECT_EQ(DispatchAsToldUntil(clock_.Now() + hours(2000)), Tags());
}

TEST_F(CallQueueLimitsTest, ADelayWithoutEndWaits) {
  queue_->Add(SetMessage(Spec(0, 1, Duration::max()), "a"));
  EXPECT_EQ(DispatchAsToldUntil(clock_.Now() + hours(24 * 365)), Tags());
  queue_->Add(SetMessage(Spec(0, 2), "b"));
  EXPECT_EQ(Dispatch(), Tags{2});
  queue_->Complete(0, Status());
}

TEST_F(CallQueueLimitsTest, AQueueThatNobodyDrivesForDaysTakesCalls) {
  queue_->Add(SetMessage(Spec(0, 1, milliseconds(5)), "a"));
  clock_.AdvanceBy(hours(75));
  queue_->Add(SetMessage(Spec(1, 2, milliseconds(5)), "b"));
  clock_.AdvanceBy(hours(300));
  queue_->Add(SetMessage(Spec(2, 3, milliseconds(5)), "c"));
  EXPECT_EQ(Dispatch().size(), 2u) << "both are due";
  EXPECT_EQ(DispatchAsToldUntil(clock_.Now() + milliseconds(6)), Tags{3});
}

TEST_F(CallQueueLimitsTest, AnAnswerThatNobodyWaitsForChangesNothing) {
  queue_->Complete(7, Status());
  queue_->Add(SetMessage(Spec(0, 1), "a"));
  queue_->Complete(0, Status());
  EXPECT_EQ(Dispatch(), Tags{1});
  EXPECT_EQ(queue_->InFlight(), 1u);
  queue_->Complete(0, Status());
  queue_->Complete(0, Error("late"));
  EXPECT_EQ(queue_->InFlight(), 0u);
  EXPECT_EQ(recorder_.TakeEnds(), (std::vector<EndRecorder::Ended>{{1, CallEnd::kSuccess}}));
}

// --- The client's tokens ---

TEST_F(CallQueueLimitsTest, TheEventOfAPatchTakesATokenOfItsOwn) {
  Make({.calls_per_second = 10, .burst = 2});
  for (ObjectId object = 0; object < 3; ++object) {
    ApiCall call = SetMessage(Spec(object, object + 1), "a");
    call.sends_event = true;
    queue_->Add(std::move(call));
  }
  EXPECT_EQ(Dispatch(), Tags{1}) << "its event has the other token";
  EXPECT_EQ(DispatchAsToldUntil(clock_.Now() + milliseconds(99)), Tags());
  EXPECT_EQ(DispatchAsToldUntil(clock_.Now() + milliseconds(10)), Tags{2});
  EXPECT_EQ(DispatchAsToldUntil(clock_.Now() + milliseconds(170)), Tags())
      << "the second event is first";
  EXPECT_EQ(DispatchAsToldUntil(clock_.Now() + milliseconds(50)), Tags{3});
}

TEST_F(CallQueueLimitsTest, EventsWithAClientOfTheirOwnTakeNoToken) {
  Make({.calls_per_second = 10, .burst = 2, .events_have_client = true});
  for (ObjectId object = 0; object < 2; ++object) {
    ApiCall call = SetMessage(Spec(object, object + 1), "a");
    call.sends_event = true;
    queue_->Add(std::move(call));
  }
  EXPECT_EQ(Dispatch(), (Tags{1, 2}));
}

TEST_F(CallQueueLimitsTest, ABindingGoesBeforeTheEventsThatAreOwed) {
  Make({.calls_per_second = 10, .burst = 1});
  ApiCall patch = SetMessage(Spec(0, 1), "a");
  patch.sends_event = true;
  queue_->Add(std::move(patch));
  EXPECT_EQ(Dispatch(), Tags{1});
  for (int i = 0; i < 5; ++i) queue_->TakeEventToken(clock_.Now());
  queue_->Add(CallOf(Spec(1, 2), CallType::kBinding));
  EXPECT_EQ(DispatchAsToldUntil(clock_.Now() + milliseconds(105)), Tags{2});
}

TEST_F(CallQueueLimitsTest, WhatTheCallerSendsItselfTakesItsTokenInTheOrderOfAsking) {
  Make({.calls_per_second = 10, .burst = 1});
  const Instant began = clock_.Now();
  EXPECT_EQ(queue_->TakeToken(began), began);
  const Instant second = queue_->TakeToken(began);
  EXPECT_GE(second, began + milliseconds(100));
  EXPECT_LE(second, began + milliseconds(101));
  EXPECT_GE(queue_->TakeToken(began), began + milliseconds(200));
  queue_->Add(CallOf(Spec(1, 2), CallType::kBinding));
  EXPECT_EQ(DispatchAsToldUntil(began + milliseconds(299)), Tags()) << "two are before it";
  EXPECT_EQ(DispatchAsToldUntil(began + milliseconds(310)), Tags{2});
}

}  // namespace
}  // namespace schedq
