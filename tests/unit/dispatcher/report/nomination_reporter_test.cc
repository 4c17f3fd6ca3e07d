// Goal: the nomination reporter asks for a call exactly where KEP-5278 wants one.
// Method: its rules one by one, on a call queue whose server is the test.
#include "dispatcher/report/nomination_reporter.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "dispatcher/report/pre_flight.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"
#include "tests/support/call_scene.h"

namespace schedq {
namespace {

class NominationReporterTest : public testing::Test {
 protected:
  BindingStart Start(std::span<const PreFlight> answers) {
    BindingStart start;
    start.pod = pod_;
    start.node = "node";
    start.pre_flights = answers;
    return start;
  }
  FailedCycle Failed(CycleFailure failure) {
    FailedCycle cycle;
    cycle.pod = pod_;
    cycle.failure = failure;
    return cycle;
  }
  // What the one call that is due nominates; "-" when there is none.
  std::string Sent() {
    std::string sent = "-";
    queue_.Dispatch(clock_.Now(), [&](const ApiCall& call) {
      sent = *call.nomination();
      claims_ = call.placement->claims;
      queue_.Complete(call.object, Status());
    });
    return sent;
  }

  VirtualClock clock_{Instant(std::chrono::seconds(1))};
  std::shared_ptr<Pod> pod_ = UnmarkedPod();
  std::vector<ClaimAllocation> claims_;
  NominationReporter reporter_{&queue_};  // It outlives its calls.
  CallQueue<> queue_{CallQueueOptions{.clock = &clock_}};
};

TEST_F(NominationReporterTest, WorkToDoNominatesAndTakesTheClaimsAlong) {
  const std::array answers = {PreFlight::kSkip, PreFlight::kSuccess};
  BindingStart start = Start(answers);
  start.claims = {{"default/claim", "node"}};
  EXPECT_TRUE(reporter_.OnBindingStart(start).ok());
  EXPECT_EQ(Sent(), "node");
  EXPECT_EQ(claims_, start.claims);
}

TEST_F(NominationReporterTest, TheBindingsListenerIsToldWhetherTheClaimsAreStored) {
  EndRecorder recorder;
  const std::array answers = {PreFlight::kSuccess};
  BindingStart start = Start(answers);
  start.claims = {{"default/claim", "node"}};
  start.listener = &recorder;
  start.tag = 3;
  EXPECT_TRUE(reporter_.OnBindingStart(start).ok());
  queue_.Dispatch(clock_.Now(),
                  [&](const ApiCall& call) { queue_.Complete(call.object, Error("conflict")); });
  EXPECT_EQ(recorder.TakeEnds(), (std::vector<EndRecorder::Ended>{{3, CallEnd::kError}}));
}

TEST_F(NominationReporterTest, NoWorkNeedsNoCall) {
  const std::array answers = {PreFlight::kSkip, PreFlight::kSkip};
  EXPECT_TRUE(reporter_.OnBindingStart(Start(answers)).ok());
  EXPECT_EQ(Sent(), "-");
  EXPECT_EQ(reporter_.counts(), (NominationCounts{.saved = 1}));
}

TEST_F(NominationReporterTest, PermitThatWaitsNominates) {
  BindingStart start = Start({});
  start.permit_waits = true;
  EXPECT_TRUE(reporter_.OnBindingStart(start).ok());
  EXPECT_EQ(Sent(), "node");
}

TEST_F(NominationReporterTest, RejectionComesBeforeAnyPatch) {
  const std::array answers = {PreFlight::kSuccess, PreFlight::kError};
  EXPECT_FALSE(reporter_.OnBindingStart(Start(answers)).ok());
  EXPECT_EQ(Sent(), "-");
}

TEST_F(NominationReporterTest, FailedNominationStopsNoBinding) {
  const std::array answers = {PreFlight::kSuccess};
  EXPECT_TRUE(reporter_.OnBindingStart(Start(answers)).ok());
  std::vector<CallType> started;
  const auto dispatch = [&] {
    queue_.Dispatch(clock_.Now(), [&](const ApiCall& call) { started.push_back(call.type); });
  };
  dispatch();
  queue_.Add(BindTo({0, 0, Duration(0), pod_, nullptr}, "node"));
  dispatch();
  EXPECT_EQ(started, std::vector<CallType>{CallType::kStatusPatch}) << "one in flight a pod";
  queue_.Complete(0, Error("503"));
  dispatch();
  EXPECT_EQ(started, (std::vector<CallType>{CallType::kStatusPatch, CallType::kBinding}));
  queue_.Complete(0, Status());
}

TEST_F(NominationReporterTest, FailedCyclesClear) {
  for (const CycleFailure failure :
       {CycleFailure::kUnschedulable, CycleFailure::kError, CycleFailure::kBinding}) {
    pod_ = UnmarkedPod();
    pod_->nominated_node_name = "node";
    reporter_.OnFailedCycle(Failed(failure));
    EXPECT_EQ(Sent(), "");
    queue_.Sync(0, UnmarkedPod());
  }
}

TEST_F(NominationReporterTest, PreemptionKeepsItsNode) {
  pod_->nominated_node_name = "old";
  FailedCycle cycle = Failed(CycleFailure::kUnschedulable);
  cycle.post_filter_node = "preempted";
  reporter_.OnFailedCycle(cycle);
  EXPECT_EQ(Sent(), "preempted");
  cycle.post_filter_node.clear();
  cycle.victims_are_going = true;
  reporter_.OnFailedCycle(cycle);
  EXPECT_EQ(Sent(), "-") << "victims are still going";
  cycle.failure = CycleFailure::kError;
  reporter_.OnFailedCycle(cycle);
  EXPECT_EQ(Sent(), "") << "errors clear always";
}

TEST_F(NominationReporterTest, NothingToClearIsNoCall) {
  reporter_.OnFailedCycle(Failed(CycleFailure::kUnschedulable));
  EXPECT_EQ(Sent(), "-");
  EXPECT_EQ(reporter_.counts(), (NominationCounts{.dropped = 1}));
}

TEST_F(NominationReporterTest, OnlyCallsThatWereMadeCountAsMade) {
  EndRecorder recorder;
  const std::array answers = {PreFlight::kSuccess};
  BindingStart start = Start(answers);
  start.listener = &recorder;
  start.tag = 1;
  EXPECT_TRUE(reporter_.OnBindingStart(start).ok());
  EXPECT_EQ(reporter_.counts(), NominationCounts()) << "asked for";
  EXPECT_TRUE(reporter_.OnBindingStart(Start(answers)).ok());
  EXPECT_EQ(reporter_.counts(), (NominationCounts{.dropped = 1}));
  EXPECT_EQ(recorder.TakeEnds(), (std::vector<EndRecorder::Ended>{{1, CallEnd::kOverwritten}}));
  EXPECT_EQ(Sent(), "node");
  EXPECT_EQ(reporter_.counts(), (NominationCounts{.made = 1, .dropped = 1}));
  EXPECT_TRUE(recorder.TakeEnds().empty()) << "of another's call";
}

}  // namespace
}  // namespace schedq
