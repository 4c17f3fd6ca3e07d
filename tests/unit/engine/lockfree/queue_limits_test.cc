// docs/semantics.md, "Limits": a lock-free queue that is full refuses pods that are new, keeps
// those that it has on their way, and takes others again as soon as some go.
// Method: a shape with a few records; what is refused must leave no trace in counts, names and
// records, and the pods that are there go through their whole life while nothing is free.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/lockfree/pods/pod_table.h"
#include "engine/lockfree/queue_shape.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "tests/support/lockfree_scene.h"

namespace schedq {
namespace {

struct FewRecords : LockfreeQueueShape {
  static constexpr uint32_t kRecordsMax = 64;
};
constexpr uint32_t kPodsMax = FewRecords::kRecordsMax / 2;
using Scene = LockfreeScene<FewRecords>;

PodRef Numbered(uint32_t number) { return Scene::PodNamed("pod-" + std::to_string(number)); }

void Fill(Scene* scene) {
  for (uint32_t i = 0; i < kPodsMax; ++i) ASSERT_TRUE(scene->queue().Add(Numbered(i)).ok());
}

TEST(QueueLimits, ANewPodIsRefusedWithoutATraceWhileTheQueueIsFull) {
  Scene scene;
  Fill(&scene);
  const Status refused = scene.queue().Add(Numbered(100));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(),
            "add: pod ns/pod-100: the queue is full, expected at most 32 pods at one time");
  EXPECT_FALSE(scene.queue().Update(nullptr, Numbered(101)).ok());
  EXPECT_EQ(scene.queue().Counts().active, kPodsMax);
  EXPECT_EQ(scene.names().size(), kPodsMax);
  EXPECT_EQ(scene.queue().KeyOf(*Numbered(100)).id, kNoPod);

  scene.queue().Delete(*Numbered(3));
  EXPECT_TRUE(scene.queue().Add(Numbered(100)).ok());
  EXPECT_FALSE(scene.queue().Add(Numbered(101)).ok());
  for (uint32_t i = 0; i < kPodsMax; ++i) {
    const std::optional<PoppedPod> popped = scene.queue().TryPop();
    ASSERT_TRUE(popped.has_value());
    scene.queue().Bind(popped->key);
  }
  EXPECT_EQ(scene.names().size(), 0u);
  EXPECT_TRUE(scene.queue().Add(Numbered(101)).ok());
}

TEST(QueueLimits, PodsThatAreThereAreMovedWhileTheQueueIsFull) {
  Scene scene;
  Fill(&scene);
  SchedulingQueue& queue = scene.queue();
  for (uint32_t round = 0; round < 20; ++round) {
    for (uint32_t i = 0; i < kPodsMax; ++i) {
      auto newer = std::make_shared<Pod>(*Numbered(i));
      newer->priority = static_cast<int32_t>(round);
      EXPECT_TRUE(queue.Update(Numbered(i), newer).ok());
      EXPECT_TRUE(queue.Nominate(newer, "node").ok());
    }
    for (uint32_t i = 0; i < kPodsMax; ++i) {
      const std::optional<PoppedPod> popped = queue.TryPop();
      ASSERT_TRUE(popped.has_value());
      ASSERT_TRUE(queue.Fail(popped->key, PluginSet::Of(0), {}).ok());
    }
    EXPECT_FALSE(queue.Add(Numbered(100)).ok());
    queue.Event(MakeEvent(Resource::kNode, Action::kAdd), {});
    EXPECT_EQ(queue.Counts().backoff, kPodsMax);
    scene.clock().AdvanceBy(std::chrono::seconds(20));
    queue.FlushBackoff();
    EXPECT_EQ(queue.Counts().active, kPodsMax);
  }
}

// Each incarnation whose attempt stays in flight holds a record.
TEST(QueueLimits, AttemptsOfEarlierIncarnationsCount) {
  Scene scene;
  uint32_t added = 0;
  std::vector<PodKey> attempts;
  for (; added < 2 * FewRecords::kRecordsMax; ++added) {
    auto pod = std::make_shared<Pod>(*Numbered(0));
    pod->uid = std::to_string(added);
    if (!scene.queue().Add(pod).ok()) break;
    attempts.push_back(scene.queue().TryPop()->key);
  }
  EXPECT_EQ(added, kPodsMax);
  scene.queue().Done(attempts.front());
  scene.queue().Done(attempts.back());
  EXPECT_TRUE(scene.queue().Add(Numbered(0)).ok());
}

TEST(QueueLimits, ThreadsThatAddAtOnceFillTheQueueAndNoMore) {
  Scene scene;
  std::atomic<uint32_t> taken{0};
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint32_t i = 0; i < 1'000; ++i) {
        const PodRef pod = Numbered(thread * 1'000 + i);
        if (!scene.queue().Add(pod).ok()) continue;
        ++taken;
        if (i % 2 == 0) {
          scene.queue().Delete(*pod);
          --taken;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(scene.queue().Counts().active, taken);
  EXPECT_EQ(scene.names().size(), taken);
  // Adds that run at the same time may each miss the others.
  EXPECT_LE(taken, kPodsMax + 4);
}

// A number beyond its bits once changed the pod's place.
TEST(QueueLimits, ARecordsNumberFitsItsWord) {
  PodRecordPool<std::atomic> records(/*first_bits=*/2, /*records_max=*/4);
  std::vector<uint32_t> made;
  for (int i = 0; i < 3; ++i) {
    made.push_back(records.Make(Numbered(0), 1));
    EXPECT_LT(made.back(), 4u);
  }
  EXPECT_DEATH(records.Make(Numbered(0), 1), "not asked for more elements than it may have");
  for (const uint32_t number : made) records.Release(number);
  EXPECT_EQ(PodTable<std::atomic>::kRecordsMax, uint32_t{1} << SlotWord::kRecordBits);
}

}  // namespace
}  // namespace schedq
