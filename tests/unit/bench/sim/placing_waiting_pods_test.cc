// Goal: a pod that waits at Permit goes on when all plugins have allowed it, and ends its wait at
// the first rejection, at a timeout, or with its deletion, and each wait ends once.
// Method: a virtual clock for the rules; real threads that end waits at the same time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/sim/placing/waiting_pods.h"
#include "engine/base/time/real_clock.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PodRef PodNamed(const std::string& uid) {
  auto pod = std::make_shared<Pod>();
  pod->uid = uid;
  return pod;
}

class WaitingPodsTest : public testing::Test {
 protected:
  void Begin(const std::vector<WaitingPods::Wait>& waits) {
    waiting_.Begin(*pod_, waits, [this](size_t rejector) { ends_.push_back(rejector); });
  }

  VirtualClock clock_{Instant()};
  WaitingPods waiting_{&clock_};
  const PodRef pod_ = PodNamed("a");
  std::vector<size_t> ends_;
};

TEST_F(WaitingPodsTest, GoesOnWhenAllHaveAllowed) {
  waiting_.Open(pod_);
  Begin({{1, kSecond}, {4, kSecond}});
  waiting_.Allow("a", 4);
  waiting_.Allow("a", 4);
  waiting_.Allow("b", 1);
  EXPECT_THAT(ends_, IsEmpty());
  EXPECT_THAT(waiting_.List(), ElementsAre(pod_));
  waiting_.Allow("a", 1);
  EXPECT_THAT(ends_, ElementsAre(WaitingPods::kAllowed));
  EXPECT_EQ(waiting_.size(), 0u);
  clock_.AdvanceBy(2 * kSecond);
  EXPECT_EQ(ends_.size(), 1u) << "no timer is left";
}

TEST_F(WaitingPodsTest, TheFirstRejectionEndsIt) {
  waiting_.Open(pod_);
  Begin({{1, kSecond}, {4, kSecond}});
  waiting_.Reject("a", 4);
  waiting_.Reject("a", 1);
  waiting_.Allow("a", 1);
  EXPECT_THAT(ends_, ElementsAre(4u));
}

TEST_F(WaitingPodsTest, TheTimeOfAPluginThatHasNotAllowedRunsOut) {
  waiting_.Open(pod_);
  Begin({{1, kSecond}, {4, 3 * kSecond}});
  waiting_.Allow("a", 1);
  clock_.AdvanceBy(2 * kSecond);
  EXPECT_THAT(ends_, IsEmpty()) << "the one whose time was shorter has allowed";
  clock_.AdvanceBy(kSecond);
  EXPECT_THAT(ends_, ElementsAre(4u));
}

TEST_F(WaitingPodsTest, NoWaitIsLongerThanUpstreamsLongest) {
  waiting_.Open(pod_);
  Begin({{2, 100 * kPermitWaitMax}});
  clock_.AdvanceBy(kPermitWaitMax);
  EXPECT_THAT(ends_, ElementsAre(2u));
}

TEST_F(WaitingPodsTest, WhatIsSaidBeforeTheWaitCounts) {
  waiting_.Open(pod_);
  waiting_.Allow("a", 1);
  Begin({{1, kSecond}});
  EXPECT_THAT(ends_, ElementsAre(WaitingPods::kAllowed));
  waiting_.Open(pod_);
  waiting_.Reject("a", WaitingPods::kRemoved);
  Begin({{1, kSecond}});
  EXPECT_THAT(ends_, ElementsAre(WaitingPods::kAllowed, WaitingPods::kRemoved));
}

TEST_F(WaitingPodsTest, TheSamePodMayWaitAgain) {
  waiting_.Open(pod_);
  Begin({{1, kSecond}});
  waiting_.Reject("a", 1);
  clock_.AdvanceBy(kSecond / 2);
  waiting_.Open(pod_);
  Begin({{1, kSecond}});
  clock_.AdvanceBy(kSecond * 3 / 4);
  EXPECT_EQ(ends_.size(), 1u) << "the timer of the first wait is gone";
  clock_.AdvanceBy(kSecond / 4);
  EXPECT_EQ(ends_.size(), 2u);
}

TEST_F(WaitingPodsTest, ClearForgets) {
  waiting_.Open(pod_);
  Begin({{1, kSecond}});
  waiting_.Clear();
  clock_.AdvanceBy(2 * kSecond);
  waiting_.Allow("a", 1);
  EXPECT_THAT(ends_, IsEmpty());
}

// Each pod is allowed, rejected, and timed out at about the same time.
TEST(WaitingPodsThreads, EachWaitEndsOnce) {
  constexpr int kPods = 300;
  RealClock clock;
  WaitingPods waiting(&clock);
  std::vector<std::atomic<int>> ends(kPods);
  const auto each = [&](const auto& act) {
    return std::thread([&act] {
      for (int i = 0; i < kPods; ++i) act(std::to_string(i));
    });
  };
  const auto allow = [&](const std::string& uid) { waiting.Allow(uid, 1); };
  const auto reject = [&](const std::string& uid) { waiting.Reject(uid, 2); };
  for (int i = 0; i < kPods; ++i) {
    const PodRef pod = PodNamed(std::to_string(i));
    waiting.Open(pod);
    waiting.Begin(*pod, {{1, std::chrono::milliseconds(i % 3)}},
                  [&ends, i](size_t) { ends[static_cast<size_t>(i)].fetch_add(1); });
  }
  std::thread allower = each(allow);
  std::thread rejecter = each(reject);
  allower.join();
  rejecter.join();
  waiting.Clear();
  for (const std::atomic<int>& count : ends) EXPECT_EQ(count.load(), 1);
}

}  // namespace
}  // namespace schedq
