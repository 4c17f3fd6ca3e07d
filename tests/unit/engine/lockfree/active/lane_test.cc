// Goal: a lane remembers what its runs refused, and forgets it when they may take an entry again.
// Method: one thread fills the runs of a lane in the worst order, empties one and sweeps.
#include "engine/lockfree/active/lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/double_collect.h"

namespace schedq {
namespace {

using SmallLane = Lane<std::atomic, 3, 4>;

class LaneTest : public testing::Test {
 protected:
  SmallLane::Place Append(int64_t timestamp_ns) {
    const ActiveEntry entry{0, timestamp_ns, 1};
    return lane_.Append(pool_, &entry, 1);
  }
  // Takes the oldest entry of the further runs.
  int64_t TakeFurther() {
    DoubleCollect<std::atomic, SmallLane::kWords> collect;
    SmallLane::Head head;
    lane_.CollectFurther(pool_, collect, head);
    ActiveEntry taken{};
    head.run->ReadMany(pool_, head.view, &taken, 1);
    EXPECT_TRUE(head.run->TryDropMany(pool_, head.view, 1));
    return taken.timestamp_ns;
  }

  SmallLane::Pool pool_{1};
  SmallLane lane_{0};
};

TEST_F(LaneTest, RemembersWhatAllFurtherRunsRefused) {
  EXPECT_EQ(Append(30), SmallLane::Place::kMain);
  EXPECT_EQ(Append(20), SmallLane::Place::kFurther);
  EXPECT_EQ(Append(10), SmallLane::Place::kFurther);
  EXPECT_EQ(Append(5), SmallLane::Place::kNone);
  ASSERT_EQ(TakeFurther(), 10);
  // A run is empty now. Who is older than what was refused is not asked for, who is not finds it.
  EXPECT_EQ(Append(4), SmallLane::Place::kNone);
  EXPECT_EQ(Append(5), SmallLane::Place::kFurther);
  ASSERT_EQ(TakeFurther(), 5);
  lane_.SweepFurther();
  EXPECT_EQ(Append(4), SmallLane::Place::kFurther);
}

TEST_F(LaneTest, RemembersNothingOfWhatARunTook) {
  EXPECT_EQ(Append(30), SmallLane::Place::kMain);
  EXPECT_EQ(Append(20), SmallLane::Place::kFurther);
  EXPECT_EQ(Append(10), SmallLane::Place::kFurther);
  EXPECT_EQ(Append(12), SmallLane::Place::kFurther);
  EXPECT_EQ(Append(31), SmallLane::Place::kMain);
}

}  // namespace
}  // namespace schedq
