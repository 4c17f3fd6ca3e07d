// Goal: a thread that guards a value and has then seen it published reads it before it is
// destroyed, whatever other threads replace and retire meanwhile; every value is destroyed once.
// Method: one thread reads while another replaces the value twice; each retirement sweeps. The
// values' footprints are plain cells, so a read that is not ordered with the end of the value is a
// failure. Exhaustive within bounds, then with each thread frozen at each step.
#include <gtest/gtest.h>

#include <cstdint>

#include "dispatcher/guarded_pool.h"
#include "tests/support/model/atomic.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

struct Value {
  uint64_t number = 0;
};
using Pool = GuardedPool<Value, model::Atomic, 1>;

struct Scene {
  Scene() {
    Pool::Operation operation(pool);
    word.store(operation.Make(uint64_t{1}));
  }
  ~Scene() {
    Pool::Operation operation(pool);
    operation.Discard(word.load());
  }

  void Read() {
    Pool::Operation operation(pool);
    const Pool::Number number = word.load();
    operation.Guard(0, number);
    if (word.load() != number) return;
    const uint64_t read = pool[number].number;
    MODEL_CHECK(read >= 1 && read <= 3, "it is a value that was made");
  }
  void Replace(uint64_t number) {
    Pool::Operation operation(pool);
    operation.Retire(word.exchange(operation.Make(uint64_t{number})));
  }

  Pool pool{0};
  model::Atomic<Pool::Number> word{0};
};

void ReaderMeetsReplacements(model::Trial& trial) {
  Scene scene;
  trial.Thread([&] { scene.Read(); });
  trial.Thread([&] {
    scene.Replace(2);
    scene.Replace(3);
  });
  trial.Join();
}

TEST(GuardedPoolModel, ReaderMeetsReplacements) {
  const model::Report report =
      model::Exhaust({.name = "reader", .preemptions_max = 2}, ReaderMeetsReplacements);
  model::ExpectExhausted(report, 100);
}

TEST(GuardedPoolModel, FrozenReaderStopsNoOther) {
  const model::Report report = model::ExhaustStalls({.name = "frozen reader", .preemptions_max = 1},
                                                    ReaderMeetsReplacements);
  model::ExpectNoStall(report, 10);
}

}  // namespace
}  // namespace schedq
