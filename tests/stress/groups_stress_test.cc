// Goal: under real threads every member of a group is accounted for: none is lost, popped twice at
// one time or left gated or waiting, and a root is in one cycle at a time.
// Method: schedulers pop groups and fail, end or bind their members, then end the cycle; a cluster
// adds and deletes members and takes group objects away and brings them back; a gate closes and
// opens; a clock advances and flushes. In the end all objects are there and the gate is open: all
// members that are left must come out once, and nothing may remain. The same body runs on every
// engine.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "hints/plugin.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

constexpr size_t kGroups = 6;
constexpr size_t kMembersOfEach = 5;
constexpr size_t kClusterThreads = 2;
constexpr size_t kSchedulerThreads = 2;
constexpr std::chrono::milliseconds kLasts{500};

class GroupsStress : public QueueTest {
 protected:
  void SetUp() override {
    Plugin gate;
    gate.name = "Gate";
    gate.pre_enqueue = [this](const Pod&, std::string*) { return is_open_.load(); };
    gate.events = {On(Resource::kNode, Action::kAdd, Hint::kQueue)};
    QueueBenchOptions options = Options({std::move(gate)});
    GateRequest request;
    request.Set(Gate::kSchedulerPopFromBackoffQ, GetParam().pops_from_backoff);
    request.Set(Gate::kSchedulerPreQueueingHints, GetParam().narrows);
    request.Set(Gate::kGenericWorkload, true);
    options.gates = *Gates::Resolve(request);
    bench_ = std::make_unique<QueueBench>(std::move(options));
    for (size_t i = 0; i < kGroups * kMembersOfEach; ++i) {
      std::shared_ptr<Pod> pod = MakePod("p" + std::to_string(i), static_cast<int32_t>(i % 3));
      pod->group_name = GroupNumber(i % kGroups)->key.name;
      members_.push_back(std::move(pod));
    }
    for (size_t i = 0; i < kGroups; ++i) queue().GroupAdd(GroupNumber(i));
  }

  SchedulingQueue& queue() { return bench_->queue(); }

  static PodGroupRef GroupNumber(size_t number) {
    auto group = std::make_shared<PodGroup>();
    group->key = {GroupKind::kPodGroup, "ns", "g" + std::to_string(number)};
    group->priority = static_cast<int32_t>(number % 2);
    return group;
  }

  // Each cluster thread has members and groups of its own: the events of one come in order.
  void ActAsCluster(size_t thread) {
    Random random(thread);
    while (!is_over_.load()) {
      const size_t slot =
          random.Below(members_.size() / kClusterThreads) * kClusterThreads + thread;
      const size_t group = random.Below(kGroups / kClusterThreads) * kClusterThreads + thread;
      switch (random.Below(8)) {
        case 0:
        case 1:
        case 2:
          MustSucceed(queue().Add(members_[slot]));
          break;
        case 3:
          queue().Delete(*members_[slot]);
          members_[slot] = NextIncarnation(*members_[slot]);
          break;
        case 4:
          queue().GroupDelete(GroupNumber(group)->key);
          break;
        case 5:
          queue().GroupAdd(GroupNumber(group));
          break;
        case 6:
          queue().Activate({&members_[slot], 1});
          break;
        default:
          is_open_.store(random.Below(2) == 0);
          queue().Event(MakeEvent(Resource::kNode, Action::kAdd), {});
      }
    }
  }

  PodRef NextIncarnation(const Pod& before) {
    auto pod = std::make_shared<Pod>(before);
    pod->uid = before.name + "-" + std::to_string(++incarnations_);
    return pod;
  }

  void ActAsScheduler(size_t thread) {
    Random random(100 + thread);
    while (const std::optional<PoppedPod> popped = queue().Pop(std::nullopt)) {
      ASSERT_NE(popped->group, nullptr);
      const GroupKey& root = popped->group->root;
      std::atomic<bool>& in_cycle = in_cycle_[static_cast<size_t>(root.name[1] - '0')];
      EXPECT_FALSE(in_cycle.exchange(true)) << root.name << " is in two cycles";
      for (const PoppedPod& member : popped->group->members) {
        switch (random.Below(4)) {
          case 0:
            queue().Bind(member.key);
            break;
          case 1:
            queue().Done(member.key);
            break;
          default:
            static_cast<void>(queue().Fail(member.key, {}, {}));
        }
      }
      in_cycle.store(false);
      queue().GroupDone(root, static_cast<GroupStatus>(random.Below(3)));
      ++pops_;
    }
  }

  void ActAsClock() {
    while (!is_over_.load()) {
      bench_->Advance(std::chrono::milliseconds(700));
      queue().FlushBackoff();
      queue().FlushUnschedulable();
      std::this_thread::yield();
    }
  }

  // Nobody else works any more.
  void DrainAndJudge() {
    is_open_.store(true);
    for (size_t i = 0; i < kGroups; ++i) queue().GroupAdd(GroupNumber(i));
    queue().Event(MakeEvent(Resource::kNode, Action::kAdd), {});
    const QueueCounts counts = queue().Counts();
    EXPECT_EQ(counts.incomplete, 0u);
    EXPECT_EQ(counts.pending, 0u);
    EXPECT_EQ(counts.gated, 0u);
    EXPECT_EQ(counts.in_flight, 0u);
    bench_->Advance(std::chrono::hours(1));
    queue().FlushBackoff();
    uint64_t waiting = counts.active + counts.error_backoff;
    while (const std::optional<PoppedPod> popped = queue().TryPop()) {
      waiting -= popped->group->members.size();
      for (const PoppedPod& member : popped->group->members) queue().Bind(member.key);
      queue().GroupDone(popped->group->root, GroupStatus::kSuccess);
    }
    EXPECT_EQ(waiting, 0u) << "each member that is queued comes out once";
    for (const PodRef& member : members_) queue().Delete(*member);
    for (size_t i = 0; i < kGroups; ++i) queue().GroupDelete(GroupNumber(i)->key);
    EXPECT_EQ(queue().Counts(), QueueCounts());
    EXPECT_EQ(bench_->pod_names().size(), 0u);
  }

  std::unique_ptr<QueueBench> bench_;
  std::vector<PodRef> members_;
  std::atomic<bool> is_open_{true};
  std::atomic<bool> is_over_{false};
  std::atomic<uint64_t> incarnations_{0};
  std::atomic<uint64_t> pops_{0};
  std::array<std::atomic<bool>, kGroups> in_cycle_{};
};
INSTANTIATE_TEST_SUITE_P(Engines, GroupsStress, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(GroupsStress, EveryMemberIsAccountedFor) {
  {
    std::vector<std::jthread> schedulers;
    for (size_t i = 0; i < kSchedulerThreads; ++i) {
      schedulers.emplace_back([this, i] { ActAsScheduler(i); });
    }
    {
      std::vector<std::jthread> others;
      for (size_t i = 0; i < kClusterThreads; ++i) {
        others.emplace_back([this, i] { ActAsCluster(i); });
      }
      others.emplace_back([this] { ActAsClock(); });
      std::this_thread::sleep_for(kLasts);
      is_over_.store(true);
    }
    // Schedulers that sleep end when there is nothing left for them.
    is_open_.store(true);
    queue().Event(MakeEvent(Resource::kNode, Action::kAdd), {});
    queue().Close();
  }
  EXPECT_GT(pops_.load(), 0u);
  DrainAndJudge();
}

}  // namespace
}  // namespace schedq
