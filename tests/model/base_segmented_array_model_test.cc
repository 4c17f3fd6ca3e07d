// Goal: threads that grow an array at the same time use one memory, and none sees an element before
// its memory is zeroed. Method: every schedule within bounds of two threads that need the same
// segment, of which one loses the installation, and of a reader that learns of an element by a
// count alone.
#include <gtest/gtest.h>

#include <cstdint>

#include "engine/base/segmented_array.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using Array = SegmentedArray<model::Atomic<uint64_t>, model::Atomic>;

// Elements 2 and 3 are one segment; 1 is another, which only one of them needs.
void TwoInstallASegment(model::Trial& trial) {
  Array array(/*first_bits=*/0);
  trial.Thread([&] {
    array.ReserveThrough(3);
    array[3].store(3);
    MODEL_CHECK(array[1].load() == 0, "smaller elements are usable, and zero");
  });
  trial.Thread([&] {
    array.ReserveThrough(2);
    array[2].store(2);
  });
  trial.Join();
  MODEL_CHECK(array[2].load() == 2 && array[3].load() == 3, "both wrote to the same memory");
}

TEST(SegmentedArrayModel, ThreadsThatGrowItAtOnceUseOneMemory) {
  const model::Report report = model::Exhaust(model::OptionsOfTest(), TwoInstallASegment);
  model::ExpectExhausted(report, 100);
}

TEST(SegmentedArrayModel, NoThreadWaitsForOneThatIsStoppedWhileItGrows) {
  model::Options options = model::OptionsOfTest();
  options.preemptions_max = 1;
  model::ExpectNoStall(model::ExhaustStalls(options, TwoInstallASegment), 5);
}

}  // namespace
}  // namespace schedq
