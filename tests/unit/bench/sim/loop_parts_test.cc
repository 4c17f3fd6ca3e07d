// Goal: the parts of the simulated scheduler keep the rules of their headers: the virtual lock, the
// cost model's strictness, the events of a node's update.
// Method: each part alone, on the smallest input that tells right from wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/scheduler/cost_model.h"
#include "bench/sim/scheduler/victim_deletions.h"
#include "bench/sim/scheduler/virtual_lock.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "hints/running_preemptions.h"
#include "schedq/cluster_events.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(VirtualLock, ServesInOrderAndOneAtATime) {
  VirtualClock clock{Instant()};
  VirtualLock lock(&clock);
  std::vector<std::string> told;
  const auto run = [&](const std::string& name, int milliseconds) {
    lock.Run(
        [&told, &clock, name, milliseconds] {
          told.push_back(name + "@" + std::to_string(clock.Now().time_since_epoch() / kSecond));
          return std::chrono::seconds(milliseconds);
        },
        [&told, name] { told.push_back(name + " done"); });
  };
  run("a", 2);
  run("b", 3);
  run("c", 1);
  clock.AdvanceBy(std::chrono::seconds(10));
  EXPECT_THAT(told, ElementsAre("a@0", "b@2", "a done", "c@5", "b done", "c done"));
}

TEST(CostModel, TheOneInTheProgramIsWellFormed) {
  const auto costs = LoadCostModel("upstream");
  ASSERT_TRUE(costs.ok()) << costs.error().message();
  EXPECT_EQ(costs->name, "upstream");
  // SchedulingBasic/500Nodes: two processors for 2.8 s bind 1,000 pods, each with three calls.
  const Duration attempt =
      costs->attempt + costs->queue_pop + costs->queue_done + 230 * costs->filter_node;
  const Duration of_pod = attempt + 3 * costs->call_work;
  EXPECT_LT(std::chrono::abs(of_pod - std::chrono::microseconds(5600)),
            std::chrono::microseconds(2));
}

std::string ErrorOf(const std::string& text) {
  const auto costs = ParseCostModel("c.yaml", text);
  return costs.ok() ? "" : costs.error().message();
}

TEST(CostModel, IsStrict) {
  EXPECT_THAT(ErrorOf("name: x\n"), HasSubstr("attempt_ns"));
  EXPECT_THAT(ErrorOf(std::string(kUpstreamCosts) + "surplus: 1\n"), HasSubstr("surplus"));
  std::string text(kUpstreamCosts);
  text.replace(text.find("queue_add_ns: "), 14, "queue_add_ns: -");
  EXPECT_THAT(ErrorOf(text), HasSubstr("c.yaml:"));
  EXPECT_THAT(ErrorOf(text), HasSubstr("expected 0 to"));
  EXPECT_THAT(LoadCostModel("/no/such/file").error().message(), HasSubstr("does not exist"));
}

std::vector<std::string> UpdateEvents(const ObjectView& before, const ObjectView& after) {
  std::vector<std::string> names;
  for (const ClusterEvent& event : NodeUpdateEvents(before, after)) {
    names.emplace_back(LabelText(event.label));
  }
  return names;
}

TEST(NodeUpdateEvents, OneForEachThingThatChanged) {
  const auto before = NodeOf(1, 100);
  auto after = *before;
  EXPECT_THAT(UpdateEvents(*before, after), IsEmpty());
  after.labels = {{"a", "b"}};
  after.allocatable = {{"cpu", 200}};
  after.taints = {{"k", "", "NoSchedule"}};
  EXPECT_THAT(
      UpdateEvents(*before, after),
      ElementsAre("NodeUpdateNodeAllocatable", "NodeUpdateNodeLabel", "NodeUpdateNodeTaint"));
}

TEST(NodeUpdateEvents, OnlyOpeningANodeIsAnEvent) {
  auto closed = *NodeOf(1, 100);
  closed.unschedulable = true;
  EXPECT_THAT(UpdateEvents(closed, *NodeOf(1, 100)), ElementsAre("NodeUpdateNodeTaint"));
  EXPECT_THAT(UpdateEvents(*NodeOf(1, 100), closed), IsEmpty());
}

// Its event may have come while the pod was gated.
TEST(VictimDeletionsTest, WhereTheLastVictimIsGoneAlreadyThePodIsActivated) {
  for (const bool is_gone : {false, true}) {
    RunningPreemptions running;
    int activated = 0;
    VictimDeletions deletions({
        .running = &running,
        .remove =
            [is_gone](const VictimCallsRef& calls) {
              if (!is_gone && calls->at_deletion) calls->at_deletion();
              calls->then(is_gone ? Status(Error(kVictimIsGone)) : Status::Ok());
            },
        .activate = [&activated](const PodRef&) { ++activated; },
    });
    auto pod = std::make_shared<ClusterPod>();
    pod->uid = "preemptor";
    const auto victim = std::make_shared<ClusterPod>();
    deletions.Begin(pod, {victim, victim});
    EXPECT_FALSE(running.Contains("preemptor"));
    EXPECT_EQ(activated, is_gone ? 1 : 0);
  }
}

std::vector<ClusterPodRef> MakeVictims(size_t count) {
  std::vector<ClusterPodRef> victims;
  for (size_t i = 0; i < count; ++i) {
    auto victim = std::make_shared<ClusterPod>();
    victim->number = i + 1;
    victims.push_back(std::move(victim));
  }
  return victims;
}

// A thread that answers calls as fast as it can, as the cluster's does on the real clock.
class AnsweringThread {
 public:
  explicit AnsweringThread(size_t wanted) : wanted_(wanted) {}

  void Push(const VictimCallsRef& calls) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(calls);
  }
  // Until so many were answered, or for ten seconds.
  void Run() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (answered_.size() < wanted_ && std::chrono::steady_clock::now() < deadline) {
      VictimCallsRef next;
      {
        const std::lock_guard lock(mutex_);
        if (calls_.empty()) continue;
        next = std::move(calls_.front());
        calls_.pop_front();
      }
      answered_.insert(next->victim->number);
      if (next->at_deletion) next->at_deletion();
      next->then(Status::Ok());
    }
  }
  size_t answered() const { return answered_.size(); }

 private:
  const size_t wanted_;
  std::mutex mutex_;
  std::deque<VictimCallsRef> calls_;
  std::multiset<uint64_t> answered_;  // The thread's own until it has ended.
};

// While the first calls are made the first answers come.
TEST(VictimDeletionsTest, AnswersThatComeWhileItBeginsLoseNoVictim) {
  constexpr size_t kVictims = 40;
  for (int round = 0; round < 300; ++round) {
    RunningPreemptions running;
    AnsweringThread server(kVictims);
    VictimDeletions deletions({
        .running = &running,
        .remove = [&server](const VictimCallsRef& calls) { server.Push(calls); },
        .activate = [](const PodRef&) {},
    });
    auto pod = std::make_shared<ClusterPod>();
    pod->uid = "preemptor";
    std::jthread thread([&server] { server.Run(); });
    deletions.Begin(pod, MakeVictims(kVictims));
    thread.join();
    ASSERT_EQ(server.answered(), kVictims) << "round " << round;
    ASSERT_FALSE(running.Contains("preemptor"));
  }
}

// An answer may come while the thread that begins makes its calls. What the answer counts with must
// be there before: the first sixteen are that thread's, and the answers' thread makes the others.
TEST(VictimDeletionsTest, TheFirstCallsAreDecidedBeforeAnyIsAnswered) {
  constexpr size_t kVictims = 20;
  RunningPreemptions running;
  std::vector<std::thread::id> callers(kVictims + 1);
  std::vector<VictimCallsRef> unanswered;
  VictimDeletions deletions({
      .running = &running,
      .remove =
          [&](const VictimCallsRef& calls) {
            callers[calls->victim->number] = std::this_thread::get_id();
            if (calls->victim->number != 1) return unanswered.push_back(calls);
            std::jthread([&calls] { calls->then(Status::Ok()); }).join();
          },
      .activate = [](const PodRef&) {},
  });
  auto pod = std::make_shared<ClusterPod>();
  pod->uid = "preemptor";
  deletions.Begin(pod, MakeVictims(kVictims));
  const std::thread::id self = std::this_thread::get_id();
  for (size_t victim = 1; victim <= 16; ++victim) EXPECT_EQ(callers[victim], self) << victim;
  EXPECT_NE(callers[17], self);
  EXPECT_NE(callers[17], std::thread::id()) << "the answer made room for one more";
  EXPECT_EQ(callers[18], std::thread::id());
}

// The calls that were made, which a test answers in its own order.
class VictimCallsTest : public testing::Test {
 protected:
  void Answer(const Status& status) {
    const VictimCallsRef next = made_.front();
    made_.pop_front();
    if (next->at_deletion) next->at_deletion();
    next->then(status);
  }

  RunningPreemptions running_;
  std::deque<VictimCallsRef> made_;
  VictimDeletions deletions_{
      {.running = &running_,
       .remove = [this](const VictimCallsRef& calls) { made_.push_back(calls); },
       .activate = [](const PodRef&) {}}};
  std::optional<bool> told_;
};

TEST_F(VictimCallsTest, WithinACycleAllAreDeletedSixteenAtATimeAndNobodyIsGated) {
  deletions_.DeleteAll(MakeVictims(18), [this](bool are_going) { told_ = are_going; });
  EXPECT_EQ(made_.size(), 16u);
  EXPECT_TRUE(running_.IsEmpty());
  for (int i = 0; i < 18; ++i) {
    EXPECT_FALSE(told_.has_value());
    Answer(i == 3 ? Status(Error(kVictimIsGone)) : Status::Ok());
  }
  EXPECT_EQ(told_, true);
}

TEST_F(VictimCallsTest, WithinACycleAFailureBeginsNoOthersAndIsTold) {
  deletions_.DeleteAll(MakeVictims(18), [this](bool are_going) { told_ = are_going; });
  Answer(Error("out"));
  while (!made_.empty()) Answer(Status::Ok());
  EXPECT_EQ(told_, false);
}

TEST_F(VictimCallsTest, VictimsThatAreGoingTakeNoCalls) {
  std::vector<ClusterPodRef> victims = MakeVictims(2);
  auto going = std::make_shared<ClusterPod>();
  going->deleting = true;
  victims.push_back(going);
  deletions_.DeleteAll(victims, [this](bool are_going) { told_ = are_going; });
  EXPECT_EQ(made_.size(), 2u);
  made_.clear();
  deletions_.DeleteAll({going}, [this](bool are_going) { told_ = are_going; });
  EXPECT_EQ(told_, true) << "at once";
  auto pod = std::make_shared<ClusterPod>();
  pod->uid = "preemptor";
  deletions_.Begin(pod, {going});
  EXPECT_FALSE(running_.Contains("preemptor")) << "there is nothing to wait for";
  EXPECT_TRUE(made_.empty());
}

}  // namespace
}  // namespace schedq
