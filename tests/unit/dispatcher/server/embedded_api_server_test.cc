// Goal: the embedded server behaves as the API server does where calls of the scheduler meet it.
// Method: calls made straight to it on the virtual clock, one rule a test.
#include "dispatcher/server/embedded_api_server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "dispatcher/api_call.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"
#include "tests/support/call_scene.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class EmbeddedApiServerTest : public testing::Test {
 protected:
  // What came of the call, after a second; "ok" or the error.
  std::string Execute(EmbeddedApiServer& server, const ApiCall& call) {
    std::string answer = "none";
    server.Execute(call, [&](const Status& status) {
      answer = status.ok() ? "ok" : status.error().message();
    });
    clock_.AdvanceBy(seconds(1));
    return answer;
  }
  PodRef Stored(EmbeddedApiServer& server) { return server.Find("default/pod"); }
  CallSpec Spec(const PodRef& pod) { return {0, 0, Duration(0), pod, nullptr}; }

  VirtualClock clock_{Instant(seconds(100))};
  ServerOptions options_ = [this] {
    ServerOptions options;
    options.clock = &clock_;
    return options;
  }();
};

TEST_F(EmbeddedApiServerTest, MarksPodsWithGates) {
  EmbeddedApiServer server(options_);
  auto gated = UnmarkedPod();
  gated->scheduling_gates = {"gate"};
  const PodCondition* shown = UnscheduledCondition(*server.Create(*gated));
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->reason, "SchedulingGated");
  EXPECT_EQ(shown->message, kSchedulingGatedMessage);
}

TEST_F(EmbeddedApiServerTest, ANameThatIsTakenIsRefused) {
  EmbeddedApiServer server(options_);
  const PodRef pod = server.Create(*UnmarkedPod());
  EXPECT_EQ(server.Create(*MarkedPod("another")), nullptr);
  EXPECT_EQ(Stored(server), pod);
}

TEST_F(EmbeddedApiServerTest, ClearRemovesWhatTheSchedulerSaidAndNothingElse) {
  EmbeddedApiServer server(options_);
  const PodRef pod = server.Create(*MarkedPod("blocked", "SchedulingGated"));
  EXPECT_EQ(Execute(server, ClearMessage(Spec(pod))), "ok");
  EXPECT_NE(UnscheduledCondition(*Stored(server)), nullptr);
  EXPECT_EQ(Execute(server, SetMessage(Spec(pod), "waiting")), "ok");
  EXPECT_EQ(UnscheduledCondition(*Stored(server))->message, "waiting");
  EXPECT_EQ(server.counts().events, 1u);
  EXPECT_EQ(Execute(server, ClearMessage(Spec(pod))), "ok");
  EXPECT_EQ(UnscheduledCondition(*Stored(server)), nullptr);
}

TEST_F(EmbeddedApiServerTest, EventsSayWhatThePatchSaysAndAreCounted) {
  EmbeddedApiServer server(options_);
  const PodRef pod = server.Create(*UnmarkedPod());
  const auto shown = [&] { return *UnscheduledCondition(*Stored(server)); };
  Execute(server, SetMessage(Spec(pod), "waiting for a claim"));
  EXPECT_EQ(server.EventsOf("default/pod"),
            (std::vector<PodEvent>{{shown().reason, shown().message, 1}}));
  Execute(server, SetMessage(Spec(pod), "waiting for a node"));
  Execute(server, ClearMessage(Spec(pod)));
  Execute(server, NominateNode(Spec(pod), "node"));
  Execute(server, SetMessage(Spec(pod), "waiting for a claim"));
  const std::string reason(kNotReadyReason);
  EXPECT_EQ(shown().reason, reason);
  EXPECT_EQ(server.EventsOf("default/pod"),
            (std::vector<PodEvent>{{reason, "waiting for a claim", 2},
                                   {reason, "waiting for a node", 1}}));
  EXPECT_EQ(server.counts().events, 3u);
  server.Delete("default/pod");
  EXPECT_TRUE(server.EventsOf("default/pod").empty());
}

TEST_F(EmbeddedApiServerTest, ACallThatFailsSendsNoEvent) {
  options_.conflict_rate = 1;
  EmbeddedApiServer server(options_);
  const PodRef pod = server.Create(*UnmarkedPod());
  Execute(server, SetMessage(Spec(pod), "waiting for a claim"));
  EXPECT_TRUE(server.EventsOf("default/pod").empty());
}

TEST_F(EmbeddedApiServerTest, BindingTakesTheNominationAwayAndHappensOnce) {
  for (const bool clears : {true, false}) {
    options_.clears_nomination_at_bind = clears;
    EmbeddedApiServer server(options_);
    const PodRef pod = server.Create(*UnmarkedPod());
    EXPECT_EQ(Execute(server, NominateNode(Spec(pod), "node")), "ok");
    EXPECT_EQ(Stored(server)->nominated_node_name, "node");
    EXPECT_EQ(Execute(server, BindTo(Spec(pod), "node")), "ok");
    EXPECT_EQ(Stored(server)->node_name, "node");
    EXPECT_EQ(Stored(server)->nominated_node_name, clears ? "" : "node");
    EXPECT_EQ(Execute(server, BindTo(Spec(pod), "other")), "the pod is bound already (409)");
    Execute(server, SetMessage(Spec(pod), "late"));
    EXPECT_EQ(UnscheduledCondition(*Stored(server)), nullptr) << "a bound pod is scheduled";
  }
}

TEST_F(EmbeddedApiServerTest, PodsThatAreGoneOrAnotherAreNotFound) {
  EmbeddedApiServer server(options_);
  const PodRef pod = server.Create(*UnmarkedPod());
  ASSERT_TRUE(server.Delete("default/pod"));
  EXPECT_FALSE(server.Delete("default/pod"));
  EXPECT_EQ(Execute(server, SetMessage(Spec(pod), "a")), "the pod was not found (404)");
  auto second = UnmarkedPod();
  second->uid = "second";
  server.Create(*second);
  EXPECT_EQ(Execute(server, SetMessage(Spec(pod), "a")), "the pod was not found (404)");
  EXPECT_EQ(server.counts().failures, 2u);
}

TEST_F(EmbeddedApiServerTest, OutagesFailWhatIsAnsweredMeanwhile) {
  EmbeddedApiServer server(options_);
  const PodRef pod = server.Create(*UnmarkedPod());
  server.AddOutage(clock_.Now(), clock_.Now() + seconds(1));
  EXPECT_EQ(Execute(server, SetMessage(Spec(pod), "a")), "the server is unavailable (503)");
  EXPECT_EQ(Execute(server, SetMessage(Spec(pod), "a")), "ok");
  EXPECT_EQ(server.counts().unavailable, 1u);
}

TEST_F(EmbeddedApiServerTest, TooManyCallsAreThrottled) {
  options_.calls_per_second_max = 10;
  options_.burst = 3;
  EmbeddedApiServer server(options_);
  const PodRef pod = server.Create(*UnmarkedPod());
  const auto call = SetMessage(Spec(pod), "a");
  for (int i = 0; i < 5; ++i) server.Execute(call, [](const Status&) {});
  clock_.AdvanceBy(milliseconds(20));
  EXPECT_EQ(server.counts().throttled, 2u);
  EXPECT_EQ(server.counts().patches, 3u);
}

TEST_F(EmbeddedApiServerTest, ErrorsAndConflictsComeAsOftenAsAsked) {
  options_.error_rate = 0.2;
  options_.conflict_rate = 0.3;
  EmbeddedApiServer server(options_);
  const PodRef pod = server.Create(*UnmarkedPod());
  const auto call = SetMessage(Spec(pod), "a");
  for (int i = 0; i < 2000; ++i) server.Execute(call, [](const Status&) {});
  clock_.AdvanceBy(seconds(1));
  EXPECT_NEAR(static_cast<double>(server.counts().conflicts), 600, 60);
  EXPECT_NEAR(static_cast<double>(server.counts().patches), 2000 * 0.7 * 0.8, 80);
}

TEST_F(EmbeddedApiServerTest, DeletionRemovesThePodOnce) {
  EmbeddedApiServer server(options_);
  const PodRef pod = server.Create(*UnmarkedPod());
  EXPECT_EQ(Execute(server, CallOf(Spec(pod), CallType::kDeletion)), "ok");
  EXPECT_EQ(Stored(server), nullptr);
  EXPECT_EQ(Execute(server, CallOf(Spec(pod), CallType::kDeletion)), "the pod was not found (404)");
  EXPECT_EQ(server.counts().deletions, 1u);
}

TEST_F(EmbeddedApiServerTest, LatencyHasItsFloorAndMeanAndFollowsTheSeed) {
  options_.latency = milliseconds(10);
  options_.latency_extra = milliseconds(20);
  constexpr int kCalls = 4000;
  const auto latencies = [&](uint64_t seed) {
    options_.seed = seed;
    EmbeddedApiServer server(options_);
    const auto call = SetMessage(Spec(server.Create(*UnmarkedPod())), "a");
    std::vector<Duration> taken;
    const Instant start = clock_.Now();
    for (int i = 0; i < kCalls; ++i) {
      server.Execute(call, [&](const Status&) { taken.push_back(clock_.Now() - start); });
    }
    clock_.AdvanceBy(seconds(60));
    return taken;
  };
  const std::vector<Duration> taken = latencies(1);
  ASSERT_EQ(taken.size(), static_cast<size_t>(kCalls));
  EXPECT_GE(taken.front(), milliseconds(10));
  const Duration sum = std::accumulate(taken.begin(), taken.end(), Duration(0));
  EXPECT_NEAR(static_cast<double>((sum / kCalls).count()), 30e6, 2e6);
  EXPECT_EQ(latencies(1), taken);
  EXPECT_NE(latencies(2), taken);
}

TEST_F(EmbeddedApiServerTest, WatchesComeLaterAndInOrder) {
  EmbeddedApiServer server(options_);
  std::vector<std::string> seen;
  server.Watch([&](const PodRef& before, const PodRef& after) {
    seen.push_back(before == nullptr ? "add" : after == nullptr ? "delete" : "update");
  });
  const PodRef pod = server.Create(*UnmarkedPod());
  EXPECT_TRUE(seen.empty());
  Execute(server, SetMessage(Spec(pod), "a"));
  server.Delete("default/pod");
  clock_.AdvanceBy(options_.watch_delay);
  EXPECT_EQ(seen, (std::vector<std::string>{"add", "update", "delete"}));
}

TEST_F(EmbeddedApiServerTest, ClaimsAreAllocatedWithTheNomination) {
  EmbeddedApiServer server(options_);
  const PodRef pod = server.Create(*UnmarkedPod());
  auto call = NominateNode(Spec(pod), "node");
  call.placement.Mutable().claims = {{"default/claim", "node"}};
  Execute(server, call);
  EXPECT_EQ(server.claim_nodes().at("default/claim"), "node");
}

}  // namespace
}  // namespace schedq
