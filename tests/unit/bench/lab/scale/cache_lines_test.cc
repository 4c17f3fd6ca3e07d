// Goal: the model of coherence moves lines as its header says, and counts what it moves.
// Method: short sequences of accesses whose transfers are counted by hand.
#include "bench/lab/scale/cache_lines.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace schedq::scale {
namespace {

constexpr uintptr_t kLine = 0x1000;
constexpr uintptr_t kOtherLine = kLine + CacheLines::kLineBytes;

// Whether the access moves the line.
bool Moves(CacheLines& lines, uint32_t thread, uintptr_t address, Access access) {
  return lines.Touch(thread, lines.At(address), access);
}

TEST(CacheLines, ALineThatNobodyElseHasStays) {
  CacheLines lines;
  lines.BeginOperation(0);
  for (const Access access : {Access::kLoad, Access::kStore, Access::kUpdate, Access::kLoad}) {
    EXPECT_FALSE(Moves(lines, 0, kLine, access));
  }
  const LineCounts counts = lines.counts();
  EXPECT_EQ(counts.operations, 1u);
  EXPECT_EQ(counts.accesses, 4u);
  EXPECT_EQ(counts.updates, 1u);
  EXPECT_EQ(counts.lines, 1u);
  EXPECT_EQ(counts.transfers, 0u);
  EXPECT_EQ(counts.invalidations, 0u);
}

TEST(CacheLines, ReadersShareAndAWriterTakesFromAll) {
  CacheLines lines;
  Moves(lines, 0, kLine, Access::kStore);
  EXPECT_TRUE(Moves(lines, 1, kLine, Access::kLoad)) << "another has modified it";
  EXPECT_TRUE(Moves(lines, 2, kLine, Access::kLoad));
  EXPECT_FALSE(Moves(lines, 0, kLine, Access::kLoad)) << "a reader keeps its copy";
  EXPECT_FALSE(Moves(lines, 1, kLine, Access::kLoad));
  EXPECT_TRUE(Moves(lines, 1, kLine, Access::kStore)) << "others must lose theirs";
  EXPECT_FALSE(Moves(lines, 1, kLine, Access::kUpdate)) << "now it is alone";
  EXPECT_TRUE(Moves(lines, 2, kLine, Access::kLoad)) << "its copy is gone";
  EXPECT_EQ(lines.counts().transfers, 4u);
  EXPECT_EQ(lines.counts().invalidations, 2u);
}

TEST(CacheLines, OneCounterOfThreeThreadsMovesEachTime) {
  CacheLines lines;
  for (int round = 0; round < 10; ++round) {
    for (uint32_t thread = 0; thread < 3; ++thread) {
      lines.BeginOperation(thread);
      Moves(lines, thread, kLine, Access::kUpdate);
    }
  }
  const LineCounts counts = lines.counts();
  EXPECT_EQ(counts.operations, 30u);
  EXPECT_EQ(counts.transfers, 29u) << "all but the very first";
  EXPECT_EQ(counts.invalidations, 29u);
  EXPECT_EQ(counts.hottest_transfers, 29u);
}

TEST(CacheLines, AnUpdateIsContendedIfAnOperationAtTheSameTimeWroteTheLine) {
  CacheLines lines;
  lines.BeginOperation(0);
  lines.BeginOperation(1);
  Moves(lines, 0, kLine, Access::kUpdate);
  Moves(lines, 1, kLine, Access::kUpdate);
  EXPECT_EQ(lines.counts().contended_updates, 1u) << "the second one's operation had begun before";
  Moves(lines, 1, kLine, Access::kUpdate);
  EXPECT_EQ(lines.counts().contended_updates, 1u) << "its own write is no contention";
}

TEST(CacheLines, WhatIsHandedOverMovesAndIsNotContended) {
  CacheLines lines;
  lines.BeginOperation(0);
  Moves(lines, 0, kLine, Access::kStore);
  lines.BeginOperation(1);
  EXPECT_TRUE(Moves(lines, 1, kLine, Access::kUpdate));
  EXPECT_EQ(lines.counts().contended_updates, 0u);
}

TEST(CacheLines, LinesAreCountedOnceInEachOperation) {
  CacheLines lines;
  for (int operation = 0; operation < 2; ++operation) {
    lines.BeginOperation(0);
    Moves(lines, 0, kLine, Access::kLoad);
    Moves(lines, 0, kLine + 8, Access::kStore);
    Moves(lines, 0, kOtherLine, Access::kLoad);
  }
  EXPECT_EQ(lines.counts().lines, 4u);
}

TEST(CacheLines, CountingAnewForgetsCountsAndKeepsLines) {
  CacheLines lines;
  Moves(lines, 0, kLine, Access::kStore);
  Moves(lines, 1, kLine, Access::kStore);
  lines.StartCounting();
  EXPECT_EQ(lines.counts().accesses, 0u);
  EXPECT_EQ(lines.counts().hottest_transfers, 0u);
  EXPECT_FALSE(Moves(lines, 1, kLine, Access::kStore));
  EXPECT_TRUE(Moves(lines, 0, kLine, Access::kLoad));
  EXPECT_EQ(lines.counts().transfers, 1u);
}

}  // namespace
}  // namespace schedq::scale
