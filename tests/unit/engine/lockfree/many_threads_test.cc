// Goal: a queue takes whichever thread comes, however many live at one time and in whatever order
// they come to it first. Method: threads that all live until the last one is done; the queue's own
// counts, and pops that must find every pod.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/atom.h"
#include "engine/base/result.h"
#include "engine/lockfree/memory/era_pool.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "tests/support/lockfree_scene.h"
#include "tests/support/threads_at_once.h"

namespace schedq {
namespace {

// A table whose first user had a large number once had cells for the large number's segment alone.
TEST(EraTable, ItsFirstThreadMayHaveALargeNumber) {
  constexpr uint32_t kThreads = 40;
  EraTable<std::atomic> eras;
  RunAtOnce(kThreads, /*one_after_another=*/true, [&](uint32_t number) {
    const uint32_t own = Seam<std::atomic>::ThreadIndex();
    if (number + 1 < kThreads) return;
    ASSERT_GE(own, kThreads - 1);
    eras.Announce(7);
    EXPECT_TRUE(eras.IsAny([](uint64_t era) { return era == 7; }));
    EXPECT_FALSE(eras.IsAny([](uint64_t era) { return era != 7; }));
    eras.Withdraw();
  });
}

void EachThreadSchedulesAPod(uint32_t threads, bool one_after_another) {
  LockfreeScene<> scene;
  std::vector<PodRef> pods;
  for (uint32_t number = 0; number < threads; ++number) {
    // Priorities that suit no lane: the heap has tables by thread, too.
    pods.push_back(scene.PodNamed("pod-" + std::to_string(number), static_cast<int32_t>(number)));
  }
  RunAtOnce(threads, one_after_another, [&](uint32_t number) {
    MustSucceed(scene.queue().Add(pods[number]));
    const auto popped = scene.queue().TryPop();
    ASSERT_TRUE(popped.has_value());
    ASSERT_TRUE(scene.queue().Fail(popped->key, PluginSet::Of(0), {}).ok());
  });
  EXPECT_EQ(scene.queue().Counts().unschedulable, threads);
  EXPECT_EQ(scene.queue().Counts().in_flight, 0u);
}

TEST(ManyThreads, OneAfterAnother) { EachThreadSchedulesAPod(kManyThreads, true); }
TEST(ManyThreads, AtOneTime) { EachThreadSchedulesAPod(kManyThreads / 16, false); }

}  // namespace
}  // namespace schedq
