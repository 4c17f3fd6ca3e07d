// Goal: two operations on groups are ordered by the pointer to their state alone: what the one did
// before it looked at the pointer, or exchanged it, the other one finds after its own look, if that
// comes later (group_store.h). So no read of an operation on groups is too old, whatever its order.
// Method: two threads say something in a word of their own, look at the pointer, and read the other
// one's word, both in relaxed order: at least one hears the other. With a pointer whose own orders
// are relaxed, neither may hear, which must be caught.
#include <folly/concurrency/AtomicSharedPtr.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <tuple>

#include "engine/base/atom.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using Pointer = folly::atomic_shared_ptr<const int, model::Atomic>;

enum class Step : uint8_t { kLook, kExchange };

// An exchange fails if the other thread's was first, which is a look as well.
void Take(Step step, Pointer* pointer, std::memory_order order) {
  std::shared_ptr<const int> seen = pointer->load(order);
  if (step == Step::kExchange) {
    pointer->compare_exchange_strong(seen, std::make_shared<const int>(*seen + 1), order,
                                     std::memory_order_relaxed);
  }
}

model::Report ExploreTwo(Step first, Step second, std::memory_order order) {
  model::Options options =
      model::OptionsOfTest(order == std::memory_order_relaxed ? "relaxed" : "");
  options.preemptions_max = 2;
  options.stale_reads_max = 2;
  return model::Exhaust(options, [=](model::Trial& trial) {
    Pointer pointer{std::make_shared<const int>(0)};
    model::Atomic<int> said_by_first{0};
    model::Atomic<int> said_by_second{0};
    int heard_by_first = 0;
    int heard_by_second = 0;
    trial.Thread([&] {
      StoreRelaxed(said_by_first, 1);
      Take(first, &pointer, order);
      heard_by_first = LoadRelaxed(said_by_second);
    });
    trial.Thread([&] {
      StoreRelaxed(said_by_second, 1);
      Take(second, &pointer, order);
      heard_by_second = LoadRelaxed(said_by_first);
    });
    trial.Join();
    MODEL_CHECK(heard_by_first + heard_by_second > 0, "one of two hears the other");
  });
}

class GroupPointerModel : public testing::TestWithParam<std::tuple<Step, Step>> {};

TEST_P(GroupPointerModel, OneOfTwoHearsTheOther) {
  const auto [first, second] = GetParam();
  const model::Report report = ExploreTwo(first, second, std::memory_order_seq_cst);
  EXPECT_TRUE(report.passed() && report.complete) << report;
}

TEST_P(GroupPointerModel, ARelaxedPointerIsCaught) {
  const auto [first, second] = GetParam();
  EXPECT_FALSE(ExploreTwo(first, second, std::memory_order_relaxed).passed());
}

INSTANTIATE_TEST_SUITE_P(Steps, GroupPointerModel,
                         testing::Combine(testing::Values(Step::kLook, Step::kExchange),
                                          testing::Values(Step::kLook, Step::kExchange)));

}  // namespace
}  // namespace schedq
