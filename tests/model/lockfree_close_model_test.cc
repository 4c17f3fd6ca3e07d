// Goal: Close leaves no Pop asleep, loses nothing that was there before it, and ends each attempt
// once.
// Method: Close meets each operation that may wait for it or ends an attempt itself, exhaustive to
// two preemptions, the sleeper's to three.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/model/lockfree_queue_model.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using model::Report;
using Scene = ModelScene<ModelQueueShape>;
using Acts = Act<ModelQueueShape>;
using Pair = Program<ModelQueueShape>;

void ExpectRight(const Pair& program, uint32_t preemptions_max = 2) {
  const Report report =
      model::Exhaust(Named(model::PreemptionsOr(preemptions_max)), BodyOfProgram(program));
  model::ExpectExhausted(report, 20);
}

const Acts kNothing = [](Scene&) {};
const Acts kPopped = [](Scene& scene) {
  scene.Add(0);
  static_cast<void>(scene.queue().TryPop());
};
const Acts kDone = [](Scene& scene) { scene.queue().Done(scene.Key(0)); };
const Acts kFail = [](Scene& scene) { scene.RejectByFilter(scene.Key(0)); };
const Acts kClose = [](Scene& scene) { scene.queue().Close(); };

// A Pop that no thread wakes is a deadlock, which the model reports.
TEST(LockfreeCloseModel, CloseMeetsSleepingPop) {
  const Acts pop = [](Scene& scene) { static_cast<void>(scene.queue().Pop(std::nullopt)); };
  ExpectRight({kNothing, {kClose, pop}}, 3);
}
TEST(LockfreeCloseModel, PopDrainsWhatCameBeforeClose) {
  const Acts add_and_close = [](Scene& scene) {
    scene.Add(0);
    scene.queue().Close();
  };
  const Acts pop = [](Scene& scene) {
    MODEL_CHECK(scene.queue().Pop(std::nullopt).has_value(), "what was there can be popped");
  };
  ExpectRight({kNothing, {add_and_close, pop}});
}
TEST(LockfreeCloseModel, CloseMeetsFail) { ExpectRight({kPopped, {kClose, kFail}}); }
TEST(LockfreeCloseModel, CloseMeetsDone) { ExpectRight({kPopped, {kClose, kDone}}); }

}  // namespace
}  // namespace schedq
