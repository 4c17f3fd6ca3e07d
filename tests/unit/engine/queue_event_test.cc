// docs/semantics.md: Event, Requeue by verdict, PreQueueingHint, both flushes, through a queue.
// Method: every engine in both states of both gates; outcomes must not depend on the hint gate.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/queue_answers.h"
#include "hints/plugin.h"
#include "perf/documents/environment.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

ObjectChange ClaimChange(const std::string& name, bool was_allocated, bool is_allocated) {
  const auto version = [&](bool allocated) {
    auto object = std::make_shared<ObjectView>();
    object->resource = Resource::kResourceClaim;
    object->namespace_name = "ns";
    object->name = name;
    object->allocated = allocated;
    return object;
  };
  return {version(was_allocated), version(is_allocated)};
}

class QueueEvent : public QueueTest {
 protected:
  // "Claims" narrows to the pods that name the claim; "Other" does not narrow; both would queue.
  QueueBench* Build() {
    QueueBenchOptions options =
        Options({HintPlugin("Claims", {ClaimRegistration()}),
                 HintPlugin("Other", {On(Resource::kResourceClaim, Action::kUpdate, Hint::kQueue)}),
                 HintPlugin("Skips", {On(Resource::kResourceClaim, Action::kUpdate, Hint::kSkip)}),
                 HintPlugin("Fails", {On(Resource::kNode, Action::kDelete, Hint::kError)}),
                 HintPlugin("NoHint", {EventRegistration{Resource::kNode, Action::kAdd, {}, {}}})});
    bench_ = std::make_unique<QueueBench>(std::move(options));
    return bench_.get();
  }

  EventRegistration ClaimRegistration() {
    EventRegistration registration;
    registration.resource = Resource::kResourceClaim;
    registration.actions = Action::kUpdate;
    registration.hint = [this](const Pod& pod, const ObjectChange& change) {
      ++hint_calls_;
      const std::string& claim = change.Latest()->name;
      return std::count(pod.claims.begin(), pod.claims.end(), claim) > 0 ? Hint::kQueue
                                                                         : Hint::kSkip;
    };
    registration.pre_hint = [this](const ObjectChange& change, PodList* pods) {
      ++pre_hint_calls_;
      bench_->world().claim_index().Lookup(change.Latest()->namespace_name, change.Latest()->name,
                                           pods);
      return PreHint::kListed;
    };
    return registration;
  }

  PodRef PodWithClaim(const std::string& name, const std::string& claim) {
    auto pod = MakePod(name);
    pod->claims = {claim};
    return pod;
  }

  void SendClaim(const std::string& claim) {
    bench_->queue().Event(MakeEvent(Resource::kResourceClaim, Action::kUpdate),
                          ClaimChange(claim, false, true));
  }

  bool IsRequeued(const std::string& pod) const {
    return bench_->PlaceOf(pod).substr(0, 8) == "backoff@";
  }

  std::unique_ptr<QueueBench> bench_;
  int hint_calls_ = 0;
  int pre_hint_calls_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Engines, QueueEvent, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueEvent, ThatNoPluginRegisteredForIsIgnored) {
  QueueBench& bench = *Build();
  bench.Add(MakePod("flying"));
  bench.MustPop();
  Send(bench, Resource::kStorageClass, Action::kAdd);
  EXPECT_EQ(bench.queue().LoggedEvents(), 0u);
}

TEST_P(QueueEvent, IsLoggedWhetherOrNotAnyPodMoved) {
  QueueBench& bench = *Build();
  bench.Add(MakePod("flying"));
  bench.MustPop();
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.queue().LoggedEvents(), 1u);
}

TEST_P(QueueEvent, NoHintFunctionMeansQueue) {
  QueueBench& bench = *Build();
  bench.AddRejected(MakePod("pod"), {"NoHint"});
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_TRUE(IsRequeued("pod"));
}

TEST_P(QueueEvent, ErrorOfAHintMeansQueue) {
  QueueBench& bench = *Build();
  bench.AddRejected(MakePod("pod"), {"Fails"});
  Send(bench, Resource::kNode, Action::kDelete);
  EXPECT_TRUE(IsRequeued("pod"));
}

TEST_P(QueueEvent, PendingPluginGoesToActiveAtOnce) {
  QueueBench& bench = *Build();
  bench.AddRejected(MakePod("pod"), {"Skips"}, {"NoHint"});
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
}

TEST_P(QueueEvent, AfterBackoffOfAPodNoLongerBackingOffIsActive) {
  QueueBench& bench = *Build();
  bench.AddRejected(MakePod("pod"), {"NoHint"});
  bench.Advance(seconds(3));
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
}

TEST_P(QueueEvent, NarrowingAsksOnlyTheNarrowedPods) {
  QueueBench& bench = *Build();
  for (int i = 0; i < 10; ++i) {
    const std::string number = std::to_string(i);
    bench.AddRejected(PodWithClaim("pod-" + number, "claim-" + number), {"Claims"});
  }
  SendClaim("claim-3");
  EXPECT_TRUE(IsRequeued("pod-3"));
  EXPECT_EQ(bench.PlaceOf("pod-4"), "unschedulable");
  EXPECT_EQ(pre_hint_calls_, GetParam().narrows ? 1 : 0) << "once an event, before any pod";
  EXPECT_EQ(hint_calls_, GetParam().narrows ? 1 : 10);
}

TEST_P(QueueEvent, SeveralPodsShareOneClaim) {
  QueueBench& bench = *Build();
  bench.AddRejected(PodWithClaim("a", "shared"), {"Claims"});
  bench.AddRejected(PodWithClaim("b", "shared"), {"Claims"});
  SendClaim("shared");
  EXPECT_TRUE(IsRequeued("a"));
  EXPECT_TRUE(IsRequeued("b"));
}

// One plugin's answer never changes what another plugin sees.
TEST_P(QueueEvent, PluginWithoutPreQueueingHintBesideOneWithIt) {
  QueueBench& bench = *Build();
  bench.AddRejected(PodWithClaim("narrowed", "claim"), {"Claims"});
  bench.AddRejected(MakePod("other"), {"Other"});
  // Listed by the plugin that narrows, rejected by the one that does not.
  bench.AddRejected(PodWithClaim("listed", "claim"), {"Other"});
  bench.AddRejected(PodWithClaim("unrelated", "another"), {"Claims"});
  SendClaim("claim");
  EXPECT_TRUE(IsRequeued("listed"));
  EXPECT_TRUE(IsRequeued("narrowed"));
  EXPECT_TRUE(IsRequeued("other"));
  EXPECT_EQ(bench.PlaceOf("unrelated"), "unschedulable");
}

TEST_P(QueueEvent, ClaimEventBeforeThePodIsKnownFindsNothing) {
  QueueBench& bench = *Build();
  SendClaim("claim");
  bench.AddRejected(PodWithClaim("pod", "claim"), {"Claims"});
  EXPECT_EQ(bench.PlaceOf("pod"), "unschedulable");
}

TEST_P(QueueEvent, LoggedEventsAreNotNarrowed) {
  QueueBench& bench = *Build();
  bench.Add(PodWithClaim("pod", "claim"));
  const PoppedPod popped = bench.MustPop();
  SendClaim("claim");
  ASSERT_TRUE(bench.Fail(popped, {"Claims"}).ok());
  EXPECT_TRUE(IsRequeued("pod"));
}

TEST_P(QueueEvent, PreCheckFiltersCandidates) {
  QueueBench& bench = *Build();
  bench.AddRejected(MakePod("a"), {"NoHint"});
  bench.AddRejected(MakePod("b"), {"NoHint"});
  bench.queue().Event(MakeEvent(Resource::kNode, Action::kAdd), {},
                      [](const Pod& pod) { return pod.name == "b"; });
  EXPECT_EQ(bench.PlaceOf("a"), "unschedulable");
  EXPECT_TRUE(IsRequeued("b"));
}

class QueueFlush : public QueueEvent {};
INSTANTIATE_TEST_SUITE_P(Engines, QueueFlush, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueFlush, BackoffMovesWhatCompletedInBothQueues) {
  QueueBench& bench = *Build();
  bench.AddRejected(MakePod("rejected"), {"NoHint"});
  bench.AddRejected(MakePod("error"), {});
  Send(bench, Resource::kNode, Action::kAdd);
  bench.queue().FlushBackoff();
  EXPECT_TRUE(IsRequeued("rejected"));
  bench.Advance(seconds(2));
  bench.queue().FlushBackoff();
  EXPECT_EQ(bench.PlaceOf("rejected"), "active");
  EXPECT_EQ(bench.PlaceOf("error"), "active");
  EXPECT_EQ(bench.Incoming(Place::kActive, SpecialLabel::kBackoffComplete), 2u);
}

TEST_P(QueueFlush, UnschedulableForMoreThanFiveMinutesIsRequeuedAndMarked) {
  QueueBench& bench = *Build();
  bench.AddRejected(MakePod("pod"), {"Skips"});
  bench.Advance(minutes(5));
  bench.queue().FlushUnschedulable();
  EXPECT_EQ(bench.PlaceOf("pod"), "unschedulable") << "exactly five minutes are not more";
  bench.Advance(milliseconds(1));
  bench.queue().FlushUnschedulable();
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  EXPECT_TRUE(bench.FieldsOf("pod").was_flushed);
  EXPECT_EQ(bench.Incoming(Place::kActive, SpecialLabel::kUnschedulableTimeout), 1u);
}

TEST_P(QueueFlush, IsLoggedOnlyIfAnEntityWasDue) {
  QueueBench& bench = *Build();
  bench.Add(MakePod("flying"));
  const PoppedPod flying = bench.MustPop();
  bench.queue().FlushUnschedulable();
  EXPECT_EQ(bench.queue().LoggedEvents(), 0u);
  bench.AddRejected(MakePod("pod"), {"Skips"});
  bench.Advance(minutes(6));
  bench.queue().FlushUnschedulable();
  EXPECT_EQ(bench.queue().LoggedEvents(), 1u);
  ASSERT_TRUE(bench.Fail(flying, {"Skips"}).ok());
  EXPECT_EQ(bench.PlaceOf("flying").substr(0, 8), "backoff@") << "the wildcard reaches it";
}

TEST_P(QueueFlush, FlushTimestampDelaysTheNextFlush) {
  GatingSwitch gating{.open = false};
  QueueBench bench(Options({GatingPlugin("Gating", &gating)}));
  bench.Add(MakePod("pod"));
  bench.Advance(minutes(6));
  bench.queue().FlushUnschedulable();
  gating.asked = 0;
  bench.Advance(minutes(4));
  bench.queue().FlushUnschedulable();
  EXPECT_EQ(gating.asked, 0);
  bench.Advance(minutes(2));
  bench.queue().FlushUnschedulable();
  EXPECT_EQ(gating.asked, 1);
}

TEST_P(QueueFlush, PodBoundWithTheMarkStillSetIsCounted) {
  QueueBench& bench = *Build();
  const auto rescued = [&] {
    return bench.metrics().Value("scheduler_pod_scheduled_after_flush_total").value_or(0);
  };
  bench.AddRejected(MakePod("flushed"), {"Skips"});
  bench.Advance(minutes(6));
  bench.queue().FlushUnschedulable();
  bench.Bind(bench.MustPop());
  EXPECT_EQ(rescued(), 1);

  bench.AddRejected(MakePod("failed-again"), {"NoHint"});
  bench.Advance(minutes(6));
  bench.queue().FlushUnschedulable();
  ASSERT_TRUE(bench.Fail(bench.MustPop(), {"NoHint"}).ok());
  bench.Advance(minutes(1));
  Send(bench, Resource::kNode, Action::kAdd);
  bench.Bind(bench.MustPop());
  EXPECT_EQ(rescued(), 1) << "a failure clears the mark";
}

TEST_P(QueueFlush, TickersFlushBackoffAlignedToSecondsWithTheGateOn) {
  QueueBench& bench = *Build();
  bench.AddRejected(MakePod("pod"), {"NoHint"});
  Send(bench, Resource::kNode, Action::kAdd);
  bench.queue().Run();
  // On: at the whole second after the window, 1,700 ms. Off: every second from Run, at 2,000 ms.
  const milliseconds flushed_at(PopsFromBackoff() ? 1700 : 2000);
  bench.Advance(flushed_at - milliseconds(1));
  EXPECT_TRUE(IsRequeued("pod"));
  bench.Advance(milliseconds(1));
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  bench.queue().Close();
  EXPECT_EQ(bench.clock().pending(), 0u) << "Close stops the tickers";
}

TEST_P(QueueFlush, TickersFlushUnschedulableEveryThirtySeconds) {
  QueueBench& bench = *Build();
  bench.queue().Run();
  bench.AddRejected(MakePod("pod"), {"Skips"});
  bench.Advance(minutes(5) + seconds(29));
  EXPECT_EQ(bench.PlaceOf("pod"), "unschedulable");
  bench.Advance(seconds(1));
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
}

}  // namespace
}  // namespace schedq
