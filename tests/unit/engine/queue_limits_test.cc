// docs/semantics.md, "Limits", as far as it holds for every engine: what is refused, and that it
// has changed nothing. Method: every engine in both states of both gates.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/pod.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

class QueueLimitsOf : public QueueTest {
 protected:
  QueueBenchOptions OptionsWithRoomFor(uint64_t pods) const {
    QueueBenchOptions options = Options();
    options.pods_max = pods;
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, QueueLimitsOf, testing::ValuesIn(AllQueueCases()), CaseName);

const std::string& LongName() {
  static const std::string kName(Interner::kTextBytesMax + 1, 'x');
  return kName;
}

TEST_P(QueueLimitsOf, FullThenRefusedThenRemovedThenOn) {
  QueueBench bench(OptionsWithRoomFor(2));
  bench.Add(MakePod("a"));
  bench.Add(MakePod("b"));
  const Status refused = bench.queue().Add(MakePod("c"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(),
            "add: pod ns/c: the queue is full, expected at most 2 pods at one time");
  EXPECT_EQ(bench.PlaceOf("c"), "absent");
  EXPECT_FALSE(bench.queue().Update(MakePod("c"), MakePod("c")).ok());
  // In flight and done, a pod is there all the same.
  bench.queue().Done(bench.MustPop().key);
  EXPECT_FALSE(bench.queue().Add(MakePod("c")).ok());
  bench.Delete(MakePod("b"));
  EXPECT_TRUE(bench.queue().Add(MakePod("c")).ok());
  EXPECT_EQ(bench.queue().Counts().active, 1u);
}

TEST_P(QueueLimitsOf, APodThatIsThereIsUpdatedWhileTheQueueIsFull) {
  QueueBench bench(OptionsWithRoomFor(1));
  bench.Add(MakePod("a"));
  EXPECT_TRUE(bench.queue().Add(MakePod("a", 5)).ok());
  EXPECT_TRUE(bench.queue().Update(MakePod("a", 5), MakePod("a", 6)).ok());
  EXPECT_EQ(bench.MustPop().pod->priority, 6);
}

TEST_P(QueueLimitsOf, RefusedClaimsAreForgotten) {
  QueueBench bench(OptionsWithRoomFor(1));
  bench.Add(MakePod("a"));
  auto pod = std::make_shared<Pod>(*MakePod("b"));
  pod->claims = {"claim"};
  EXPECT_FALSE(bench.assembled().PodAdded(pod).ok());
  EXPECT_EQ(bench.world().claim_index().size(), 0u);
  EXPECT_EQ(bench.pod_names().size(), 1u);
}

TEST_P(QueueLimitsOf, NamesThatAreTooLongAreRefused) {
  QueueBench bench(Options());
  bench.Add(MakePod("a"));
  auto pod = std::make_shared<Pod>(*MakePod("b"));
  pod->nominated_node_name = LongName();
  const Status refused = bench.queue().Add(pod);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(),
            "add: pod ns/b: its node's name has 16777216 bytes, expected at most 16777215");
  EXPECT_EQ(bench.PlaceOf("b"), "absent");

  EXPECT_FALSE(bench.queue().Nominate(MakePod("a"), LongName()).ok());
  auto nominated = std::make_shared<Pod>(*MakePod("a"));
  nominated->nominated_node_name = LongName();
  nominated->priority = 7;
  EXPECT_FALSE(bench.queue().Update(MakePod("a"), nominated).ok());
  EXPECT_EQ(bench.queue().NominatedPods(LongName()).size(), 0u);

  pod->nominated_node_name.clear();
  pod->name = LongName();
  EXPECT_FALSE(bench.assembled().PodAdded(pod).ok());
  pod->name = "c";
  pod->claims = {LongName()};
  EXPECT_FALSE(bench.assembled().PodAdded(pod).ok());
  EXPECT_EQ(bench.pod_names().size(), 1u);
  EXPECT_EQ(bench.MustPop().pod->priority, 0);
}

}  // namespace
}  // namespace schedq
