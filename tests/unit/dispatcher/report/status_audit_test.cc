// Goal: the measures by which KEP-5501's models differ measure what their names say.
// Method: the queue's and the server's side of short lives, told by hand, one measure a test.
#include "dispatcher/report/status_audit.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "dispatcher/api_call.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"
#include "tests/support/call_scene.h"

namespace schedq {
namespace {

using std::chrono::seconds;

class StatusAuditTest : public testing::Test {
 protected:
  void Gate(const std::string& message) { audit_.OnGated(stored_, 0, message, {}); }
  void Pass() { audit_.OnPassed(stored_, {}); }
  // The server stores the pod with this message, or "" with none.
  void Show(const std::string& message, std::string_view reason = kNotReadyReason) {
    const PodRef before = stored_;
    stored_ = message.empty() ? UnmarkedPod() : MarkedPod(message, reason);
    audit_.OnStored(before, stored_);
  }
  void Wait(int64_t duration) { clock_.AdvanceBy(seconds(duration)); }

  VirtualClock clock_{Instant(seconds(1))};
  StatusAudit audit_{&clock_};
  PodRef stored_ = UnmarkedPod();
};

TEST_F(StatusAuditTest, RejectedWithoutAnyMessageIsBlind) {
  Gate("a");
  Wait(5);
  Show("a");
  Wait(10);
  EXPECT_EQ(audit_.Measures(), (StatusMeasures{.blind_pod_seconds = 5}));
}

TEST_F(StatusAuditTest, AnyMessageEndsBlindnessAndOnlyOursCanBeStale) {
  Show("blocked", "SchedulingGated");
  Gate("a");
  Wait(7);
  EXPECT_EQ(audit_.Measures(), StatusMeasures());
}

TEST_F(StatusAuditTest, MessageIsStaleWhenAnotherReasonHoldsOrNone) {
  Gate("a");
  Show("a");
  Wait(10);
  Gate("b");
  Wait(3);
  Pass();
  Wait(4);
  Show("");
  Wait(10);
  EXPECT_EQ(audit_.Measures(), (StatusMeasures{.stale_pod_seconds = 7}));
}

TEST_F(StatusAuditTest, FlickersAreClearedWithinTheWindow) {
  for (const int64_t shown_for : {4, 5}) {
    Gate("a");
    Show("a");
    Wait(shown_for);
    Pass();
    Show("");
    EXPECT_EQ(audit_.Measures(), (StatusMeasures{.flickers = 1})) << shown_for;
  }
}

TEST_F(StatusAuditTest, PodsThatAreBoundOrGoneAreNoConcern) {
  Gate("a");
  auto bound = std::make_shared<Pod>(*stored_);
  bound->node_name = "node";
  audit_.OnStored(stored_, bound);
  Wait(10);
  Gate("a");
  audit_.OnDeleted(stored_, {});
  Wait(10);
  EXPECT_EQ(audit_.Measures(), StatusMeasures());
}

}  // namespace
}  // namespace schedq
