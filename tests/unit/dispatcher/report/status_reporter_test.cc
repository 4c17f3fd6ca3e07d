// Goal: the status reporter sends what docs/semantics.md wants of KEP-5501, in whatever order it is
// told of a pod's moves.
// Method: its rules one by one, on a call queue whose server is the test; then all orders in which
// the moves of a short life can be told, each of which must end with the newest move's message.
#include "dispatcher/report/status_reporter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "tests/support/call_scene.h"

namespace schedq {
namespace {

using std::chrono::seconds;

constexpr PluginId kPlugin = 0;
constexpr PluginId kOptingOut = 1;

class StatusReporterTest : public testing::Test {
 protected:
  PodMove Move(uint32_t number, const Pod& pod) const {
    return {.pod = {7, UidFingerprint(pod.uid)}, .number = number};
  }
  void Gate(const std::string& message, uint32_t number = 0) {
    reporter_.OnGated(pod_, kPlugin, message, Move(number, *pod_));
  }
  void Pass(uint32_t number = 0) { reporter_.OnPassed(pod_, Move(number, *pod_)); }
  void Delete(uint32_t number = 0) { reporter_.OnDeleted(pod_, Move(number, *pod_)); }

  CallSpec Spec() const { return {7, 0, Duration(0), pod_, nullptr}; }

  // What is sent within the next 6 s: messages, and "-" for a clear. Each call ends as `status`.
  std::vector<std::string> Sent(const Status& status = Status::Ok()) {
    clock_.AdvanceBy(seconds(6));
    std::vector<std::string> sent;
    queue_.Dispatch(clock_.Now(), [&](const ApiCall& call) {
      const bool is_set = call.condition.kind == ConditionPatch::Kind::kSet;
      EXPECT_EQ(call.sends_event, is_set);
      sent.push_back(is_set ? call.condition.message : "-");
      queue_.Complete(call.object, status);
    });
    return sent;
  }
  using Texts = std::vector<std::string>;
  StatusReporterOptions Options() {
    StatusReporterOptions options;
    options.queue = &queue_;
    return options;
  }

  VirtualClock clock_{Instant(seconds(1))};
  std::shared_ptr<Pod> pod_ = UnmarkedPod();
  CallQueue<> queue_{CallQueueOptions{.clock = &clock_}};
  StatusReporter reporter_{Options()};
};

TEST_F(StatusReporterTest, RejectionIsSentAfterTheDelayAndOnce) {
  Gate("waiting for a claim");
  Gate("waiting for a claim");
  clock_.AdvanceBy(seconds(4));
  queue_.Dispatch(clock_.Now(), [](const ApiCall&) { FAIL() << "too early"; });
  EXPECT_EQ(Sent(), Texts{"waiting for a claim"});
  Gate("waiting for a claim");
  EXPECT_EQ(Sent(), Texts{});
  EXPECT_EQ(reporter_.counts().repeated, 2u);
}

TEST_F(StatusReporterTest, PassingInTimeSendsNothing) {
  Gate("waiting for a claim");
  Pass();
  EXPECT_EQ(Sent(), Texts{});
  EXPECT_EQ(reporter_.counts().cancelled, 1u);
}

TEST_F(StatusReporterTest, FirstSightKnowsWhatTheServerSaid) {
  pod_ = MarkedPod("blocked by gates", "SchedulingGated");
  Gate("blocked by gates");
  EXPECT_EQ(Sent(), Texts{});
  Gate("waiting for a claim");
  EXPECT_EQ(Sent(), Texts{"waiting for a claim"});
}

TEST_F(StatusReporterTest, FailedMessageIsTriedAgainAtTheNextEvaluation) {
  Gate("waiting for a claim");
  EXPECT_EQ(Sent(Error("503")), Texts{"waiting for a claim"});
  EXPECT_EQ(Sent(), Texts{}) << "the pod was not evaluated";
  Gate("waiting for a claim");
  EXPECT_EQ(Sent(), Texts{"waiting for a claim"});
}

TEST_F(StatusReporterTest, FailureOfAnOlderMessageTakesNothingBack) {
  Gate("first");
  clock_.AdvanceBy(seconds(5));
  queue_.Dispatch(clock_.Now(), [](const ApiCall&) {});
  Gate("second");
  queue_.Complete(7, Error("503"));
  Gate("second");
  EXPECT_EQ(reporter_.counts().repeated, 1u);
  EXPECT_EQ(Sent(), Texts{"second"});
}

TEST_F(StatusReporterTest, FailedClearIsTriedAgainByItself) {
  pod_ = MarkedPod("waiting for a claim");
  Pass();
  EXPECT_EQ(Sent(Error("503")), Texts{"-"});
  EXPECT_EQ(Sent(), Texts{"-"});
  EXPECT_EQ(Sent(), Texts{});
}

TEST_F(StatusReporterTest, PassingAfterAFailedMessageClearsTheOneBefore) {
  Gate("waiting for a claim");
  EXPECT_EQ(Sent(), Texts{"waiting for a claim"});
  Gate("waiting for a node");
  EXPECT_EQ(Sent(Error("503")), Texts{"waiting for a node"});
  Pass();
  EXPECT_EQ(Sent(), Texts{"-"}) << "the first message is still shown";
}

// A nomination inherits the waiting patch, so only the nomination's end tells that it failed.
TEST_F(StatusReporterTest, MessageThatANominationTookAlongIsTriedAgainWhenThatFails) {
  Gate("waiting for a claim");
  queue_.Add(NominateNode(Spec(), "node"));
  EXPECT_EQ(Sent(Error("503")), Texts{"waiting for a claim"});
  EXPECT_EQ(Sent(), Texts{}) << "the pod was not evaluated";
  Gate("waiting for a claim");
  EXPECT_EQ(Sent(), Texts{"waiting for a claim"});
}

TEST_F(StatusReporterTest, MessageThatANominationTookAlongIsSentOnce) {
  Gate("waiting for a claim");
  queue_.Add(NominateNode(Spec(), "node"));
  EXPECT_EQ(Sent(), Texts{"waiting for a claim"});
  Gate("waiting for a claim");
  EXPECT_EQ(Sent(), Texts{});
  EXPECT_EQ(reporter_.counts().events, 1u);
  EXPECT_EQ(reporter_.counts().patches, 0u) << "the nomination's patch was needed anyway";
}

TEST_F(StatusReporterTest, ClearThatANominationTookAlongIsTriedAgainByItself) {
  pod_ = MarkedPod("waiting for a claim");
  Pass();
  queue_.Add(NominateNode(Spec(), "node"));
  EXPECT_EQ(Sent(Error("503")), Texts{"-"});
  EXPECT_EQ(Sent(), Texts{"-"});
  EXPECT_EQ(Sent(), Texts{});
}

TEST_F(StatusReporterTest, ClearThatABindingMadeVainIsSentWhenThatFails) {
  pod_ = MarkedPod("waiting for a claim");
  Pass();
  queue_.Add(BindTo(Spec(), "node"));
  queue_.Dispatch(clock_.Now(), [&](const ApiCall& call) {
    EXPECT_EQ(call.type, CallType::kBinding);
    queue_.Complete(call.object, Error("409"));
  });
  EXPECT_EQ(Sent(), Texts{"-"});
}

// The queue skips what comes while a binding waits or is in flight, so it was never sent.
TEST_F(StatusReporterTest, MessageThatABindingLeftNoRoomForIsSentOnceThatHasFailed) {
  for (const bool is_in_flight : {false, true}) {
    pod_ = UnmarkedPod();
    pod_->uid = is_in_flight ? "in flight" : "waits";
    queue_.Add(BindTo(Spec(), "node"));
    const auto fail = [&](const ApiCall& call) { queue_.Complete(call.object, Error("409")); };
    if (is_in_flight) queue_.Dispatch(clock_.Now(), [](const ApiCall&) {});
    Gate("waiting for a claim");
    is_in_flight ? queue_.Complete(7, Error("409")) : void(queue_.Dispatch(clock_.Now(), fail));
    EXPECT_EQ(Sent(), Texts{}) << "the pod was not evaluated";
    Gate("waiting for a claim");
    EXPECT_EQ(Sent(), Texts{"waiting for a claim"});
  }
  EXPECT_EQ(reporter_.counts().outranked, 2u);
  EXPECT_EQ(reporter_.counts().repeated, 0u);
}

TEST_F(StatusReporterTest, ClearThatABindingLeftNoRoomForIsSentByTheNextPass) {
  pod_ = MarkedPod("waiting for a claim");
  queue_.Add(BindTo(Spec(), "node"));
  queue_.Dispatch(clock_.Now(), [](const ApiCall&) {});
  Pass();
  EXPECT_EQ(reporter_.counts().outranked, 1u) << "and tried no second time while it would be again";
  queue_.Complete(7, Error("409"));
  Pass();
  EXPECT_EQ(Sent(), Texts{"-"});
}

// What the pod shows already is remembered, although the call for it was skipped.
TEST_F(StatusReporterTest, MessageThatChangedNothingStaysRemembered) {
  Gate("waiting for a node");
  queue_.Sync(7, MarkedPod("waiting for a claim"));
  Gate("waiting for a claim");
  queue_.Sync(7, MarkedPod("waiting for a claim"));
  EXPECT_EQ(Sent(), Texts{});
  Gate("waiting for a claim");
  EXPECT_EQ(reporter_.counts().repeated, 1u);
  EXPECT_EQ(reporter_.counts().outranked, 0u);
  EXPECT_EQ(reporter_.counts().cancelled, 1u);
}

TEST_F(StatusReporterTest, DeletionTakesBackWhatWaits) {
  Gate("waiting for a claim");
  Delete();
  EXPECT_EQ(Sent(), Texts{});
}

TEST_F(StatusReporterTest, AnotherPodOfTheNameStartsAnew) {
  Gate("waiting for a claim", 1);
  EXPECT_EQ(Sent(), Texts{"waiting for a claim"});
  pod_ = UnmarkedPod();
  pod_->uid = "second";
  queue_.Cancel(7);
  Gate("waiting for a claim", 2);
  EXPECT_EQ(Sent(), Texts{"waiting for a claim"});
}

// Two threads may tell of two moves in the other order.
TEST_F(StatusReporterTest, OlderMoveHeardLaterChangesNothing) {
  Pass(6);
  Gate("waiting for a claim", 5);
  EXPECT_EQ(Sent(), Texts{});
  EXPECT_EQ(reporter_.counts().overtaken, 1u);
  Gate("waiting for a claim", 8);
  Pass(7);
  EXPECT_EQ(Sent(), Texts{"waiting for a claim"});
}

TEST_F(StatusReporterTest, RejectionHeardAfterTheDeletionSendsNothing) {
  Gate("a", 4);
  Delete(6);
  Gate("b", 5);
  EXPECT_EQ(Sent(), Texts{});
}

TEST_F(StatusReporterTest, MoveNumbersMayRunOver) {
  Gate("old", ~uint32_t{0});
  Gate("new", 0);
  Gate("older", ~uint32_t{0} - 1);
  EXPECT_EQ(Sent(), Texts{"new"});
}

// The text for the pod's owner of a plugin with texts of its own, and of one that opts out; "-" for
// none. The reporter's plugins say "inside" to the scheduler.
struct ModelCase {
  StatusModel model;
  std::string_view of_own_words;
  std::string_view of_opt_out;
  bool is_delayed;
};
constexpr ModelCase kModelCases[] = {
    {StatusModel::kExplicitImmediate, "own words", "-", false},
    {StatusModel::kExplicitDelayed, "own words", "-", true},
    {StatusModel::kImplicitDelayedOptOut, "inside", "-", true},
    {StatusModel::kImplicitDelayed, "inside", "inside", true},
    {StatusModel::kImplicitImmediate, "inside", "inside", false},
};

TEST_F(StatusReporterTest, EachModelShowsItsOwnWordsAtItsOwnTime) {
  for (const ModelCase& one : kModelCases) {
    StatusReporterOptions options = Options();
    options.model = one.model;
    options.user_message = [](const Pod&, PluginId plugin, std::string_view) {
      return std::string(plugin == kPlugin ? "own words" : "");
    };
    StatusReporter reporter(options);
    for (const PluginId plugin : {kPlugin, kOptingOut}) {
      pod_ = UnmarkedPod();
      pod_->uid = std::string(StatusModelName(one.model)) + std::to_string(plugin);
      reporter.OnGated(pod_, plugin, "inside", Move(0, *pod_));
      std::string sent = "-";
      const auto send = [&](const ApiCall& call) {
        sent = call.condition.message;
        queue_.Complete(call.object, Status());
      };
      queue_.Dispatch(clock_.Now(), send);
      const std::string wanted(plugin == kPlugin ? one.of_own_words : one.of_opt_out);
      EXPECT_EQ(sent, one.is_delayed ? "-" : wanted) << pod_->uid;
      clock_.AdvanceBy(seconds(6));
      queue_.Dispatch(clock_.Now(), send);
      EXPECT_EQ(sent, wanted) << pod_->uid;
    }
    EXPECT_EQ(reporter.counts().opted_out, HasOptOut(one.model) ? 1u : 0u);
    EXPECT_EQ(ParseStatusModel(StatusModelName(one.model)), one.model);
  }
  EXPECT_EQ(ParseStatusModel("implicit"), std::nullopt);
}

// Moves 1 to 5 of one pod: a, b, pass, a, c; told in each of the 120 orders.
TEST_F(StatusReporterTest, EveryOrderEndsWithTheNewestMove) {
  const std::vector<std::string> told = {"a", "b", "", "a", "c"};
  std::vector<uint32_t> order(told.size());
  std::iota(order.begin(), order.end(), 0u);
  uint32_t base = 0;
  do {
    pod_ = UnmarkedPod();
    pod_->uid = "pod " + std::to_string(base);
    queue_.Cancel(7);
    for (const uint32_t move : order) {
      const uint32_t number = base + move + 1;
      told[move].empty() ? Pass(number) : Gate(told[move], number);
    }
    EXPECT_EQ(Sent(), Texts{"c"}) << "order " << testing::PrintToString(order);
    base += static_cast<uint32_t>(told.size());
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace schedq
