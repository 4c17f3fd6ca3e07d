// Goal: at the limit of memory a workload beside others gives way, one at a time, and a workload
// that is alone fails.
// Method: limits below and above what this process uses anyway.
#include "bench/memory_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace schedq {
namespace {

constexpr uint64_t kLittle = 1;
constexpr uint64_t kMuch = uint64_t{1} << 50;

TEST(MemoryShareTest, NobodyEndsBelowTheLimit) {
  MemoryShare share(kMuch);
  MemoryShare::Turn one(&share);
  MemoryShare::Turn other(&share);
  EXPECT_FALSE(one.MustEnd());
  EXPECT_FALSE(other.MustEnd());
  EXPECT_FALSE(one.gave_way());
}

TEST(MemoryShareTest, AloneAWorkloadEndsWithAReasonAndDoesNotGiveWay) {
  MemoryShare share(kLittle);
  MemoryShare::Turn turn(&share);
  EXPECT_TRUE(turn.MustEnd());
  EXPECT_TRUE(turn.MustEnd());
  EXPECT_FALSE(turn.gave_way());
  EXPECT_FALSE(turn.GivesWayToOthers());
  EXPECT_THAT(turn.Reason(), testing::HasSubstr("beyond the limit of 1"));
}

TEST(MemoryShareTest, OneAtATimeGivesWay) {
  MemoryShare share(kLittle);
  std::optional<MemoryShare::Turn> first(std::in_place, &share);
  MemoryShare::Turn second(&share);
  MemoryShare::Turn third(&share);
  EXPECT_TRUE(first->MustEnd());
  EXPECT_TRUE(first->gave_way());
  EXPECT_FALSE(second.MustEnd()) << "the first has not freed its memory yet";
  EXPECT_TRUE(first->MustEnd()) << "once said";
  first.reset();
  EXPECT_TRUE(third.MustEnd());
  EXPECT_TRUE(third.gave_way());
  EXPECT_FALSE(second.MustEnd());
  EXPECT_FALSE(second.gave_way());
}

TEST(MemoryShareTest, TheLastOneIsAlone) {
  MemoryShare share(kLittle);
  MemoryShare::Turn last(&share);
  {
    const MemoryShare::Turn neighbour(&share);
    EXPECT_TRUE(MemoryShare::Turn(&share).MustEnd());
  }
  EXPECT_TRUE(last.MustEnd());
  EXPECT_FALSE(last.gave_way());
}

TEST(MemoryShareTest, AnAllocationThatFailsBesideOthersSaysNothing) {
  MemoryShare share(kMuch);
  MemoryShare::Turn one(&share);
  MemoryShare::Turn other(&share);
  EXPECT_TRUE(one.GivesWayToOthers());
  EXPECT_TRUE(one.gave_way());
  EXPECT_FALSE(other.gave_way());
}

}  // namespace
}  // namespace schedq
