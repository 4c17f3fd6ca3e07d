// Goal: threads that tell of one pod's moves in any order, while calls fail and succeed, leave the
// reporter with what the newest move said, and every call ended once.
// Method: threads draw move numbers and tell of them late, and now and then nominate a pod, which
// inherits its waiting patch; one dispatches meanwhile. Once all were told and nothing fails any
// more, the server shows for every pod what its last number said.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "dispatcher/report/status_reporter.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "tests/support/call_scene.h"

namespace schedq {
namespace {

constexpr uint32_t kPods = 4;
constexpr int kThreads = 3;
constexpr uint32_t kMovesPerThread = 1500;

// What move `number` said; "" when the pod passed.
std::string TextOf(uint32_t number) {
  return number % 5 == 0 ? "" : "reason " + std::to_string(number % 7);
}

class StatusReporterStress : public testing::Test {
 protected:
  StatusReporterStress() {
    for (uint32_t pod = 0; pod < kPods; ++pod) {
      pods_[pod] = UnmarkedPod("pod-" + std::to_string(pod));
    }
  }
  StatusReporterOptions Options() {
    StatusReporterOptions options;
    options.queue = &queue_;
    options.model = StatusModel::kImplicitImmediate;
    return options;
  }
  void Tell(uint32_t pod, uint32_t number) {
    const PodMove move{.pod = {pod, UidFingerprint(pods_[pod]->uid)}, .number = number};
    const std::string text = TextOf(number);
    text.empty() ? reporter_.OnPassed(pods_[pod], move)
                 : reporter_.OnGated(pods_[pod], 0, text, move);
  }
  void Nominate(uint32_t pod, const std::string& node) {
    queue_.Add(NominateNode({pod, 0, Duration(0), pods_[pod], nullptr}, node));
  }
  void TellMany(uint64_t seed) {
    Random random(seed);
    for (uint32_t i = 0; i < kMovesPerThread; ++i) {
      const auto pod = static_cast<uint32_t>(random.Below(kPods));
      const uint32_t number = moves_[pod].fetch_add(1) + 1;
      if (random.Chance(0.1)) std::this_thread::yield();
      Tell(pod, number);
      if (random.Chance(0.2)) Nominate(pod, std::to_string(number));
    }
  }
  void Dispatch(double failing, Random& random) {
    queue_.Dispatch(clock_.Now(), [&](const ApiCall& call) {
      const bool is_ok = !random.Chance(failing);
      if (is_ok && call.condition.kind != ConditionPatch::Kind::kKeep) {
        shown_[call.object] = call.condition.message;
      }
      queue_.Complete(call.object, is_ok ? Status() : Error("503"));
    });
  }

  VirtualClock clock_{Instant(std::chrono::seconds(1))};
  CallQueue<> queue_{
      CallQueueOptions{.clock = &clock_, .in_flight_max = 1000, .calls_per_second = 0}};
  StatusReporter reporter_{Options()};
  std::array<PodRef, kPods> pods_;
  std::array<std::atomic<uint32_t>, kPods> moves_{};
  std::array<std::string, kPods> shown_;  // The dispatching thread's.
};

TEST_F(StatusReporterStress, NewestMoveHasTheLastWord) {
  std::atomic<int> telling{kThreads};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread, &telling] {
      TellMany(static_cast<uint64_t>(thread) + 1);
      telling.fetch_sub(1);
    });
  }
  Random random(17);
  while (telling.load() > 0) Dispatch(0.2, random);
  for (std::thread& thread : threads) thread.join();
  Dispatch(0, random);
  // Clears that failed come again after the delay; a pod whose message failed is evaluated again.
  for (uint32_t pod = 0; pod < kPods; ++pod) Tell(pod, moves_[pod].load());
  clock_.AdvanceBy(std::chrono::seconds(6));
  Dispatch(0, random);
  for (uint32_t pod = 0; pod < kPods; ++pod) {
    EXPECT_EQ(shown_[pod], TextOf(moves_[pod].load())) << pod;
  }
  EXPECT_EQ(queue_.InFlight(), 0u);
  EXPECT_GT(reporter_.counts().overtaken, 0u) << "no move was told late: nothing was tested";
}

}  // namespace
}  // namespace schedq
