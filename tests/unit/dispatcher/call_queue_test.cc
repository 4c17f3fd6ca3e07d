// Goal: the call queue keeps its rules: what merges, overwrites and is skipped, what goes first and
// when, and that every call ends exactly once.
// Method: each rule has a test on a virtual clock in which the test is the server.
#include "dispatcher/call_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dispatcher/api_call.h"
#include "engine/base/log.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "tests/support/call_queue_fixture.h"
#include "tests/support/call_scene.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Ended = EndRecorder::Ended;
using Ends = std::vector<Ended>;

constexpr Duration kDelay = seconds(5);

using CallQueueTest = CallQueueFixture;

TEST_F(CallQueueTest, DelayedCallStartsAtItsDeadline) {
  queue_->Add(SetMessage(Spec(3, 1, kDelay), "waits"));
  EXPECT_EQ(wake_, clock_.Now() + kDelay);
  EXPECT_TRUE(Dispatch().empty());
  EXPECT_LE(next_, clock_.Now() + kDelay);
  EXPECT_TRUE(DispatchAfter(kDelay - milliseconds(1)).empty());
  EXPECT_EQ(DispatchAfter(milliseconds(1)), std::vector<uint64_t>{1});
  EXPECT_TRUE(recorder_.TakeEnds().empty()) << "in flight";
  queue_->Complete(3, Status());
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kSuccess}}));
}

TEST_F(CallQueueTest, NewerConditionReplacesAndTheDeadlineStays) {
  queue_->Add(SetMessage(Spec(0, 1, kDelay), "first"));
  clock_.AdvanceBy(seconds(4));
  queue_->Add(SetMessage(Spec(0, 2, kDelay), "second"));
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kOverwritten}}));
  EXPECT_EQ(DispatchAfter(seconds(1)), std::vector<uint64_t>{2});
  EXPECT_EQ(sent_[0].condition.message, "second");
}

TEST_F(CallQueueTest, UndelayedCallMakesADelayedOneDue) {
  queue_->Add(SetMessage(Spec(0, 1, kDelay), "message"));
  Dispatch();
  queue_->Add(NominateNode(Spec(0, 2), "node"));
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{2});
  EXPECT_EQ(sent_[0].condition.message, "message") << "merged";
  EXPECT_EQ(*sent_[0].nomination(), "node");
  EXPECT_TRUE(sent_[0].sends_event);
}

TEST_F(CallQueueTest, NominationStaysUnlessThereIsANewerOne) {
  queue_->Add(NominateNode(Spec(0, 1, kDelay), "first"));
  queue_->Add(SetMessage(Spec(0, 2, kDelay), "message"));
  queue_->Add(NominateNode(Spec(0, 3, kDelay), "second"));
  DispatchAfter(kDelay);
  EXPECT_EQ(*sent_[0].nomination(), "second");
  EXPECT_EQ(sent_[0].condition.message, "message");
}

TEST_F(CallQueueTest, SetAndClearCancelOut) {
  queue_->Add(SetMessage(Spec(0, 1, kDelay), "message"));
  queue_->Add(ClearMessage(Spec(0, 2, kDelay)));
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kOverwritten}, {2, CallEnd::kSkipped}}));
  EXPECT_TRUE(DispatchAfter(kDelay).empty());
}

TEST_F(CallQueueTest, ClearAndSetOfWhatIsShownCancelOut) {
  CallSpec clear = Spec(0, 1, kDelay);
  CallSpec set = Spec(0, 2, kDelay);
  clear.pod = set.pod = MarkedPod("message");
  queue_->Add(ClearMessage(clear));
  queue_->Add(SetMessage(set, "message"));
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kOverwritten}, {2, CallEnd::kSkipped}}));
}

TEST_F(CallQueueTest, ClearTouchesOnlyItsOwnReason) {
  CallSpec clear = Spec(0, 1);
  clear.pod = MarkedPod("no node fits", "Unschedulable");
  queue_->Add(ClearMessage(clear));
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kSkipped}}));
}

TEST_F(CallQueueTest, SyncMakesAWaitingCallANoOp) {
  queue_->Add(SetMessage(Spec(0, 1, kDelay), "message"));
  queue_->Sync(0, MarkedPod("another"));
  EXPECT_TRUE(recorder_.TakeEnds().empty());
  queue_->Sync(0, MarkedPod("message"));
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kSkipped}}));
  queue_->Sync(999, MarkedPod("message"));  // No call was about it: nothing.
}

TEST_F(CallQueueTest, SyncWithAnotherPodOfTheNumberChangesNothing) {
  const CallSpec spec = Spec(0, 1, kDelay);
  queue_->Add(SetMessage(spec, "message"));
  const std::shared_ptr<Pod> another = MarkedPod("message");
  another->uid = "another";
  queue_->Sync(0, another);
  EXPECT_TRUE(recorder_.TakeEnds().empty()) << "the other pod shows that";
  EXPECT_EQ(DispatchAfter(kDelay), std::vector<uint64_t>{1});
  EXPECT_EQ(sent_[0].pod, spec.pod) << "the call is about the pod that it was made for";
}

TEST_F(CallQueueTest, MoreRelevantOverwritesAndLessRelevantIsSkipped) {
  queue_->Add(SetMessage(Spec(0, 1, kDelay), "message"));
  queue_->Add(CallOf(Spec(0, 2), CallType::kDeletion));
  queue_->Add(SetMessage(Spec(0, 3), "message"));
  queue_->Add(BindTo(Spec(0, 4), "node"));
  EXPECT_EQ(recorder_.TakeEnds(),
            (Ends{{1, CallEnd::kOverwritten}, {3, CallEnd::kSkipped}, {2, CallEnd::kOverwritten}}));
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{4});
  queue_->Add(SetMessage(Spec(0, 5), "message"));
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{5, CallEnd::kSkipped}})) << "a binding is in flight";
}

TEST_F(CallQueueTest, WhatComesDuringAFlightWaitsAndIsJudgedAtItsEnd) {
  queue_->Add(SetMessage(Spec(0, 1), "message"));
  Dispatch();
  queue_->Add(SetMessage(Spec(0, 2), "message"));
  EXPECT_TRUE(Dispatch().empty()) << "one in flight an object";
  EXPECT_TRUE(recorder_.TakeEnds().empty());
  queue_->Complete(0, Status());
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{2, CallEnd::kSkipped}, {1, CallEnd::kSuccess}}));
}

TEST_F(CallQueueTest, AfterAFailedFlightTheWaitingCallCarriesItsContent) {
  queue_->Add(NominateNode(Spec(0, 1), "node"));
  Dispatch();
  queue_->Add(SetMessage(Spec(0, 2), "message"));
  queue_->Complete(0, Error("unavailable"));
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kError}}));
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{2});
  EXPECT_EQ(*sent_[0].nomination(), "node");
}

// A nomination inherits a condition, and the condition's listener is told how it ended.
TEST_F(CallQueueTest, TheConditionsListenerIsToldHowItsSuccessorEnded) {
  for (const bool is_ok : {false, true}) {
    queue_->Add(SetMessage(Spec(0, 1, kDelay), "message"));
    queue_->Add(NominateNode(Spec(0, 2, kDelay), "first"));
    queue_->Add(NominateNode(Spec(0, 3), "second"));
    EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kOverwritten}, {2, CallEnd::kOverwritten}}));
    EXPECT_EQ(Dispatch(), std::vector<uint64_t>{3});
    EXPECT_TRUE(recorder_.TakeSuccessorEnds().empty()) << "in flight";
    queue_->Complete(0, is_ok ? Status() : Error("unavailable"));
    const CallEnd end = is_ok ? CallEnd::kSuccess : CallEnd::kError;
    EXPECT_EQ(recorder_.TakeEnds(), (Ends{{3, end}})) << "each call ends once";
    EXPECT_EQ(recorder_.TakeSuccessorEnds(), (Ends{{1, end}}));
  }
}

TEST_F(CallQueueTest, ConditionThatABindingMadeVainIsToldWhenThatFails) {
  queue_->Add(SetMessage(Spec(0, 1, kDelay), "message"));
  queue_->Add(NominateNode(Spec(0, 2, kDelay), "node"));
  queue_->Add(BindTo(Spec(0, 3), "node"));
  Dispatch();
  queue_->Complete(0, Error("conflict"));
  EXPECT_EQ(recorder_.TakeSuccessorEnds(), (Ends{{1, CallEnd::kError}}));
}

TEST_F(CallQueueTest, ReplacedConditionHasNoSuccessor) {
  queue_->Add(SetMessage(Spec(0, 1, kDelay), "first"));
  queue_->Add(NominateNode(Spec(0, 2, kDelay), "node"));
  queue_->Add(SetMessage(Spec(0, 3), "second"));
  Dispatch();
  queue_->Complete(0, Error("unavailable"));
  EXPECT_TRUE(recorder_.TakeSuccessorEnds().empty());
}

// Its own call tells of it.
TEST_F(CallQueueTest, ConditionOfACallInFlightHasNoSuccessor) {
  queue_->Add(SetMessage(Spec(0, 1), "message"));
  Dispatch();
  queue_->Add(NominateNode(Spec(0, 2), "node"));
  queue_->Complete(0, Error("unavailable"));
  Dispatch();
  queue_->Complete(0, Error("unavailable"));
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kError}, {2, CallEnd::kError}}));
  EXPECT_TRUE(recorder_.TakeSuccessorEnds().empty());
}

TEST_F(CallQueueTest, EventOfACallInFlightIsNotSentAgain) {
  queue_->Add(SetMessage(Spec(0, 1), "message"));
  Dispatch();
  EXPECT_TRUE(sent_[0].sends_event);
  queue_->Add(NominateNode(Spec(0, 2), "node"));
  queue_->Complete(0, Status());
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{2});
  EXPECT_EQ(*sent_[0].nomination(), "node");
  EXPECT_FALSE(sent_[0].sends_event);
}

TEST_F(CallQueueTest, ClearAfterASentSetGoesOut) {
  queue_->Add(SetMessage(Spec(0, 1), "message"));
  Dispatch();
  queue_->Add(ClearMessage(Spec(0, 2, kDelay)));
  queue_->Complete(0, Status());
  EXPECT_EQ(DispatchAfter(kDelay), std::vector<uint64_t>{2});
}

// The pod passes after its message was stored and before the queue was synced with it.
TEST_F(CallQueueTest, ClearIsNoNoOpBeforeTheSetWasSeen) {
  queue_->Add(SetMessage(Spec(0, 1), "message"));
  Dispatch();
  queue_->Complete(0, Status());
  queue_->Add(ClearMessage(Spec(0, 2, kDelay)));
  queue_->Sync(0, UnmarkedPod());  // An older version.
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kSuccess}}));
  EXPECT_EQ(DispatchAfter(kDelay), std::vector<uint64_t>{2});
}

TEST_F(CallQueueTest, SeenEffectsAreJudgedByWhatIsSeen) {
  queue_->Add(SetMessage(Spec(0, 1), "message"));
  Dispatch();
  queue_->Complete(0, Status());
  queue_->Add(SetMessage(Spec(0, 2), "message"));
  queue_->Sync(0, MarkedPod("message"));
  queue_->Add(SetMessage(Spec(0, 3, kDelay), "message"));  // The message was removed meanwhile.
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kSuccess}, {2, CallEnd::kSkipped}}));
  EXPECT_EQ(DispatchAfter(kDelay), std::vector<uint64_t>{3});
}

// The answer comes when the pod is gone and another has its number.
TEST_F(CallQueueTest, AnotherPodOfTheNumberInheritsNothing) {
  queue_->Add(NominateNode(Spec(0, 1), "node"));
  queue_->Add(SetMessage(Spec(0, 2), "message"));
  Dispatch();
  queue_->Cancel(0);
  CallSpec next = Spec(0, 3);
  next.pod = UnmarkedPod("another");
  queue_->Add(SetMessage(next, "message"));
  queue_->Complete(0, Status());
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{3}) << "this pod does not show the message yet";
  EXPECT_EQ(sent_[0].nomination(), nullptr);
}

TEST_F(CallQueueTest, WhatAnotherPodOfTheNumberWasSentIsNoNoOp) {
  queue_->Add(SetMessage(Spec(0, 1), "message"));
  Dispatch();
  queue_->Cancel(0);
  queue_->Complete(0, Status());
  CallSpec next = Spec(0, 2);
  next.pod = UnmarkedPod("another");
  queue_->Add(SetMessage(next, "message"));
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{2});
}

TEST_F(CallQueueTest, PatchWaitsForTheBindingOfAnotherPodOfTheNumber) {
  queue_->Add(BindTo(Spec(0, 1), "node"));
  Dispatch();
  CallSpec next = Spec(0, 2);
  next.pod = UnmarkedPod("another");
  queue_->Add(SetMessage(next, "message"));
  EXPECT_TRUE(Dispatch().empty()) << "one in flight a number";
  queue_->Complete(0, Error("the pod was not found (404)"));
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kError}}));
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{2});
}

TEST_F(CallQueueTest, BindingsGoFirstThenDeletionsThenPatches) {
  queue_->Add(SetMessage(Spec(0, 1), "message"));
  queue_->Add(CallOf(Spec(1, 2), CallType::kDeletion));
  queue_->Add(BindTo(Spec(2, 3), "node"));
  queue_->Add(SetMessage(Spec(3, 4), "message"));
  queue_->Add(BindTo(Spec(4, 5), "node"));
  EXPECT_EQ(Dispatch(), (std::vector<uint64_t>{3, 5, 2, 1, 4}));
}

TEST_F(CallQueueTest, PatchesKeepTheirShare) {
  Make({.in_flight_max = 1000, .calls_per_second = 0, .patch_share = 3});
  for (ObjectId object = 0; object < 9; ++object) queue_->Add(BindTo(Spec(object, 1), "node"));
  for (ObjectId object = 9; object < 12; ++object) {
    queue_->Add(SetMessage(Spec(object, 2), "message"));
  }
  EXPECT_EQ(Dispatch(), (std::vector<uint64_t>{1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2}));
}

TEST_F(CallQueueTest, CallsInFlightAreBounded) {
  Make({.in_flight_max = 2, .calls_per_second = 0});
  for (ObjectId object = 0; object < 5; ++object) queue_->Add(BindTo(Spec(object, object), "n"));
  EXPECT_EQ(Dispatch(), (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(next_, Instant::max());
  wake_ = Instant::max();
  queue_->Complete(1, Status());
  EXPECT_LE(wake_, clock_.Now()) << "there is room, and a call waits for it";
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{2});
  EXPECT_EQ(queue_->InFlight(), 2u);
}

TEST_F(CallQueueTest, RateIsBoundedAfterTheBurst) {
  Make({.in_flight_max = 1000, .calls_per_second = 50, .burst = 3});
  for (ObjectId object = 0; object < 100; ++object) queue_->Add(BindTo(Spec(object, 0), "n"));
  EXPECT_EQ(Dispatch().size(), 3u);
  EXPECT_EQ(next_, clock_.Now() + milliseconds(20));
  EXPECT_EQ(DispatchAfter(milliseconds(19)).size(), 0u);
  EXPECT_EQ(DispatchAfter(milliseconds(1)).size(), 1u);
  size_t started = 0;
  for (int tick = 0; tick < 1000; ++tick) started += DispatchAfter(milliseconds(1)).size();
  EXPECT_EQ(started, 50u);
}

TEST_F(CallQueueTest, CancelledCallNeverStarts) {
  queue_->Add(SetMessage(Spec(0, 1), "message"));
  queue_->Cancel(0);
  queue_->Cancel(0);
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kSkipped}}));
  EXPECT_TRUE(Dispatch().empty());
  queue_->Add(SetMessage(Spec(0, 2, kDelay), "message"));
  EXPECT_TRUE(Dispatch().empty()) << "it does not inherit the turn of the cancelled one";
  EXPECT_EQ(DispatchAfter(kDelay), std::vector<uint64_t>{2});
}

TEST_F(CallQueueTest, CloseEndsWhatWaitsAndRefusesTheRest) {
  queue_->Add(BindTo(Spec(0, 1), "node"));
  Dispatch();
  queue_->Add(BindTo(Spec(0, 2), "other"));
  queue_->Add(SetMessage(Spec(70'000, 3, kDelay), "message"));
  queue_->Close();
  queue_->Add(SetMessage(Spec(5, 4), "message"));
  EXPECT_EQ(recorder_.TakeEnds(),
            (Ends{{2, CallEnd::kSkipped}, {3, CallEnd::kSkipped}, {4, CallEnd::kSkipped}}));
  queue_->Complete(0, Status());
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kSuccess}}));
  EXPECT_TRUE(DispatchAfter(kDelay).empty());
}

TEST_F(CallQueueTest, DestructionEndsWhatIsInFlight) {
  queue_->Add(BindTo(Spec(0, 1), "node"));
  Dispatch();
  queue_.reset();
  EXPECT_EQ(recorder_.TakeEnds(), (Ends{{1, CallEnd::kError}}));
}

TEST_F(CallQueueTest, ListenerMayUseTheQueueForTheSameObject) {
  class Repeating final : public CallListener {
   public:
    explicit Repeating(CallQueue<>* queue) : queue_(queue) {}
    void OnEnd(const ApiCall& call, CallEnd end, const Status&) override {
      if (end != CallEnd::kError) return;
      queue_->Add(SetMessage({call.object, call.tag + 1, {}, call.pod, this}, "again"));
    }

   private:
    CallQueue<>* queue_;
  } repeating(queue_.get());
  CallSpec spec = Spec(0, 1);
  spec.listener = &repeating;
  queue_->Add(SetMessage(spec, "message"));
  Dispatch();
  queue_->Complete(0, Error("unavailable"));
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{2});
  queue_->Complete(0, Status());
}

TEST_F(CallQueueTest, AFailedCallIsLoggedWithItsPodAndReason) {
  const auto fail = [this] {
    queue_->Add(SetMessage(Spec(0, 1), "message"));
    Dispatch();
    testing::internal::CaptureStderr();
    queue_->Complete(0, Error("conflict"));
    return testing::internal::GetCapturedStderr();
  };
  SetLogLevel(LogLevel::kError);
  EXPECT_EQ(fail(), "");
  SetLogLevel(LogLevel::kWarning);
  const std::string pod = QualifiedName(*Spec(0, 1).pod);
  EXPECT_THAT(fail(), testing::StartsWith("schedq: warning: API call pod_status_patch for pod " +
                                          pod + " failed: conflict ("));
}

TEST_F(CallQueueTest, MetricsSayWhatIsPendingAndWhatWasExecuted) {
  queue_->Add(BindTo(Spec(0, 1), "node"));
  queue_->Add(SetMessage(Spec(1, 2, kDelay), "message"));
  EXPECT_EQ(metrics_.Value("scheduler_pending_async_api_calls", {"pod_status_patch"}), 1);
  Dispatch();
  clock_.AdvanceBy(milliseconds(10));
  queue_->Complete(0, Error("conflict"));
  EXPECT_EQ(metrics_.Value("scheduler_pending_async_api_calls", {"pod_binding"}), 0);
  const LabelValues failed = {"pod_binding", "error"};
  EXPECT_EQ(metrics_.Value("scheduler_async_api_call_execution_total", failed), 1);
  const auto durations =
      metrics_.HistogramAt("scheduler_async_api_call_execution_duration_seconds", failed);
  EXPECT_EQ(durations->sum, 0.01);
}

}  // namespace
}  // namespace schedq
