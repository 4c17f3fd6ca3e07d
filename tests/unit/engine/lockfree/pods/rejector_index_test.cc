// Goal: what an event looks at depends on the pods that are in the pool, not on those that once
// were; no slot in use is passed over.
// Method: slots that come into use and go out of it at random, and visits that count what they look
// at, beside an index that never was large.
#include "engine/lockfree/pods/rejector_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>

#include "engine/base/random.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"

namespace schedq {
namespace {

constexpr PluginId kFilter = 3;
constexpr uint32_t kLimit = 300'000;

class Pool {
 public:
  Pool() { index_.Ensure(kLimit); }

  void Enter(PodId id) {
    index_.Mark(id, PluginSet::Of(kFilter));
    in_use_.insert(id);
    index_.Mark(id, PluginSet::Of(kFilter));
  }
  void Leave(PodId id) { in_use_.erase(id); }
  void LeaveAll() { in_use_.clear(); }

  struct Looks {
    uint64_t slots = 0;
    uint64_t blocks = 0;
  };
  // What an event looks at.
  Looks Visit() {
    Looks looks;
    std::set<PodId> found;
    const auto visit = [&](PodId first, uint64_t slots) {
      ++looks.blocks;
      looks.slots += static_cast<uint64_t>(std::popcount(slots));
      uint64_t used = 0;
      for (; slots != 0; slots &= slots - 1) {
        const PodId id = first + static_cast<PodId>(std::countr_zero(slots));
        if (in_use_.contains(id)) used += found.insert(id).second ? 1 : 0;
      }
      return used;
    };
    const auto is_in_use = [&](PodId id) { return in_use_.contains(id); };
    index_.ForEachBlock(PluginSet::Of(kFilter), kLimit, /*may_clear=*/true, visit, is_in_use);
    EXPECT_EQ(found, in_use_);
    return looks;
  }

 private:
  RejectorIndex<std::atomic> index_;
  std::set<PodId> in_use_;
};

TEST(RejectorIndex, VisitAmidAFormerlyLargePoolLooksAtTwiceAsMuchAtMost) {
  for (const PodId stays : {0u, 77u, kLimit - 1}) {
    Pool pool;
    Pool never_large;
    for (PodId id = 0; id < kLimit; ++id) pool.Enter(id);
    EXPECT_EQ(pool.Visit().slots, kLimit);
    pool.LeaveAll();
    pool.Enter(stays);
    never_large.Enter(stays);
    pool.Visit();
    EXPECT_LE(pool.Visit().slots, 2 * never_large.Visit().slots);
    EXPECT_LE(pool.Visit().blocks, 2 * never_large.Visit().blocks);
  }
}

TEST(RejectorIndex, NoSlotInUseIsPassedOver) {
  Random random(5);
  Pool pool;
  std::set<PodId> members;
  size_t most = 0;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 100; ++i) {
      const auto id = static_cast<PodId>(random.Below(20'000));
      // Rounds of coming and of going.
      if ((random.Below(4) == 0) == (round / 10 % 2 == 1)) {
        pool.Enter(id);
        members.insert(id);
      } else if (!members.empty()) {
        const auto near = members.lower_bound(id);
        const PodId gone = near == members.end() ? *members.begin() : *near;
        pool.Leave(gone);
        members.erase(gone);
      }
    }
    pool.Visit();
    EXPECT_LE(pool.Visit().slots, 2 * members.size());
    most = std::max(most, members.size());
  }
  EXPECT_GE(most, 500u);
}

}  // namespace
}  // namespace schedq
