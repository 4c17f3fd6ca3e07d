// Goal: while one thread is frozen in the middle of an operation, for as long as one likes, the
// others lose no pod and memory stays flat; and when it goes on, nothing is wrong either.
// Method: threads of a cluster, schedulers and a clock work on the engine; one of them is frozen at
// an atomic step within its operation for a tenth of the run. At the beginning and at the end of
// that time the others pause between two operations, which they must reach, and all pods are
// counted: everything is requeued and popped. A pod that is there must come out once, but for the
// one that the frozen thread's own operation is about. In the end the same without exception. The
// count must notice a pod that is lost and one that should be gone. SCHEDQ_SOAK_SECONDS=600 makes
// each case a soak of ten minutes with a freeze of one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "tests/support/lockfree_scene.h"
#include "tests/support/queue_wiring.h"
#include "tests/support/stall/atomic.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

double SecondsToRun() {
  const char* const wanted = std::getenv("SCHEDQ_SOAK_SECONDS");
  return wanted == nullptr ? 1.5 : std::atof(wanted);
}

void Sleep(double duration_s) {
  std::this_thread::sleep_for(std::chrono::duration<double>(duration_s));
}

int64_t ResidentBytes() {
  int64_t total = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// Freezes its thread at a step when it is told to.
class FreezesOnce final : public stall::Freezer {
 public:
  void Step() override {
    if (steps_left_.load() == 0 || steps_left_.fetch_sub(1) != 1) return;
    is_frozen_ = true;
    is_frozen_.notify_all();
    is_released_.wait(false);
    is_frozen_ = false;
  }
  // Returns when the thread stands before its step number `step` from now on.
  void Freeze(uint64_t step) {
    is_released_ = false;
    steps_left_ = step;
    is_frozen_.wait(false);
  }
  void Release() {
    is_released_ = true;
    is_released_.notify_all();
  }

 private:
  std::atomic<uint64_t> steps_left_{0};
  std::atomic<bool> is_frozen_{false};
  std::atomic<bool> is_released_{true};
};

// Holds threads between two of their operations.
class Pauses {
 public:
  // Called by each thread before each operation.
  void Pass() {
    if (!is_paused_.load()) return;
    standing_.fetch_add(1);
    is_paused_.wait(true);
    standing_.fetch_sub(1);
  }
  // False: not so many threads came to stand within the time.
  bool Pause(uint32_t threads) {
    is_paused_ = true;
    const auto deadline = std::chrono::steady_clock::now() + seconds(30);
    while (standing_.load() < threads) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      Sleep(0.001);
    }
    return true;
  }
  void GoOn() {
    is_paused_ = false;
    is_paused_.notify_all();
    while (standing_.load() > 0) Sleep(0.0001);
  }

 private:
  std::atomic<bool> is_paused_{false};
  std::atomic<uint32_t> standing_{0};
};

enum class Victim : uint8_t { kCluster, kScheduler, kClock };
constexpr size_t kPods = 300;
constexpr size_t kClusterThreads = 2;
constexpr size_t kSchedulerThreads = 2;
constexpr uint32_t kThreads = kClusterThreads + kSchedulerThreads + 1;
constexpr size_t kNoPod = kPods;

// What the cluster has told of a pod, and what schedulers have done with it. An incarnation has a
// number; 0 is none.
struct PodStory {
  PodRef pod;                      // Its cluster thread's.
  std::atomic<uint64_t> live{0};   // The incarnation that was added and not deleted.
  std::atomic<uint64_t> ended{0};  // The last one that a scheduler has bound or given up.
};

class FrozenSoak : public testing::TestWithParam<Victim> {
 protected:
  FrozenSoak() : names_(10) {
    QueueOptions options = OptionsAround(&clock_, &names_, &ports_, &metrics_, {"Fit"});
    queue_ = std::make_unique<BasicLockfreeQueue<stall::Atomic>>(std::move(options));
    for (size_t i = 0; i < kPods; ++i) stories_.push_back(std::make_unique<PodStory>());
  }

  static std::string UidOf(size_t number, uint64_t incarnation) {
    return std::to_string(number) + "." + std::to_string(incarnation);
  }
  static size_t NumberOf(const Pod& pod) { return std::stoull(pod.name); }
  static uint64_t IncarnationOf(const Pod& pod) {
    return std::stoull(pod.uid.substr(pod.uid.find('.') + 1));
  }

  // Each cluster thread has pods of its own.
  void ActAsCluster(size_t thread) {
    Random random(thread);
    Work(thread == 0 && GetParam() == Victim::kCluster, [&] {
      const size_t number = random.Below(kPods / kClusterThreads) * kClusterThreads + thread;
      ChangePod(thread, number, &random);
    });
  }
  void ChangePod(size_t thread, size_t number, Random* random) {
    PodStory& story = *stories_[number];
    under_operation_[thread] = number;
    switch (random->Below(8)) {
      case 0:
      case 1:
        AddAnew(number, random);
        break;
      case 2:
        if (story.live.load() == 0) break;
        story.live = 0;
        queue_->Delete(*story.pod);
        break;
      case 3:
      case 4:
        if (story.live.load() != 0 && IsForEver(number)) Raise(number, random);
        break;
      case 5:
        if (story.live.load() != 0) queue_->Activate({&story.pod, 1});
        break;
      case 6:
        if (story.live.load() == 0 || !IsForEver(number)) break;
        MustSucceed(queue_->Nominate(story.pod, "node"));
        break;
      default:
        under_operation_[thread] = kNoPod;
        SendEvent();
    }
    under_operation_[thread] = kNoPod;
  }
  // Schedulers never end such a pod, and only such pods are updated and nominated: an update that
  // comes behind the end would add the pod again.
  static bool IsForEver(size_t number) { return number % 3 == 0; }
  void Raise(size_t number, Random* random) {
    PodStory& story = *stories_[number];
    auto after = std::make_shared<Pod>(*story.pod);
    after->priority = static_cast<int32_t>(random->Below(4));
    const PodRef before = std::exchange(story.pod, after);
    MustSucceed(queue_->Update(before, story.pod));
  }
  void AddAnew(size_t number, Random* random) {
    PodStory& story = *stories_[number];
    const uint64_t incarnation = ++incarnations_;
    auto pod = std::make_shared<Pod>();
    pod->namespace_name = "ns";
    pod->name = std::to_string(number);
    pod->uid = UidOf(number, incarnation);
    pod->priority = static_cast<int32_t>(random->Below(4));
    story.pod = pod;
    story.live = incarnation;
    MustSucceed(queue_->Add(std::move(pod)));
  }
  void SendEvent() { queue_->Event(MakeEvent(Resource::kNode, Action::kAdd), {}); }

  void ActAsScheduler(size_t thread) {
    Random random(100 + thread);
    Work(thread == 0 && GetParam() == Victim::kScheduler, [&] {
      const std::optional<PoppedPod> popped = queue_->Pop(milliseconds(1));
      if (!popped) return;
      ++pops_;
      if (random.Below(4) == 0) return End(*popped);
      const PluginSet rejectors = random.Below(8) == 0 ? PluginSet() : PluginSet::Of(0);
      static_cast<void>(queue_->Fail(popped->key, rejectors, {}));
    });
  }
  // Of a pod that is there for ever an attempt ends, and not the pod.
  void End(const PoppedPod& popped) {
    const size_t number = NumberOf(*popped.pod);
    if (IsForEver(number)) {
      static_cast<void>(queue_->Fail(popped.key, PluginSet::Of(0), {}));
      return;
    }
    std::atomic<uint64_t>& ended = stories_[number]->ended;
    const uint64_t incarnation = IncarnationOf(*popped.pod);
    uint64_t before = ended.load();
    while (before < incarnation && !ended.compare_exchange_weak(before, incarnation)) {
    }
    queue_->Done(popped.key);
  }

  void ActAsClock() {
    Work(GetParam() == Victim::kClock, [&] {
      clock_.AdvanceTo(clock_.Now() + milliseconds(700));
      queue_->FlushBackoff();
      queue_->FlushUnschedulable();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    });
  }

  template <typename Operation>
  void Work(bool is_victim, const Operation& operation) {
    if (is_victim) stall::freezer = &freezer_;
    while (!is_over_.load()) {
      pauses_.Pass();
      operation();
      ++operations_;
    }
    stall::freezer = nullptr;
  }

  // All other threads stand between two operations. Requeues and pops all that is there, and says
  // what is wrong.
  std::string TakeCensus(bool is_one_frozen) {
    std::array<uint64_t, kPods> expected{};
    for (size_t number = 0; number < kPods; ++number) {
      const uint64_t live = stories_[number]->live.load();
      expected[number] = stories_[number]->ended.load() == live ? 0 : live;
    }
    // Backoff lasts at most ten seconds, and an event sends pods there.
    SendEvent();
    clock_.AdvanceTo(clock_.Now() + seconds(20));
    queue_->FlushBackoff();
    std::array<uint64_t, kPods> found{};
    std::vector<PoppedPod> popped;
    std::string wrong;
    while (std::optional<PoppedPod> pod = queue_->TryPop()) {
      uint64_t& incarnation = found[NumberOf(*pod->pod)];
      if (incarnation != 0) wrong += "popped twice: " + pod->pod->uid + "\n";
      incarnation = IncarnationOf(*pod->pod);
      popped.push_back(*std::move(pod));
    }
    // A frozen scheduler may have a pod in hand.
    const bool has_one = is_one_frozen && GetParam() == Victim::kScheduler;
    size_t in_hand = 0;
    for (size_t number = 0; number < kPods; ++number) {
      if (expected[number] == found[number]) continue;
      if (is_one_frozen && IsUnderFrozenOperation(number)) continue;
      if (has_one && found[number] == 0 && in_hand++ == 0) continue;
      wrong += "pod " + std::to_string(number) + ": popped as " + std::to_string(found[number]) +
               ", expected " + std::to_string(expected[number]) + "\n";
    }
    const bool may_differ = is_one_frozen && GetParam() != Victim::kClock;
    const auto left = [&](Place place) { return queue_->List(place).size(); };
    const size_t waiting = left(Place::kActive) + left(Place::kBackoff) +
                           left(Place::kErrorBackoff) + left(Place::kUnschedulable);
    const size_t flying = left(Place::kInFlight) - popped.size();
    if (waiting + flying > (may_differ ? 1 : 0)) {
      wrong += std::to_string(waiting) + " pods were not popped and " + std::to_string(flying) +
               " are in flight\n";
    }
    for (const PoppedPod& pod : popped) End(pod);
    ++censuses_;
    return wrong;
  }
  bool IsUnderFrozenOperation(size_t number) const {
    return GetParam() == Victim::kCluster && under_operation_[0].load() == number;
  }

  // Others pause, and what is there is counted.
  void JudgeDuringFreeze(const char* when) {
    if (pauses_.Pause(kThreads - 1)) {
      EXPECT_EQ(TakeCensus(/*is_one_frozen=*/true), "") << when;
    } else {
      ADD_FAILURE() << when << ": a thread waits for the frozen one";
    }
    pauses_.GoOn();
  }

  void RunThreads() {
    const double duration_s = SecondsToRun();
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kClusterThreads; ++i) {
      threads.emplace_back([this, i] { ActAsCluster(i); });
    }
    for (size_t i = 0; i < kSchedulerThreads; ++i) {
      threads.emplace_back([this, i] { ActAsScheduler(i); });
    }
    threads.emplace_back([this] { ActAsClock(); });
    Sleep(duration_s * 0.2);
    const int64_t bytes_before = ResidentBytes();
    Sleep(duration_s * 0.25);
    FreezeFor(duration_s / 10, &bytes_in_freeze_);
    Sleep(duration_s * 0.45);
    bytes_grown_ = ResidentBytes() - bytes_before;
    is_over_ = true;
    for (std::thread& thread : threads) thread.join();
  }

  void FreezeFor(double duration_s, int64_t* bytes_grown) {
    Random random(static_cast<uint64_t>(GetParam()));
    freezer_.Freeze(1 + random.Below(200));
    const uint64_t operations_before = operations_.load();
    JudgeDuringFreeze("at the freeze's beginning");
    // By then the log has met its bound.
    Sleep(duration_s / 2);
    const int64_t bytes_before = ResidentBytes();
    Sleep(duration_s / 2);
    *bytes_grown = ResidentBytes() - bytes_before;
    JudgeDuringFreeze("at the freeze's end");
    EXPECT_GT(operations_.load(), operations_before + 10);
    freezer_.Release();
  }

  VirtualClock clock_{Instant(seconds(1000))};
  BasicInterner<std::atomic> names_;
  WillingPorts ports_;
  MetricsRegistry metrics_;
  std::unique_ptr<SchedulingQueue> queue_;
  std::vector<std::unique_ptr<PodStory>> stories_;
  // The pod that a cluster thread's operation is about.
  std::array<std::atomic<size_t>, kClusterThreads> under_operation_{kNoPod, kNoPod};
  std::atomic<uint64_t> incarnations_{0};
  std::atomic<uint64_t> operations_{0};
  std::atomic<uint64_t> pops_{0};
  std::atomic<bool> is_over_{false};
  FreezesOnce freezer_;
  Pauses pauses_;
  uint64_t censuses_ = 0;
  int64_t bytes_grown_ = 0;
  int64_t bytes_in_freeze_ = 0;
};
std::string NameOf(const testing::TestParamInfo<Victim>& info) {
  constexpr std::array<const char*, 3> kNames = {"Cluster", "Scheduler", "Clock"};
  return kNames[static_cast<size_t>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Of, FrozenSoak,
                         testing::Values(Victim::kCluster, Victim::kScheduler, Victim::kClock),
                         NameOf);

TEST_P(FrozenSoak, LosesNothingAndGrowsNotAtAll) {
  RunThreads();
  EXPECT_EQ(TakeCensus(/*is_one_frozen=*/false), "");
  for (const auto& story : stories_) {
    if (story->pod != nullptr) queue_->Delete(*story->pod);
  }
  EXPECT_EQ(queue_->Counts(), QueueCounts());
  EXPECT_EQ(censuses_, 3u);
  EXPECT_GT(pops_.load(), 100u);
  // A short run still fills what is filled once.
  if (SecondsToRun() >= 60) {
    EXPECT_LT(bytes_in_freeze_, int64_t{8} << 20) << "memory grows while a thread is frozen";
    EXPECT_LT(bytes_grown_, int64_t{48} << 20) << "memory is not flat";
  }
  RecordProperty("operations", std::to_string(operations_.load()));
  RecordProperty("pops", std::to_string(pops_.load()));
  RecordProperty("bytes_grown", std::to_string(bytes_grown_));
  RecordProperty("bytes_grown_in_freeze", std::to_string(bytes_in_freeze_));
}

// What the count must notice.
class FrozenSoakCanary : public FrozenSoak {};
INSTANTIATE_TEST_SUITE_P(Of, FrozenSoakCanary, testing::Values(Victim::kClock));

TEST_P(FrozenSoakCanary, LostPodIsNoticed) {
  Random random(1);
  for (size_t number = 0; number < kPods; ++number) AddAnew(number, &random);
  EXPECT_EQ(TakeCensus(/*is_one_frozen=*/true), "");
  queue_->Delete(*stories_[3]->pod);
  EXPECT_NE(TakeCensus(/*is_one_frozen=*/true), "");
}
TEST_P(FrozenSoakCanary, PodThatShouldBeGoneIsNoticed) {
  Random random(1);
  AddAnew(1, &random);
  stories_[1]->live = 0;
  EXPECT_NE(TakeCensus(/*is_one_frozen=*/true), "");
}

}  // namespace
}  // namespace schedq
