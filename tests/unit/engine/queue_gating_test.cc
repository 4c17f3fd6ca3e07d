// docs/semantics.md, "PreEnqueue": when it runs, in which order, and what a rejection leaves
// behind.
// Method: gating plugins that a test opens and closes and that count how often they were asked;
// every engine in both states of both gates.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "engine/plugin.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

using std::chrono::seconds;

class QueueGating : public QueueTest {
 protected:
  std::vector<Plugin> GatingPlugins() {
    return {GatingPlugin("First", &first_, {On(Resource::kNode, Action::kAdd)}),
            GatingPlugin("Second", &second_, {On(Resource::kNode, Action::kUpdateNodeLabel)})};
  }
  GatingSwitch first_;
  GatingSwitch second_;
};
INSTANTIATE_TEST_SUITE_P(Engines, QueueGating, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueGating, FirstRejectionStopsTheRun) {
  first_.open = false;
  QueueBench bench(Options(GatingPlugins()));
  bench.Add(MakePod("pod"));
  EXPECT_EQ(bench.PlaceOf("pod"), "gated:First");
  EXPECT_EQ(second_.asked, 0);
  EXPECT_EQ(bench.FieldsOf("pod").unschedulable_plugins, bench.Plugins({"First"}));
}

TEST_P(QueueGating, WhatGatedLastRunsFirst) {
  second_.open = false;
  QueueBench bench(Options(GatingPlugins()));
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  EXPECT_EQ(bench.PlaceOf("pod"), "gated:Second");
  first_.asked = second_.asked = 0;
  bench.queue().Activate(std::vector<PodRef>{pod});
  EXPECT_EQ(second_.asked, 1);
  EXPECT_EQ(first_.asked, 0);
}

TEST_P(QueueGating, EachIsAskedOnceWhenTheGatingOnePasses) {
  second_.open = false;
  QueueBench bench(Options(GatingPlugins()));
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  second_.open = true;
  first_.asked = second_.asked = 0;
  bench.queue().Activate(std::vector<PodRef>{pod});
  EXPECT_EQ(first_.asked, 1);
  EXPECT_EQ(second_.asked, 1);
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
}

TEST_P(QueueGating, AnotherPluginTakesOver) {
  second_.open = false;
  QueueBench bench(Options(GatingPlugins()));
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  second_.open = true;
  first_.open = false;
  bench.queue().Activate(std::vector<PodRef>{pod});
  EXPECT_EQ(bench.PlaceOf("pod"), "gated:First");
  EXPECT_EQ(bench.FieldsOf("pod").unschedulable_plugins, bench.Plugins({"First", "Second"}));
}

TEST_P(QueueGating, WhatGatedStaysARejectorUntilTheNextFail) {
  first_.open = false;
  QueueBench bench(Options(GatingPlugins()));
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  first_.open = true;
  bench.queue().Activate(std::vector<PodRef>{pod});
  EXPECT_EQ(bench.FieldsOf("pod").gating_plugin, kNoPlugin);
  EXPECT_EQ(bench.FieldsOf("pod").unschedulable_plugins, bench.Plugins({"First"}));
  ASSERT_TRUE(bench.Fail(bench.MustPop(), {"Second"}).ok());
  EXPECT_EQ(bench.FieldsOf("pod").unschedulable_plugins, bench.Plugins({"Second"}));
}

TEST_P(QueueGating, RunsBeforeBackoffOnlyWithTheGateOn) {
  QueueBench bench(Options(GatingPlugins()));
  bench.AddRejected(MakePod("pod"), {"First"});
  first_.asked = 0;
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.PlaceOf("pod").substr(0, 8), "backoff@");
  EXPECT_EQ(first_.asked, PopsFromBackoff() ? 1 : 0);
  bench.Advance(seconds(3));
  first_.asked = 0;
  bench.queue().FlushBackoff();
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  EXPECT_EQ(first_.asked, PopsFromBackoff() ? 0 : 1) << "on the way from backoff to active";
}

TEST_P(QueueGating, RejectedOnTheWayToBackoff) {
  QueueBench bench(Options(GatingPlugins()));
  bench.AddRejected(MakePod("pod"), {"First"});
  first_.open = false;
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.PlaceOf("pod").substr(0, 8), PopsFromBackoff() ? "gated:Fi" : "backoff@");
  bench.Advance(seconds(3));
  bench.queue().FlushBackoff();
  EXPECT_EQ(bench.PlaceOf("pod"), "gated:First");
}

// Error or not is judged after PreEnqueue, whose rejection leaves a rejector behind.
TEST_P(QueueGating, ErrorWithARejectorIsNoErrorBackoff) {
  QueueBench bench(Options(GatingPlugins()));
  const PodRef pod = MakePod("pod");
  bench.AddRejected(pod, {});
  EXPECT_EQ(bench.PlaceOf("pod").substr(0, 14), "error-backoff@");
  first_.open = false;
  bench.queue().Activate(std::vector<PodRef>{pod});
  if (PopsFromBackoff()) {
    EXPECT_EQ(bench.PlaceOf("pod"), "active") << "PreEnqueue ran before backoff already";
    return;
  }
  EXPECT_EQ(bench.PlaceOf("pod"), "gated:First");
  first_.open = true;
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.PlaceOf("pod").substr(0, 8), "backoff@");
}

TEST_P(QueueGating, GatedCandidateIsLookedAtOnlyForItsGatingPluginsEvents) {
  QueueBench bench(Options(GatingPlugins()));
  bench.AddRejected(MakePod("other"), {"First"});
  second_.open = false;
  bench.Add(MakePod("pod"));
  second_.open = true;
  Send(bench, Resource::kNode, Action::kAdd);  // Only First registered for it.
  EXPECT_EQ(bench.PlaceOf("pod"), "gated:Second");
  Send(bench, Resource::kNode, Action::kUpdateNodeLabel);
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
}

TEST_P(QueueGating, FlushLooksAtGatedPodsAndClearsTheMarkOfThoseStillGated) {
  first_.open = false;
  QueueBench bench(Options(GatingPlugins()));
  bench.Add(MakePod("pod"));
  bench.Advance(std::chrono::minutes(6));
  bench.queue().FlushUnschedulable();
  EXPECT_EQ(bench.PlaceOf("pod"), "gated:First");
  EXPECT_FALSE(bench.FieldsOf("pod").was_flushed);
  EXPECT_EQ(bench.Incoming(Place::kUnschedulable, SpecialLabel::kUnschedulableTimeout), 1u);
}

}  // namespace
}  // namespace schedq
