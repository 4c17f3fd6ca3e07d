// Goal: calls wait for each other where the processors have work, and the scheduling thread takes
// longer beside them, by known answers.
#include <gtest/gtest.h>

#include <chrono>

#include "bench/sim/cluster/processors.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;

class ProcessorsTest : public testing::Test {
 protected:
  VirtualClock clock_{Instant()};
  Processors processors_{&clock_, {.call_work = milliseconds(6), .count = 2}};
};

TEST_F(ProcessorsTest, CallsThatComeTogetherWaitInTheirOrder) {
  EXPECT_EQ(processors_.BeginCall(), Duration(0));
  EXPECT_EQ(processors_.BeginCall(), milliseconds(3)) << "two processors work off 6 ms in 3 ms";
  EXPECT_EQ(processors_.BeginCall(), milliseconds(6));
  clock_.AdvanceBy(milliseconds(9));
  EXPECT_EQ(processors_.BeginCall(), Duration(0));
}

TEST_F(ProcessorsTest, CallsHaveOneAndAHalfProcessorsBesideTheSchedulingThread) {
  EXPECT_EQ(processors_.BeginWork(milliseconds(100)), milliseconds(100));
  EXPECT_EQ(processors_.BeginCall(), Duration(0));
  EXPECT_EQ(processors_.BeginCall(), milliseconds(4));
  clock_.AdvanceBy(milliseconds(100));
  EXPECT_EQ(processors_.BeginCall(), Duration(0));
  EXPECT_EQ(processors_.BeginCall(), milliseconds(3)) << "the thread's work has ended";
}

TEST_F(ProcessorsTest, TheSchedulingThreadIsHalfAsFastWhileCallsAreWorkedOn) {
  processors_.BeginCall();
  processors_.BeginCall();
  Processors other = processors_;
  EXPECT_EQ(other.BeginWork(milliseconds(2)), milliseconds(4));
  EXPECT_EQ(processors_.BeginWork(milliseconds(10)), milliseconds(13)) << "the calls take 6 ms";
}

TEST_F(ProcessorsTest, CallsWaitForTheHandlingOfEventsToo) {
  EXPECT_EQ(processors_.BeginHandling(milliseconds(6)), milliseconds(6));
  EXPECT_EQ(processors_.BeginCall(), milliseconds(3));
  EXPECT_EQ(processors_.BeginHandling(milliseconds(1)), milliseconds(2)) << "and it waits itself";
}

TEST_F(ProcessorsTest, NodesAreLookedAtSideBySideWhereThereAreProcessors) {
  EXPECT_EQ(processors_.BeginWork(milliseconds(1), milliseconds(70)), milliseconds(71));
  Processors eight(&clock_, {.call_work = milliseconds(6), .count = 8});
  EXPECT_EQ(eight.BeginWork(milliseconds(1), milliseconds(70)), milliseconds(11));
  EXPECT_EQ(eight.BeginCall(), std::chrono::microseconds(7500)) << "the other 60 ms";
  Processors hundred(&clock_, {.call_work = milliseconds(6), .count = 100});
  EXPECT_EQ(hundred.BeginWork(milliseconds(1), milliseconds(160)), milliseconds(11));
}

TEST_F(ProcessorsTest, NothingIsSharedWhereCallsTakeNoWork) {
  Processors free(&clock_, {});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(free.BeginCall(), Duration(0));
  EXPECT_EQ(free.BeginWork(milliseconds(2)), milliseconds(2));
}

}  // namespace
}  // namespace schedq
