// Goal: what the reporter was told of has taken effect when it returns, also if another thread is
// stopped after it has remembered a message and before it adds the call.
// Method: the call queue asks the clock for the time before it adds a call. There the test does
// what other threads do meanwhile, and judges it; then the first thread goes on.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "dispatcher/report/status_model.h"
#include "dispatcher/report/status_reporter.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "tests/support/call_scene.h"

namespace schedq {
namespace {

using std::chrono::seconds;
using Texts = std::vector<std::string>;

constexpr PluginId kPlugin = 0;
constexpr PluginId kOptingOut = 1;

// Does something once when it is next asked for the time.
class InterruptingClock final : public Clock {
 public:
  Instant Now() const override {
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    return now;
  }
  TimerId At(Instant, std::function<void()>) override { return 0; }
  TimerId Every(Instant, Duration, std::function<void()>) override { return 0; }
  bool Cancel(TimerId) override { return false; }

  Instant now{seconds(1)};
  mutable std::function<void()> meanwhile;
};

class StatusReporterFrozen : public testing::Test {
 protected:
  void Gate(const std::string& message, uint32_t number, PluginId plugin = kPlugin) {
    reporter_.OnGated(pod_, plugin, message, Move(number));
  }
  void Pass(uint32_t number) { reporter_.OnPassed(pod_, Move(number)); }
  PodMove Move(uint32_t number) const {
    return {.pod = {7, UidFingerprint(pod_->uid)}, .number = number};
  }
  // The messages that are sent within the next 6 s.
  Texts Sent() {
    clock_.now += seconds(6);
    Texts sent;
    queue_.Dispatch(clock_.now, [&](const ApiCall& call) {
      sent.push_back(call.condition.message);
      queue_.Complete(call.object, Status());
    });
    return sent;
  }
  StatusReporterOptions Options() {
    StatusReporterOptions options;
    options.queue = &queue_;
    options.model = StatusModel::kImplicitDelayedOptOut;
    options.user_message = [](const Pod&, PluginId plugin, std::string_view message) {
      return plugin == kOptingOut ? std::string() : std::string(message);
    };
    return options;
  }

  InterruptingClock clock_;
  PodRef pod_ = UnmarkedPod();
  CallQueue<> queue_{CallQueueOptions{.clock = &clock_}};
  StatusReporter reporter_{Options()};
};

TEST_F(StatusReporterFrozen, OwedMessageIsSentByTheThreadThatFindsItRemembered) {
  clock_.meanwhile = [this] {
    Gate("message", 2);
    EXPECT_EQ(Sent(), Texts{"message"}) << "the other thread may be stopped for ever";
  };
  Gate("message", 1);
  EXPECT_EQ(Sent(), Texts()) << "it is sent once";
}

TEST_F(StatusReporterFrozen, LateMessageIsNotAddedAfterThePodHasPassed) {
  clock_.meanwhile = [this] { Pass(2); };
  Gate("message", 1);
  EXPECT_EQ(Sent(), Texts());
}

TEST_F(StatusReporterFrozen, LateMessageIsNotAddedAfterANewerOne) {
  clock_.meanwhile = [this] { Gate("newer", 2); };
  Gate("older", 1);
  EXPECT_EQ(Sent(), Texts{"newer"});
}

TEST_F(StatusReporterFrozen, MessageIsSentAfterANewerNoticeThatShowsNothing) {
  clock_.meanwhile = [this] { Gate("hidden", 2, kOptingOut); };
  Gate("message", 1);
  EXPECT_EQ(Sent(), Texts{"message"});
}

// A call with the same message is in flight, from before the pod passed and was rejected anew.
TEST_F(StatusReporterFrozen, MessageIsSentAlthoughAnOlderCallWithItFailsMeanwhile) {
  Gate("message", 1);
  clock_.now += seconds(6);
  queue_.Dispatch(clock_.now, [](const ApiCall&) {});
  Pass(2);
  clock_.meanwhile = [this] { queue_.Complete(7, Error("503")); };
  Gate("message", 3);
  EXPECT_EQ(Sent(), Texts{"message"});
  Gate("message", 4);
  EXPECT_EQ(Sent(), Texts()) << "it is remembered";
}

// Another thread finds the message remembered and its call owed, and adds a call of its own. It is
// that one whose failure counts.
TEST_F(StatusReporterFrozen, FailureOfTheCallThatWasAddedInsteadIsNotMissed) {
  clock_.meanwhile = [this] { Gate("message", 2); };
  Gate("message", 1);
  clock_.now += seconds(6);
  queue_.Dispatch(clock_.now, [&](const ApiCall&) { queue_.Complete(7, Error("503")); });
  Gate("message", 3);
  EXPECT_EQ(Sent(), Texts{"message"}) << "the pod shows nothing yet";
}

// The clear of a pod that passed fails after the pod was rejected anew.
TEST_F(StatusReporterFrozen, FailedClearIsNotSentAgainAfterANewRejection) {
  pod_ = MarkedPod("before");
  Pass(1);
  clock_.now += seconds(6);
  queue_.Dispatch(clock_.now, [](const ApiCall&) {});
  Gate("message", 2);
  queue_.Complete(7, Error("503"));
  EXPECT_EQ(Sent(), Texts{"message"});
  EXPECT_EQ(Sent(), Texts());
}

}  // namespace
}  // namespace schedq
