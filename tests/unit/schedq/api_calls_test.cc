// Goal: with a dispatcher attached, attempts become the calls that they should, and the calls' ends
// come back to the queue.
// Method: the embedded API server as the sink on the virtual clock, and a sink of the test's own
// with a thread and the machine's clock.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/api_sink.h"
#include "dispatcher/server/embedded_api_server.h"
#include "engine/base/result.h"
#include "engine/gates.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/queue_answers.h"
#include "schedq/assembly_options.h"
#include "schedq/attempt.h"
#include "schedq/engine_kind.h"
#include "tests/unit/schedq/queue_fixture.h"

namespace schedq {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ApiCallsTest : public AssembledQueueFixture {
 protected:
  AssemblyOptions OptionsWithCalls() {
    AssemblyOptions options = Options();
    ApiCallOptions& calls = options.api_calls.emplace();
    calls.sink = &server_;
    calls.driver = CallDriver::kClock;
    return options;
  }

  // A pod on the server, told of and popped.
  Attempt PopNew() {
    MustSucceed(queue_->PodChanged(nullptr, server_.Create(*NewPod("a"))));
    return *queue_->TryPop();
  }
  // What the server has to say reaches the queue.
  void Watch() {
    server_.Watch([this](const PodRef& before, const PodRef& after) {
      if (before != nullptr) MustSucceed(queue_->PodChanged(before, after));
    });
  }
  PodRef Stored() { return server_.Find("ns/a"); }
  static BindingPlan PlanTo(const std::string& node) {
    BindingPlan plan;
    plan.node = node;
    plan.pre_flights = {PreFlight::kSuccess};
    return plan;
  }

  EmbeddedApiServer server_{ServerOptions{.clock = &clock_}};
};

TEST_P(ApiCallsTest, AFailureIsShownWithItsReason) {
  Make(OptionsWithCalls());
  ASSERT_TRUE(PopNew().Fail(Named("Listener")).ok());
  clock_.AdvanceBy(std::chrono::seconds(1));
  ASSERT_EQ(Stored()->conditions.size(), 1u);
  EXPECT_EQ(Stored()->conditions[0].reason, "Unschedulable");
  EXPECT_EQ(Stored()->conditions[0].message, "not heard enough");
}

TEST_P(ApiCallsTest, APluginThatIsNotRegisteredHasNoReasonToShow) {
  Make(OptionsWithCalls());
  PluginSet rejectors = Named("Listener");
  rejectors.Insert(PluginId{40});
  rejectors.Insert(PluginId{63});
  ASSERT_TRUE(PopNew().Fail(rejectors).ok());
  clock_.AdvanceBy(std::chrono::seconds(1));
  ASSERT_EQ(Stored()->conditions.size(), 1u);
  EXPECT_EQ(Stored()->conditions[0].message, "not heard enough");
}

TEST_P(ApiCallsTest, AFailureIsNotShownWhereTheCallerDoesIt) {
  AssemblyOptions options = OptionsWithCalls();
  options.api_calls->reports_failures = false;
  Make(std::move(options));
  ASSERT_TRUE(PopNew().Fail(Named("Listener")).ok());
  clock_.AdvanceBy(std::chrono::seconds(1));
  EXPECT_THAT(Stored()->conditions, IsEmpty());
}

TEST_P(ApiCallsTest, ABindingThatBeginsNominatesAndIsSent) {
  Make(OptionsWithCalls());
  Watch();
  Attempt attempt = PopNew();
  ASSERT_TRUE(attempt.BeginBinding(PlanTo("node")).ok());
  clock_.AdvanceBy(std::chrono::seconds(1));
  EXPECT_EQ(Stored()->nominated_node_name, "node");
  std::vector<bool> ends;
  ASSERT_TRUE(
      attempt.SendBinding("node", [&](const Status& status) { ends.push_back(status.ok()); }).ok());
  EXPECT_TRUE(attempt.is_ended());
  EXPECT_THAT(ends, IsEmpty());
  clock_.AdvanceBy(std::chrono::seconds(1));
  EXPECT_THAT(ends, ElementsAre(true));
  EXPECT_EQ(Stored()->node_name, "node");
  EXPECT_EQ(PlaceOf("a"), Place::kAbsent);
  EXPECT_EQ(queue_->Counts(), QueueCounts());
}

TEST_P(ApiCallsTest, ANodeIsShownWhileThePodWaitsInFlight) {
  Make(OptionsWithCalls());
  Watch();
  Attempt attempt = PopNew();
  ASSERT_TRUE(attempt.ShowNode("node").ok());
  clock_.AdvanceBy(std::chrono::seconds(1));
  EXPECT_EQ(Stored()->nominated_node_name, "node");
  EXPECT_EQ(PlaceOf("a"), Place::kInFlight);
  ASSERT_TRUE(attempt.Fail(Named("Listener")).ok());
  clock_.AdvanceBy(std::chrono::seconds(1));
  EXPECT_EQ(Stored()->nominated_node_name, "") << "after a failed cycle it is taken back";
  EXPECT_FALSE(attempt.ShowNode("node").ok());
}

TEST_P(ApiCallsTest, WhatPostFilterNominatesIsKnownAndShown) {
  Make(OptionsWithCalls());
  Watch();
  Attempt attempt = PopNew();
  ASSERT_TRUE(attempt.Fail(Named("Listener"), {}, {"node", false}).ok());
  EXPECT_EQ(queue_->NominatedNode(*Stored()), "node");
  EXPECT_EQ(PlaceOf("a"), Place::kUnschedulable);
  clock_.AdvanceBy(std::chrono::seconds(1));
  EXPECT_EQ(Stored()->nominated_node_name, "node");
  EXPECT_EQ(Stored()->conditions.size(), 1u);
}

TEST_P(ApiCallsTest, ANominationStaysWhileItsVictimsGoAndIsTakenBackAfterwards) {
  Make(OptionsWithCalls());
  Watch();
  const auto fail = [this](const FailedNomination& nomination) {
    queue_->Activate({{Stored()}});
    Attempt attempt = *queue_->TryPop();
    ASSERT_TRUE(attempt.Fail(Named("Listener"), {}, nomination).ok());
    clock_.AdvanceBy(std::chrono::seconds(1));
  };
  ASSERT_TRUE(PopNew().Fail(Named("Listener"), {}, {"node", false}).ok());
  clock_.AdvanceBy(std::chrono::seconds(1));
  fail({"", true});
  EXPECT_EQ(Stored()->nominated_node_name, "node");
  fail({"", false});
  EXPECT_EQ(Stored()->nominated_node_name, "");
}

TEST_P(ApiCallsTest, ANominationThatIsOverruledIsTakenBack) {
  Make(OptionsWithCalls());
  Watch();
  ASSERT_TRUE(PopNew().Fail(Named("Listener"), {}, {"node", false}).ok());
  clock_.AdvanceBy(std::chrono::seconds(1));
  queue_->ClearNomination(Stored());
  EXPECT_THAT(queue_->NominatedPods("node"), IsEmpty());
  clock_.AdvanceBy(std::chrono::seconds(1));
  EXPECT_EQ(Stored()->nominated_node_name, "");
}

// The late call is of a pod that is gone, whose number another pod has now.
TEST_P(ApiCallsTest, ABindingWhoseCallMakesWayForAnotherPodsIsTriedAgain) {
  Make(OptionsWithCalls());
  Attempt late = PopNew();
  ASSERT_TRUE(late.Done().ok());
  const PodRef gone = Stored();
  MustSucceed(queue_->PodChanged(gone, nullptr));
  MustSucceed(queue_->PodChanged(nullptr, server_.Create(*NewPod("b"))));
  std::optional<Attempt> attempt = queue_->TryPop();
  ASSERT_TRUE(attempt.has_value());
  ASSERT_EQ(attempt->key().id, late.key().id);
  std::vector<Place> places;
  const auto then = [&](const Status& status) {
    EXPECT_FALSE(status.ok());
    places.push_back(PlaceOf("b"));
  };
  ASSERT_TRUE(attempt->SendBinding("node", then).ok());
  ASSERT_TRUE(late.SendBinding("node").ok());
  EXPECT_THAT(places, ElementsAre(Place::kAbsent)) << "told before the pod is tried again";
  clock_.AdvanceBy(std::chrono::milliseconds(1));
  EXPECT_NE(PlaceOf("b"), Place::kAbsent);
  EXPECT_EQ(PlaceOf("a"), Place::kAbsent);
}

TEST_P(ApiCallsTest, NothingToDoBeforeTheBindingNeedsNoNomination) {
  Make(OptionsWithCalls());
  Attempt attempt = PopNew();
  BindingPlan plan = PlanTo("node");
  plan.pre_flights = {PreFlight::kSkip};
  ASSERT_TRUE(attempt.BeginBinding(plan).ok());
  clock_.AdvanceBy(std::chrono::seconds(1));
  EXPECT_EQ(server_.counts().patches, 0u);
}

TEST_P(ApiCallsTest, WithoutTheGateNothingIsNominated) {
  AssemblyOptions options = OptionsWithCalls();
  GateRequest request;
  request.Set(Gate::kNominatedNodeNameForExpectation, false);
  options.gates = *Gates::Resolve(request);
  Make(std::move(options));
  Attempt attempt = PopNew();
  ASSERT_TRUE(attempt.BeginBinding(PlanTo("node")).ok());
  clock_.AdvanceBy(std::chrono::seconds(1));
  EXPECT_EQ(Stored()->nominated_node_name, "");
}

TEST_P(ApiCallsTest, APluginThatRejectsBeforeTheBindingFailsTheAttempt) {
  Make(OptionsWithCalls());
  Attempt attempt = PopNew();
  BindingPlan plan = PlanTo("node");
  plan.pre_flights = {PreFlight::kError};
  EXPECT_FALSE(attempt.BeginBinding(plan).ok());
  EXPECT_TRUE(attempt.is_ended());
  EXPECT_EQ(PlaceOf("a"), Place::kErrorBackoff);
}

TEST_P(ApiCallsTest, ABindingThatFailsFailsThePodAndTakesTheNominationBack) {
  Make(OptionsWithCalls());
  Watch();
  Attempt attempt = PopNew();
  ASSERT_TRUE(attempt.BeginBinding(PlanTo("node")).ok());
  clock_.AdvanceBy(std::chrono::seconds(1));
  server_.AddOutage(clock_.Now(), clock_.Now() + std::chrono::milliseconds(500));
  std::vector<bool> ends;
  ASSERT_TRUE(
      attempt.SendBinding("node", [&](const Status& status) { ends.push_back(status.ok()); }).ok());
  clock_.AdvanceBy(std::chrono::milliseconds(400));
  EXPECT_THAT(ends, ElementsAre(false));
  EXPECT_TRUE(InBackoff(PlaceOf("a"))) << PlaceName(PlaceOf("a"));
  clock_.AdvanceBy(std::chrono::seconds(1));
  EXPECT_EQ(Stored()->node_name, "");
}

TEST_P(ApiCallsTest, ANewerVersionDropsWhatItMakesVain) {
  Make(OptionsWithCalls());
  Attempt attempt = PopNew();
  ASSERT_TRUE(attempt.Fail(Named("Listener")).ok());
  // Somebody else has shown the very same condition before the call was sent.
  auto shown = VersionOf(Stored());
  shown->conditions = {{"PodScheduled", "False", "Unschedulable", "not heard enough"}};
  MustSucceed(queue_->PodUpdated(Stored(), shown));
  clock_.AdvanceBy(std::chrono::seconds(1));
  EXPECT_EQ(server_.counts().patches, 0u);
}

TEST_P(ApiCallsTest, ADeletedPodsCallsEnd) {
  Make(OptionsWithCalls());
  Attempt attempt = PopNew();
  const PodRef pod = attempt.pod_ref();
  std::vector<bool> ends;
  ASSERT_TRUE(
      attempt.SendBinding("node", [&](const Status& status) { ends.push_back(status.ok()); }).ok());
  queue_->PodDeleted(pod);
  EXPECT_THAT(ends, ElementsAre(false));
}

TEST_P(ApiCallsTest, CloseEndsTheCallsThatWait) {
  Make(OptionsWithCalls());
  Attempt attempt = PopNew();
  std::vector<std::string> ends;
  ASSERT_TRUE(attempt
                  .SendBinding("node",
                               [&](const Status& status) {
                                 ends.push_back(status ? "bound" : status.error().message());
                               })
                  .ok());
  queue_->Close();
  EXPECT_EQ(ends.size(), 1u);
}

TEST_P(ApiCallsTest, DestructionEndsTheCallInFlight) {
  Make(OptionsWithCalls());
  Attempt attempt = PopNew();
  std::vector<bool> ends;
  ASSERT_TRUE(
      attempt.SendBinding("node", [&](const Status& status) { ends.push_back(status.ok()); }).ok());
  clock_.AdvanceBy(std::chrono::milliseconds(1));  // It is sent; the answer takes 10 ms.
  queue_.reset();
  EXPECT_THAT(ends, ElementsAre(false));
}

// Answers on threads of its own, as a client of a real server does.
class ThreadedSink final : public ApiSink {
 public:
  ~ThreadedSink() override {
    for (std::thread& thread : threads_) thread.join();
  }
  void Execute(const ApiCall& call, std::function<void(const Status&)> done) override {
    const std::lock_guard lock(mutex_);
    sent_.push_back(std::string(CallTypeName(call.type)));
    threads_.emplace_back([done = std::move(done)] { done(Status::Ok()); });
  }
  std::vector<std::string> sent() {
    const std::lock_guard lock(mutex_);
    return sent_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> sent_;
  std::vector<std::thread> threads_;
};

TEST_P(ApiCallsTest, HasAThreadOfItsOwnOnTheMachinesClock) {
  ThreadedSink sink;
  AssemblyOptions options = Options();
  options.clock = nullptr;
  options.api_calls.emplace().sink = &sink;
  Make(std::move(options));
  MustSucceed(queue_->PodAdded(NewPod("a")));
  Attempt attempt = *queue_->Pop();
  ASSERT_TRUE(attempt.BeginBinding(PlanTo("node")).ok());
  std::promise<bool> bound;
  ASSERT_TRUE(
      attempt.SendBinding("node", [&](const Status& status) { bound.set_value(status.ok()); })
          .ok());
  EXPECT_TRUE(bound.get_future().get());
  queue_->Close();
  EXPECT_THAT(sink.sent(), testing::Contains("pod_binding"));
  queue_.reset();
}

TEST_P(ApiCallsTest, AThreadsCallInFlightIsWaitedForAtTheEnd) {
  ThreadedSink sink;
  AssemblyOptions options = Options();
  options.clock = nullptr;
  options.api_calls.emplace().sink = &sink;
  Make(std::move(options));
  MustSucceed(queue_->PodAdded(NewPod("a")));
  Attempt attempt = *queue_->Pop();
  std::promise<void> ended;
  ASSERT_TRUE(attempt.SendBinding("node", [&](const Status&) { ended.set_value(); }).ok());
  queue_.reset();
  ended.get_future().get();
}

INSTANTIATE_TEST_SUITE_P(Engines, ApiCallsTest, testing::ValuesIn(AllEngines()), EngineOf);

}  // namespace
}  // namespace schedq
