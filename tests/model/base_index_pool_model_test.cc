// Goal: an element of a pool has one owner at a time, also when the list's top goes and comes back
// between two steps of an allocation. Method: every schedule within bounds of two threads, one of
// which takes two elements and gives the first back; owners are counted in plain fields, which the
// model runs one thread at a time on.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "engine/base/index_pool.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

struct Element {
  model::Atomic<uint64_t> link;
  model::Atomic<uint64_t>& FreeLink() { return link; }
};
using Pool = IndexPool<Element, model::Atomic>;

class Owners {
 public:
  uint32_t Take(Pool& pool) {
    const uint32_t index = pool.Allocate();
    MODEL_CHECK(++counts_.at(index) == 1, "an element has two owners");
    return index;
  }
  void GiveBack(Pool& pool, uint32_t index) {
    --counts_.at(index);
    pool.Free(index);
  }

 private:
  std::array<int, 8> counts_{};
};

void TopComesBack(model::Trial& trial) {
  Pool pool(/*first_bits=*/1);
  Owners owners;
  const uint32_t below = owners.Take(pool);
  const uint32_t top = owners.Take(pool);
  owners.GiveBack(pool, below);
  owners.GiveBack(pool, top);
  trial.Thread([&] {
    owners.Take(pool);
    owners.Take(pool);
  });
  trial.Thread([&] {
    const uint32_t first = owners.Take(pool);
    owners.Take(pool);
    owners.GiveBack(pool, first);
  });
  trial.Join();
  MODEL_CHECK(pool.Used() <= 4, "no more elements than were owned at one time");
}

TEST(IndexPoolModel, OneOwnerOnEverySchedule) {
  const model::Report report = model::Exhaust({.name = "pool"}, TopComesBack);
  model::ExpectExhausted(report, 100);
}

}  // namespace
}  // namespace schedq
