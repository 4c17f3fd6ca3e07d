// Goal: what observers are told of a pod carries the pod's key and, where an engine may tell of two
// moves in the other order, a number by which the newer one is known.
// Method: a life with rejections that change nothing, a pass, a successor under the name and a
// deletion; a name that passes between single pods and members of groups; places that pods of one
// name leave and come to. Every engine in both states of both gates; that engines tell the same is
// compared by the random driver.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/event.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue_answers.h"
#include "tests/support/queue/group_cases.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

class MoveRecorder final : public QueueObserver {
 public:
  struct Told {
    std::string what;
    PodMove move;
  };

  void OnGated(const PodRef& pod, PluginId, std::string_view, const PodMove& move) override {
    told.push_back({"gated " + pod->uid, move});
  }
  void OnPassed(const PodRef& pod, const PodMove& move) override {
    told.push_back({"passed " + pod->uid, move});
  }
  void OnMoved(const PodRef& pod, Place from, Place to, EventLabel) override {
    moves.push_back(pod->uid + " from " + std::string(PlaceName(from)) + " to " +
                    std::string(PlaceName(to)));
  }
  void OnDeleted(const PodRef& pod, const PodMove& move) override {
    told.push_back({"deleted " + pod->uid, move});
  }

  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const Told& each : told) texts.push_back(each.what);
    return texts;
  }

  std::vector<Told> told;
  std::vector<std::string> moves;
};

class QueueTold : public QueueTest {};
INSTANTIATE_TEST_SUITE_P(Engines, QueueTold, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueTold, MovesOfANameAreNumberedInTheirOrder) {
  GatingSwitch gating;
  gating.open = false;
  MoveRecorder recorder;
  QueueBenchOptions options = Options({GatingPlugin("Gating", &gating, {})});
  options.observers = {&recorder};
  QueueBench bench(options);
  const PodRef pod = MakePod("pod");
  bench.Add(pod);
  bench.queue().Activate(std::vector<PodRef>{pod});
  bench.queue().Activate(std::vector<PodRef>{pod});
  auto successor = MakePod("pod");
  successor->uid = "uid-second";
  bench.Add(successor);
  gating.open = true;
  bench.queue().Activate(std::vector<PodRef>{successor});
  bench.Delete(successor);

  EXPECT_EQ(recorder.Texts(),
            (std::vector<std::string>{"gated uid-pod", "gated uid-pod", "gated uid-pod",
                                      "deleted uid-pod", "gated uid-second", "passed uid-second",
                                      "deleted uid-second"}));
  const bool counts = GetParam().engine == EngineKind::kLockfree;
  for (size_t i = 1; i < recorder.told.size(); ++i) {
    const MoveRecorder::Told& before = recorder.told[i - 1];
    const MoveRecorder::Told& after = recorder.told[i];
    EXPECT_EQ(before.move.pod.id, after.move.pod.id);
    EXPECT_FALSE(after.move.IsOlderThan(before.move)) << after.what;
    // A successor's arrival is its predecessor's end: one move.
    const bool is_one_move = after.what == "deleted uid-pod";
    if (!counts || is_one_move) continue;
    EXPECT_TRUE(before.move.IsOlderThan(after.move)) << after.what;
  }
  EXPECT_EQ(recorder.told.front().move.pod.uid_fingerprint, UidFingerprint("uid-pod"));
  EXPECT_EQ(recorder.told[3].move.pod.uid_fingerprint, UidFingerprint("uid-pod"));
  EXPECT_EQ(recorder.told.back().move.pod.uid_fingerprint, UidFingerprint("uid-second"));
}

TEST_P(QueueTold, APodThatIsBoundInFlightLeavesItsFlight) {
  MoveRecorder recorder;
  QueueBenchOptions options = Options({});
  options.observers = {&recorder};
  QueueBench bench(options);
  bench.Add(MakePod("pod"));
  const PoppedPod popped = bench.MustPop();
  recorder.moves.clear();
  bench.queue().Bind(popped.key);
  EXPECT_EQ(recorder.moves, (std::vector<std::string>{"uid-pod from in-flight to absent"}));
}

TEST_P(QueueTold, WhereAPodWasIsNotWhereAnotherOfItsNameIs) {
  MoveRecorder recorder;
  QueueBenchOptions options = Options({});
  options.observers = {&recorder};
  QueueBench bench(options);
  bench.Add(MakePod("pod"));
  const PoppedPod first = bench.MustPop();
  bench.Delete(MakePod("pod"));
  recorder.moves.clear();
  auto second = MakePod("pod");
  second->uid = "uid-second";
  bench.Add(second);
  bench.Delete(second);
  EXPECT_EQ(recorder.moves, (std::vector<std::string>{"uid-second from absent to active",
                                                      "uid-second from active to absent"}));
  bench.queue().Done(first.key);
}

class QueueToldOfGroups : public QueueGroupsTest {};
INSTANTIATE_TEST_SUITE_P(Engines, QueueToldOfGroups, testing::ValuesIn(AllQueueCases()), CaseName);

// A name's pods are told of by one order, be they members or not: else what is told of the later
// one would count as overtaken.
TEST_P(QueueToldOfGroups, NumbersGrowAcrossSinglePodsAndMembersOfOneName) {
  GatingSwitch gating;
  gating.open = false;
  MoveRecorder recorder;
  QueueBenchOptions options = GroupOptions({GatingPlugin("Gating", &gating, {})});
  options.observers = {&recorder};
  QueueBench bench(options);
  bench.assembled().GroupAdded(Group("group"));
  int lives = 0;
  const auto live = [&](const PodRef& made) {
    auto pod = std::make_shared<Pod>(*made);
    pod->uid = "uid-" + std::to_string(lives++);
    bench.Add(pod);
    for (int i = 0; i < 3; ++i) bench.queue().Activate(std::vector<PodRef>{pod});
    bench.Delete(pod);
  };
  live(MakePod("pod"));
  live(Member("pod", "group"));
  live(MakePod("pod"));
  live(MakePod("pod"));
  live(Member("pod", "group"));
  live(Member("pod", "group"));

  ASSERT_EQ(recorder.told.size(), 30u);
  for (size_t i = 1; i < recorder.told.size(); ++i) {
    const MoveRecorder::Told& before = recorder.told[i - 1];
    const MoveRecorder::Told& after = recorder.told[i];
    ASSERT_EQ(before.move.pod.id, after.move.pod.id);
    EXPECT_FALSE(after.move.IsOlderThan(before.move))
        << after.what << " by " << after.move.number << " after " << before.move.number;
    if (GetParam().engine != EngineKind::kLockfree) continue;
    EXPECT_TRUE(before.move.IsOlderThan(after.move)) << after.what;
  }
}

TEST(PodMoveTest, NumbersRunOver) {
  const PodMove last{.pod = {}, .number = ~uint32_t{0}};
  const PodMove next{.pod = {}, .number = 0};
  EXPECT_TRUE(last.IsOlderThan(next));
  EXPECT_FALSE(next.IsOlderThan(last));
  EXPECT_FALSE(next.IsOlderThan(next));
}

}  // namespace
}  // namespace schedq
