// Goal: an attempt ends once, in each of the ways that its state allows, and none is lost. Method:
// every way out of every state, on both engines.
#include "schedq/attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "engine/base/result.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/queue_answers.h"
#include "schedq/engine_kind.h"
#include "tests/unit/schedq/queue_fixture.h"

namespace schedq {
namespace {

using ::testing::HasSubstr;

class AttemptTest : public AssembledQueueFixture {
 protected:
  void SetUp() override { Make(Options()); }

  Attempt PopNew() {
    pod_ = NewPod("a");
    MustSucceed(queue_->PodAdded(pod_));
    return *queue_->TryPop();
  }

  PodRef pod_;
};

TEST_P(AttemptTest, SaysWhatItIsAbout) {
  const Attempt attempt = PopNew();
  EXPECT_EQ(attempt.pod().name, "a");
  EXPECT_EQ(attempt.pod_ref(), pod_);
  EXPECT_EQ(attempt.attempts(), 1u);
  EXPECT_FALSE(attempt.is_ended());
  EXPECT_EQ(PlaceOf("a"), Place::kInFlight);
}

// The cluster tells of a change while the attempt is done: between asking whether the pod is on its
// way and updating the queue, which takes a pod that stands nowhere for a new one.
TEST_P(AttemptTest, AnUpdateAmidTheBeginOfABindingBringsNoPodBack) {
  constexpr int kRounds = 20'000;
  const PodRef before = NewPod("a");
  const auto after = std::make_shared<Pod>(*before);
  after->labels = {{"changed", "yes"}};
  std::barrier meeting(2);
  std::thread cluster([&] {
    for (int i = 0; i < kRounds; ++i) {
      meeting.arrive_and_wait();
      MustSucceed(queue_->PodChanged(before, after));
      meeting.arrive_and_wait();
    }
  });
  uint64_t brought_back = 0;
  for (int i = 0; i < kRounds; ++i) {
    MustSucceed(queue_->PodAdded(before));
    Attempt attempt = *queue_->TryPop();
    meeting.arrive_and_wait();
    // The two meet at another step each time.
    for (std::atomic<int> steps{0}; steps < i % 128; ++steps) {
    }
    MustSucceed(attempt.BeginBinding({}));
    meeting.arrive_and_wait();
    brought_back += queue_->Counts().active;
    MustSucceed(attempt.Bind());
    queue_->PodDeleted(after);
  }
  cluster.join();
  EXPECT_EQ(brought_back, 0u);
}

TEST_P(AttemptTest, FailsForItsPlugins) {
  Attempt attempt = PopNew();
  EXPECT_TRUE(attempt.Fail(Named("Listener")).ok());
  EXPECT_TRUE(attempt.is_ended());
  EXPECT_EQ(PlaceOf("a"), Place::kUnschedulable);
  EXPECT_EQ(queue_->Where("ns/a").fields.unschedulable_plugins, Named("Listener"));
}

TEST_P(AttemptTest, FailsForPluginsThatWait) {
  Attempt attempt = PopNew();
  EXPECT_TRUE(attempt.Fail(PluginSet(), Named("Listener")).ok());
  EXPECT_EQ(queue_->Where("ns/a").fields.pending_plugins, Named("Listener"));
}

TEST_P(AttemptTest, FailsWithoutPluginsAsAnError) {
  Attempt attempt = PopNew();
  EXPECT_TRUE(attempt.Fail(PluginSet()).ok());
  EXPECT_EQ(PlaceOf("a"), Place::kErrorBackoff);
}

TEST_P(AttemptTest, IsBound) {
  Attempt attempt = PopNew();
  EXPECT_TRUE(attempt.Bind().ok());
  EXPECT_EQ(PlaceOf("a"), Place::kAbsent);
  EXPECT_EQ(queue_->Counts(), QueueCounts());
}

TEST_P(AttemptTest, IsDoneAndThenBoundOrFailed) {
  {
    Attempt attempt = PopNew();
    EXPECT_TRUE(attempt.Done().ok());
    EXPECT_FALSE(attempt.is_ended());
    EXPECT_EQ(queue_->Counts().in_flight, 0u);
    EXPECT_TRUE(attempt.Bind().ok());
    EXPECT_TRUE(attempt.is_ended());
  }
  Attempt attempt = PopNew();
  EXPECT_TRUE(attempt.Done().ok());
  EXPECT_TRUE(attempt.Fail(PluginSet()).ok());
  EXPECT_EQ(PlaceOf("a"), Place::kErrorBackoff);
}

TEST_P(AttemptTest, DoesNotFailForPluginsOnceItsBindingHasBegun) {
  Attempt attempt = PopNew();
  EXPECT_TRUE(attempt.Done().ok());
  const Status failed = attempt.Fail(Named("Listener"));
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message(), HasSubstr("its binding has begun"));
  EXPECT_FALSE(attempt.is_ended());
  EXPECT_TRUE(attempt.Fail(PluginSet()).ok());
}

TEST_P(AttemptTest, EndsOnce) {
  const auto expect_over = [this](Attempt* attempt) {
    const std::string expected = "attempt of pod ns/a: it has ended already";
    for (const Status& status :
         {attempt->Fail(PluginSet()), attempt->Fail(Named("Listener")), attempt->Done(),
          attempt->BeginBinding({}), attempt->Bind(), attempt->SendBinding("node")}) {
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().message(), expected);
    }
  };
  {
    Attempt failed = PopNew();
    EXPECT_TRUE(failed.Fail(Named("Listener")).ok());
    expect_over(&failed);
    EXPECT_EQ(PlaceOf("a"), Place::kUnschedulable);
    queue_->PodDeleted(pod_);
  }
  Attempt bound = PopNew();
  EXPECT_TRUE(bound.Bind().ok());
  expect_over(&bound);
  EXPECT_EQ(PlaceOf("a"), Place::kAbsent);
}

TEST_P(AttemptTest, IsDoneOnce) {
  Attempt attempt = PopNew();
  EXPECT_TRUE(attempt.Done().ok());
  EXPECT_FALSE(attempt.Done().ok());
  EXPECT_FALSE(attempt.BeginBinding({}).ok());
}

TEST_P(AttemptTest, DroppedWhileOpenFailsAsAnError) {
  { const Attempt attempt = PopNew(); }
  EXPECT_EQ(PlaceOf("a"), Place::kErrorBackoff);
  EXPECT_EQ(queue_->Counts().in_flight, 0u);
}

TEST_P(AttemptTest, DroppedWhileDoneLeavesTheRestToTheCluster) {
  {
    Attempt attempt = PopNew();
    EXPECT_TRUE(attempt.Done().ok());
  }
  EXPECT_EQ(PlaceOf("a"), Place::kAbsent);
}

TEST_P(AttemptTest, MovedFromIsNoAttempt) {
  Attempt first = PopNew();
  Attempt second = std::move(first);
  const Status status = first.Bind();  // NOLINT(bugprone-use-after-move): that is the test.
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(), "attempt: it was moved from");
  EXPECT_EQ(PlaceOf("a"), Place::kInFlight);
  EXPECT_TRUE(second.Bind().ok());
}

TEST_P(AttemptTest, AssignedToEndsAsIfDropped) {
  Attempt first = PopNew();
  MustSucceed(queue_->PodAdded(NewPod("b")));
  first = *queue_->TryPop();
  EXPECT_EQ(PlaceOf("a"), Place::kErrorBackoff);
  EXPECT_EQ(PlaceOf("b"), Place::kInFlight);
  EXPECT_TRUE(first.Bind().ok());
  EXPECT_EQ(PlaceOf("b"), Place::kAbsent);
}

TEST_P(AttemptTest, IsAbandoned) {
  Attempt attempt = PopNew();
  EXPECT_TRUE(attempt.Abandon().ok());
  EXPECT_TRUE(attempt.is_ended());
  EXPECT_FALSE(attempt.Abandon().ok());
  EXPECT_EQ(queue_->Counts(), QueueCounts());
}

TEST_P(AttemptTest, UpdatesOfAPodOnItsWayToANodeWaitForTheBindingsEnd) {
  Attempt attempt = PopNew();
  ASSERT_TRUE(attempt.Done().ok());
  auto newer = VersionOf(pod_);
  newer->priority = 7;
  MustSucceed(queue_->PodUpdated(pod_, newer));
  EXPECT_EQ(PlaceOf("a"), Place::kAbsent);
  EXPECT_TRUE(attempt.Fail(PluginSet()).ok());
  EXPECT_EQ(PlaceOf("a"), Place::kErrorBackoff);
  EXPECT_EQ(queue_->Where("ns/a").pod->priority, 7);
}

TEST_P(AttemptTest, OfADeletedPodEndsQuietly) {
  Attempt attempt = PopNew();
  queue_->PodDeleted(pod_);
  EXPECT_TRUE(attempt.Fail(Named("Listener")).ok());
  EXPECT_EQ(queue_->Counts().in_flight, 0u);
}

TEST_P(AttemptTest, NeedsADispatcherToSendABinding) {
  Attempt attempt = PopNew();
  const Status sent = attempt.SendBinding("node");
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().message(),
            "attempt of pod ns/a: no dispatcher, expected api_calls among the options");
  // Nothing has happened to it.
  EXPECT_EQ(PlaceOf("a"), Place::kInFlight);
  EXPECT_TRUE(attempt.Fail(Named("Listener")).ok());
}

TEST_P(AttemptTest, BeginsABindingWithoutADispatcher) {
  Attempt attempt = PopNew();
  BindingPlan plan;
  plan.node = "node";
  EXPECT_TRUE(attempt.BeginBinding(std::move(plan)).ok());
  EXPECT_EQ(queue_->Counts().in_flight, 0u);
  EXPECT_TRUE(attempt.Bind().ok());
}

INSTANTIATE_TEST_SUITE_P(Engines, AttemptTest, testing::ValuesIn(AllEngines()), EngineOf);

}  // namespace
}  // namespace schedq
