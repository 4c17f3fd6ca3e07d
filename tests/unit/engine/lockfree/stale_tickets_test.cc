// Goal: stale tickets do not pile up in the active queue, wherever they lie, and dropping them
// neither loses an entry nor lets one come out of order.
// Method: the queue alone, against an ordered set: random pushes, pops and entries that are given
// up, with a step of dropping between them. The engine: pods come and go below one that is always
// first, and its tickets are counted; an engine that never looks must be found out.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"
#include "engine/lockfree/queue_shape.h"
#include "engine/queue_answers.h"
#include "tests/support/lockfree_scene.h"
#include "tests/support/small_shapes.h"

namespace schedq {
namespace {

// Looks for idle lanes and runs as rarely as the shipped shape.
struct SmallShape : SmallActiveQueueShape {
  static constexpr uint32_t kPopsPerSweep = ActiveQueueShape::kPopsPerSweep;
};

struct Earlier {
  bool operator()(const ActiveEntry& a, const ActiveEntry& b) const { return GoesBefore(a, b); }
};

template <typename Shape>
class StaleDifferential {
 public:
  explicit StaleDifferential(uint64_t priorities) : priorities_(priorities) {}

  void Run(int64_t operations) {
    for (int64_t i = 1; i <= operations && !testing::Test::HasFailure(); ++i) {
      const uint64_t kind = random_.Below(10);
      if (kind < 5) {
        Push(i);
      } else if (kind < 8) {
        GiveUp();
      } else if (kind < 9) {
        Pop();
      }
      Drop();
    }
  }
  void PopAll() {
    while (!live_.empty() && !testing::Test::HasFailure()) Pop();
    Pop();  // Of a queue in which all is stale.
  }
  void GiveUpAll() { live_.clear(), tickets_.clear(); }
  void Drop() {
    queue_.DropStale(random_.Next(),
                     [this](uint64_t ticket) { return !tickets_.contains(ticket); });
  }
  uint64_t tickets() const { return queue_.Size(); }
  size_t live() const { return live_.size(); }

 private:
  void Push(int64_t number) {
    // Nearly sorted, with some that come late.
    const int64_t late = random_.Below(8) == 0 ? static_cast<int64_t>(random_.Below(100)) : 0;
    const ActiveEntry entry{static_cast<int32_t>(random_.Below(priorities_)), 2 * (number - late),
                            static_cast<uint64_t>(number)};
    queue_.Push(entry);
    live_.insert(entry);
    tickets_.insert(entry.ticket);
  }
  // One that is not first, as far as there is one.
  void GiveUp() {
    if (live_.empty()) return;
    auto victim = live_.begin();
    std::advance(victim, random_.Below(std::min<size_t>(live_.size(), 50)));
    tickets_.erase(victim->ticket);
    live_.erase(victim);
  }
  void Pop() {
    std::optional<ActiveEntry> popped = queue_.TryPop();
    while (popped && !tickets_.contains(popped->ticket)) popped = queue_.TryPop();
    ASSERT_EQ(popped.has_value(), !live_.empty());
    if (!popped) return;
    // Equal keys come in any order.
    ASSERT_FALSE(GoesBefore(*live_.begin(), *popped));
    ASSERT_FALSE(GoesBefore(*popped, *live_.begin()));
    tickets_.erase(popped->ticket);
    std::erase_if(live_, [&](const ActiveEntry& entry) { return entry.ticket == popped->ticket; });
  }

  const uint64_t priorities_;
  Random random_{7};
  ActiveQueue<std::atomic, Shape> queue_;
  std::multiset<ActiveEntry, Earlier> live_;
  std::unordered_set<uint64_t> tickets_;
};

template <typename Shape>
void ExpectDropsOnlyStale(uint64_t priorities, int64_t operations) {
  StaleDifferential<Shape> differential(priorities);
  differential.Run(operations);
  EXPECT_LE(differential.tickets(), 4 * differential.live() + 8 * Shape::kBucketEntries);
  differential.PopAll();
  differential.Run(operations);
  differential.GiveUpAll();
  // What is in the heap's front is popped soon, so nobody looks for it there.
  for (int64_t i = 0; i < operations; ++i) differential.Drop();
  EXPECT_LE(differential.tickets(), Shape::kBucketEntries + Shape::kBagEntries);
  differential.PopAll();
  EXPECT_EQ(differential.tickets(), 0u);
}

TEST(StaleTickets, AreDroppedFromLanes) {
  ExpectDropsOnlyStale<SmallShape>(2, 20'000);
  ExpectDropsOnlyStale<ActiveQueueShape>(2, 20'000);
}
TEST(StaleTickets, AreDroppedFromTheHeap) {
  ExpectDropsOnlyStale<SmallShape>(1'000'000, 20'000);
  ExpectDropsOnlyStale<ActiveQueueShape>(1'000'000, 30'000);
}
TEST(StaleTickets, AreDroppedFromBoth) { ExpectDropsOnlyStale<SmallShape>(4, 20'000); }

struct NeverLooks : LockfreeQueueShape {
  static constexpr uint64_t kSpareTickets = 1'000'000'000;
};

// How many tickets there are at most, while `pods_at_once` pods wait below one that is always first
// and `changes` times one of them is deleted and added.
template <typename Shape>
uint64_t TicketsMax(uint64_t priorities, uint32_t pods_at_once, uint32_t changes) {
  LockfreeScene<Shape> scene;
  auto& queue = scene.queue();
  Random random(3);
  const auto add = [&](const std::string& name, int32_t priority) {
    scene.clock().AdvanceBy(std::chrono::microseconds(1));
    MustSucceed(queue.Add(scene.PodNamed(name, priority)));
  };
  add("first", 2'000'000'000);
  uint64_t tickets_max = 0;
  for (uint32_t i = 0; i < pods_at_once + changes; ++i) {
    const std::string name = std::to_string(i % pods_at_once);
    if (i >= pods_at_once) {
      queue.Delete(*scene.PodNamed(name));
    }
    add(name, static_cast<int32_t>(random.Below(priorities)));
    tickets_max = std::max(tickets_max, queue.ActiveTickets());
  }
  for (uint32_t i = 0; i <= pods_at_once; ++i) {
    const std::optional<PoppedPod> popped = queue.TryPop();
    EXPECT_TRUE(popped.has_value() && (i > 0 || popped->pod->name == "first"));
    if (popped) queue.Done(popped->key);
  }
  EXPECT_FALSE(queue.TryPop());
  EXPECT_EQ(queue.Counts(), QueueCounts());
  return tickets_max;
}

constexpr uint32_t kPods = 3000;
constexpr uint32_t kChanges = 200'000;
constexpr uint64_t kBound = 4 * kPods + 8000;

TEST(StaleTickets, OfPodsThatComeAndGoBelowOthersAreBounded) {
  EXPECT_LE(TicketsMax<LockfreeQueueShape>(1, kPods, kChanges), kBound);
  EXPECT_LE(TicketsMax<LockfreeQueueShape>(8, kPods, kChanges), kBound);
  EXPECT_LE(TicketsMax<LockfreeQueueShape>(1'000'000'000, kPods, kChanges), kBound);
}

TEST(StaleTicketsCanary, EngineThatNeverLooksIsCaught) {
  EXPECT_GT(TicketsMax<NeverLooks>(8, kPods, kChanges), kBound);
  EXPECT_GT(TicketsMax<NeverLooks>(1'000'000'000, kPods, kChanges), kBound);
}

}  // namespace
}  // namespace schedq
