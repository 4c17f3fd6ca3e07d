// docs/semantics.md, "Update", "Add", "Activate" of a pod that was deleted and created anew under
// its uid while it was in flight: it is queued and in flight at once.
// Method: every engine in both states of both gates.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "engine/pod.h"
#include "engine/queue_answers.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

class QueueReadded : public QueueTest {
 protected:
  // In flight and, with `pod`, in a queue.
  PoppedPod ReaddInFlight(QueueBench* bench, const PodRef& pod) {
    bench->Add(pod);
    PoppedPod flying = bench->MustPop();
    bench->Delete(pod);
    bench->Add(pod);
    bench->Advance(std::chrono::milliseconds(1));
    return flying;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, QueueReadded, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueReadded, UpdateLeavesTheOrderOfActive) {
  QueueBench bench(Options());
  const PodRef pod = MakePod("pod", 1);
  const PoppedPod flying = ReaddInFlight(&bench, pod);
  for (const char* name : {"a", "b", "c"}) bench.Add(MakePod(name, 2));
  bench.Update(pod, MakePod("pod", 3));
  bench.Add(MakePod("d", 2));
  ASSERT_TRUE(bench.Fail(flying, {}).ok() == false);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bench.MustPop().pod->priority, 2);
  EXPECT_EQ(bench.MustPop().pod->name, "pod");
}

TEST_P(QueueReadded, TheNextUpdateSortsItByThePriorityOfTheLast) {
  QueueBench bench(Options());
  const PodRef pod = MakePod("pod", 1);
  const PoppedPod flying = ReaddInFlight(&bench, pod);
  bench.Add(MakePod("other", 2));
  const PodRef higher = MakePod("pod", 3);
  bench.Update(pod, higher);
  ASSERT_TRUE(bench.Fail(flying, {}).ok() == false);
  bench.Update(higher, MakePod("pod", 3));
  EXPECT_EQ(bench.MustPop().pod->name, "pod");
  EXPECT_EQ(bench.MustPop().pod->name, "other");
}

TEST_P(QueueReadded, AddUpdatesWhatIsQueued) {
  QueueBench bench(Options());
  const PodRef pod = MakePod("pod", 1);
  const PoppedPod flying = ReaddInFlight(&bench, pod);
  bench.Add(MakePod("other", 2));
  bench.Add(MakePod("pod", 3));
  EXPECT_EQ(bench.queue().LoggedEvents(), 0u);
  bench.queue().Done(flying.key);
  EXPECT_EQ(bench.MustPop().pod->name, "pod");
  EXPECT_EQ(bench.MustPop().pod->name, "other");
}

TEST_P(QueueReadded, UpdateOfTheGatedIsLoggedAndThatIsAll) {
  GatingSwitch gating;
  QueueBench bench(
      Options({GatingPlugin("Gating", &gating, {On(Resource::kTargetPod, Action::kAll)})}));
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  bench.MustPop();
  bench.Delete(pod);
  gating.open = false;
  bench.Add(pod);
  ASSERT_EQ(bench.PlaceOf("pod"), "gated:Gating");
  gating.open = true;
  bench.Update(pod, MakePod("pod", 1));
  EXPECT_EQ(bench.PlaceOf("pod"), "gated:Gating");
  EXPECT_EQ(bench.queue().LoggedEvents(), 1u);
}

TEST_P(QueueReadded, ActivateOfTheActiveIsLogged) {
  QueueBench bench(Options());
  const PodRef pod = MakePod("pod");
  ReaddInFlight(&bench, pod);
  bench.queue().Activate({&pod, 1});
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  EXPECT_EQ(bench.queue().LoggedEvents(), 1u);
}

// The name belongs to another pod, in a queue or gone, and the one before it is in flight still.
TEST_P(QueueReadded, ActivateOfAnEarlierUidIsLogged) {
  QueueBench bench(Options());
  const PodRef earlier = MakePod("pod");
  auto changed = std::make_shared<Pod>(*earlier);
  changed->uid = "another";
  const PodRef later = changed;
  bench.Add(earlier);
  const PoppedPod flying = bench.MustPop();
  bench.Delete(earlier);
  bench.Add(later);
  bench.queue().Activate({&earlier, 1});
  EXPECT_EQ(bench.queue().LoggedEvents(), 1u);
  bench.queue().Activate({&later, 1});
  EXPECT_EQ(bench.queue().LoggedEvents(), 1u) << "it is active";
  bench.Delete(later);
  bench.queue().Activate({&earlier, 1});
  EXPECT_EQ(bench.queue().LoggedEvents(), 2u);
  bench.queue().Done(flying.key);
  EXPECT_EQ(bench.queue().LoggedEvents(), 0u);
}

}  // namespace
}  // namespace schedq
