// Goal: under real threads every pod is accounted for, every wake-up that is owed is delivered, Pop
// sleeps through nothing, and memory stays flat.
// Method: schedulers pop and reject, or bind; a cluster adds, updates, deletes, activates,
// nominates and sends events; a clock advances and its tickers flush. In the end all pods that are
// left must come out once, and nothing may remain. A second test counts the wake-ups of one pod
// that fails while an event comes: a pod whose scheduler had not seen the event's change is owed
// one. The same bodies run on every engine. SCHEDQ_SOAK_SECONDS makes the first one a soak of so
// many seconds a case.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "engine/queue_metrics.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

constexpr size_t kPods = 400;
constexpr size_t kClusterThreads = 2;
constexpr size_t kSchedulerThreads = 2;

double SecondsToRun() {
  const char* wanted = std::getenv("SCHEDQ_SOAK_SECONDS");
  // Four cases an engine share the three seconds.
  return wanted == nullptr ? 0.7 : std::atof(wanted);
}

uint64_t ResidentBytes() {
  uint64_t total = 0;
  uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

class LockfreeQueueStress : public QueueTest {
 protected:
  void SetUp() override {
    bench_ = std::make_unique<QueueBench>(
        Options({HintPlugin("Filter", {On(Resource::kNode, Action::kAdd, Hint::kQueue)})}));
    filter_ = bench_->Plugins({"Filter"});
    bench_->queue().Run();
    for (size_t i = 0; i < kPods; ++i) pods_.push_back(MakePod("p" + std::to_string(i)));
  }

  SchedulingQueue& queue() { return bench_->queue(); }

  // Each cluster thread has pods of its own: one pod's cluster events come in order.
  void ActAsCluster(size_t thread) {
    Random random(thread);
    while (!is_over_.load()) {
      const size_t slot = random.Below(kPods / kClusterThreads) * kClusterThreads + thread;
      PodRef& pod = pods_[slot];
      switch (random.Below(8)) {
        case 0:
        case 1:
        case 2:
          MustSucceed(queue().Add(pod));
          break;
        case 3:
          queue().Delete(*pod);
          pod = NextIncarnation(*pod);
          break;
        case 4: {
          auto after = std::make_shared<Pod>(*pod);
          after->priority = static_cast<int32_t>(random.Below(3));
          after->nominated_node_name = random.Below(2) == 0 ? "" : "node";
          MustSucceed(queue().Update(pod, after));
          pod = after;
          break;
        }
        case 5:
          queue().Activate({&pod, 1});
          break;
        case 6:
          MustSucceed(queue().Nominate(pod, random.Below(2) == 0 ? "" : "other"));
          static_cast<void>(queue().NominatedPods("other"));
          static_cast<void>(queue().NominatedNode(queue().KeyOf(*pod)));
          break;
        default:
          SendEvent();
      }
      ++operations_;
    }
  }

  PodRef NextIncarnation(const Pod& before) {
    auto pod = std::make_shared<Pod>(before);
    pod->uid = before.name + "-" + std::to_string(++incarnations_);
    return pod;
  }

  void SendEvent() {
    ++room_;
    queue().Event(MakeEvent(Resource::kNode, Action::kAdd), {});
  }

  void ActAsScheduler(size_t thread) {
    Random random(100 + thread);
    while (const auto popped = queue().Pop(std::nullopt)) {
      switch (random.Below(10)) {
        case 0:
          queue().Bind(popped->key);
          break;
        case 1:
          queue().Done(popped->key);
          break;
        case 2:
          static_cast<void>(queue().Fail(popped->key, {}, {}));
          break;
        default:
          static_cast<void>(queue().Fail(popped->key, filter_, {}));
      }
      ++pops_;
    }
  }

  void ActAsClock() {
    while (!is_over_.load()) {
      bench_->Advance(std::chrono::milliseconds(700));
      queue().FlushUnschedulable();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  void RunThreads(double seconds) {
    std::vector<std::thread> schedulers;
    std::vector<std::thread> others;
    for (size_t i = 0; i < kSchedulerThreads; ++i) {
      schedulers.emplace_back([this, i] { ActAsScheduler(i); });
    }
    for (size_t i = 0; i < kClusterThreads; ++i) {
      others.emplace_back([this, i] { ActAsCluster(i); });
    }
    others.emplace_back([this] { ActAsClock(); });
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 3));
    const uint64_t bytes_before = ResidentBytes();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds * 2 / 3));
    resident_growth_bytes_ = static_cast<int64_t>(ResidentBytes() - bytes_before);
    is_over_ = true;
    for (std::thread& thread : others) thread.join();
    ExpectSleepersAreWoken();
    queue().Close();
    for (std::thread& thread : schedulers) thread.join();
  }

  // The schedulers continue: all that can be popped must be gone soon, though no thread pushes.
  void ExpectSleepersAreWoken() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (queue().Counts().active != 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(queue().Counts().active, 0u) << "a scheduler sleeps although there is a pod";
  }

  void ExpectEverybodyIsAccountedFor() {
    const QueueCounts counts = queue().Counts();
    EXPECT_EQ(queue().List(Place::kActive).size(), counts.active);
    EXPECT_EQ(queue().List(Place::kBackoff).size(), counts.backoff);
    EXPECT_EQ(queue().List(Place::kErrorBackoff).size(), counts.error_backoff);
    EXPECT_EQ(queue().List(Place::kUnschedulable).size(), counts.unschedulable);
    EXPECT_EQ(counts.in_flight, 0u);
    // An event requeues all of the pool; then each pod comes out once. An operation lets go of a
    // bounded number of events, so those of a pod that was in flight for long go with later ones.
    constexpr int kEventsMax = 2000;
    SendEvent();
    for (int i = 0; i < kEventsMax && queue().LoggedEvents() > 0; ++i) SendEvent();
    EXPECT_EQ(queue().LoggedEvents(), 0u);
    EXPECT_EQ(queue().Counts().unschedulable, 0u);
    bench_->Advance(std::chrono::seconds(30));
    queue().FlushBackoff();
    std::set<std::string> popped;
    while (const auto pod = queue().TryPop()) {
      EXPECT_TRUE(popped.insert(pod->pod->name).second) << pod->pod->name;
      queue().Done(pod->key);
    }
    EXPECT_EQ(popped.size(),
              counts.active + counts.backoff + counts.error_backoff + counts.unschedulable);
    for (const PodRef& pod : pods_) queue().Delete(*pod);
    EXPECT_EQ(queue().Counts(), QueueCounts());
    EXPECT_EQ(bench_->pod_names().size(), 0u);
    ExpectGaugesAreBackAtZero();
  }

  // Threads that counted up and down for one another are even in the end.
  void ExpectGaugesAreBackAtZero() {
    const auto value = [this](const std::string& name, const std::vector<std::string>& labels) {
      return bench_->metrics().Value(name, labels).value_or(0);
    };
    EXPECT_EQ(value("scheduler_unschedulable_pods", {"Filter", std::string(kDefaultProfile)}), 0);
    for (EventLabel label = 0; label < kEventLabelCount; ++label) {
      const std::string text(LabelText(label));
      EXPECT_EQ(value("scheduler_inflight_events", {text}), 0) << text;
    }
  }

  std::unique_ptr<QueueBench> bench_;
  PluginSet filter_;
  std::vector<PodRef> pods_;
  std::atomic<bool> is_over_{false};
  std::atomic<uint64_t> room_{0};
  std::atomic<uint64_t> incarnations_{0};
  std::atomic<uint64_t> operations_{0};
  std::atomic<uint64_t> pops_{0};
  int64_t resident_growth_bytes_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Engines, LockfreeQueueStress, testing::ValuesIn(AllQueueCases()),
                         CaseName);

TEST_P(LockfreeQueueStress, EveryPodIsAccountedFor) {
  RunThreads(SecondsToRun());
  ExpectEverybodyIsAccountedFor();
  EXPECT_GT(pops_.load(), 100u);
  EXPECT_GT(operations_.load(), 100u);
  // A short run still fills the ring of backoff windows, which happens once.
  if (SecondsToRun() >= 10) {
    EXPECT_LT(resident_growth_bytes_, int64_t{32} << 20) << "memory is not flat";
  }
  RecordProperty("operations", std::to_string(operations_.load()));
  RecordProperty("pops", std::to_string(pops_.load()));
  RecordProperty("growth_bytes", std::to_string(resident_growth_bytes_));
}

// One pod, one event, real threads: a pod is rejected because there is no room, and room is made at
// the same time. Owed is a wake-up when the scheduler saw no room; delivered when the pod is not in
// the pool in the end.
TEST_P(LockfreeQueueStress, WakeUpsOwedAreDelivered) {
  constexpr int kRounds = 1500;
  int owed = 0;
  int delivered = 0;
  std::atomic<int> turn{0};
  std::atomic<bool> has_room{false};
  std::thread cluster([&] {
    for (int round = 1; round <= kRounds; ++round) {
      while (turn.load() != 2 * round - 1) std::this_thread::yield();
      has_room = true;
      SendEvent();
      turn = 2 * round;
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    const PodRef pod = MakePod("pod");
    has_room = false;
    MustSucceed(queue().Add(pod));
    const auto popped = queue().TryPop();
    ASSERT_TRUE(popped);
    turn = 2 * round - 1;
    const bool saw_room = has_room.load();
    static_cast<void>(queue().Fail(popped->key, filter_, {}));
    while (turn.load() != 2 * round) std::this_thread::yield();
    owed += saw_room ? 0 : 1;
    delivered += !saw_room && bench_->PlaceOf("pod") != "unschedulable" ? 1 : 0;
    queue().Delete(*pod);
  }
  cluster.join();
  EXPECT_EQ(owed, delivered);
  EXPECT_GT(owed, 0);
}

// Names of nodes come and go under readers; a reader hears of its own node only.
TEST_P(LockfreeQueueStress, NominationsOfOneNodeAreNeverAnothers) {
  constexpr int kRounds = 3000;
  std::vector<PodRef> pods = {MakePod("a"), MakePod("b")};
  for (const PodRef& pod : pods) MustSucceed(queue().Add(pod));
  std::atomic<bool> is_done{false};
  std::thread reader([&] {
    while (!is_done.load()) {
      for (size_t i = 0; i < pods.size(); ++i) {
        const std::string other = "node-" + pods[1 - i]->name;
        const std::string mine = queue().NominatedNode(queue().KeyOf(*pods[i]));
        EXPECT_NE(mine, other);
        for (const PodRef& pod : queue().NominatedPods(other)) EXPECT_NE(pod->name, pods[i]->name);
      }
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    const PodRef& pod = pods[static_cast<size_t>(round / 2 % 2)];
    MustSucceed(queue().Nominate(pod, round % 2 == 0 ? "node-" + pod->name : ""));
  }
  is_done = true;
  reader.join();
}

// The very first pod's slot is made while an event looks at all slots.
TEST_P(LockfreeQueueStress, FirstAddMeetsEvent) {
  for (int round = 0; round < 100; ++round) {
    QueueBench bench(Options({HintPlugin("Filter", {On(Resource::kNode, Action::kAdd)})}));
    std::atomic<bool> is_started{false};
    std::thread sender([&] {
      is_started = true;
      for (int i = 0; i < 50; ++i) Send(bench, Resource::kNode, Action::kAdd);
    });
    while (!is_started.load()) std::this_thread::yield();
    MustSucceed(bench.queue().Add(MakePod("first")));
    sender.join();
    EXPECT_EQ(bench.queue().Counts().active, 1u);
  }
}

}  // namespace
}  // namespace schedq
