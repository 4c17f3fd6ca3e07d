// Goal: what observers are told of a pod carries the pod's key and, where an engine may tell of two
// moves in the other order, a number by which the newer one is known.
// Method: a life with rejections that change nothing, a pass, a successor under the name and a
// deletion; every engine in both states of both gates.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
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
  void OnDeleted(const PodRef& pod, const PodMove& move) override {
    told.push_back({"deleted " + pod->uid, move});
  }

  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const Told& each : told) texts.push_back(each.what);
    return texts;
  }

  std::vector<Told> told;
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

TEST(PodMoveTest, NumbersRunOver) {
  const PodMove last{.pod = {}, .number = ~uint32_t{0}};
  const PodMove next{.pod = {}, .number = 0};
  EXPECT_TRUE(last.IsOlderThan(next));
  EXPECT_FALSE(next.IsOlderThan(last));
  EXPECT_FALSE(next.IsOlderThan(next));
}

}  // namespace
}  // namespace schedq
