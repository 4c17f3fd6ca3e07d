// Goal: an engine that drops stale tickets while it works keeps its promises: no pod is lost, none
// is popped twice, and no thread waits.
// Method: an engine that looks for stale tickets at every push; pods were deleted, so that there
// are some. A push, and with it a step of dropping, meets each operation that makes tickets stale
// or takes them, exhaustive to two preemptions.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/model/lockfree_queue_model.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using model::Report;
using Scene = ModelScene<SweepingQueueShape>;
using Acts = Act<SweepingQueueShape>;

// Both pods were there before; pod 0 is again, whose push has found that most tickets are stale.
// The next push drops some.
const Acts kStale = [](Scene& scene) {
  for (size_t pod = 0; pod < 2; ++pod) scene.Add(pod);
  for (size_t pod = 0; pod < 2; ++pod) scene.Delete(pod);
  scene.Add(0);
  MODEL_CHECK(scene.queue().ActiveTickets() == 3, "two tickets are stale");
};
const Acts kUpdate = [](Scene& scene) { scene.Update(0); };
const Acts kAdd = [](Scene& scene) { scene.Add(1); };
const Acts kSchedule = [](Scene& scene) { scene.Schedule(); };
const Acts kDelete = [](Scene& scene) { scene.Delete(0); };

void ExpectRight(const std::vector<Acts>& threads) {
  const Report report = model::Exhaust(Named(model::PreemptionsOr(2)),
                                       BodyOfProgram(Program<SweepingQueueShape>{kStale, threads}));
  model::ExpectExhausted(report, 100);
}

TEST(LockfreeStaleModel, PushThatDropsMeetsPop) { ExpectRight({kUpdate, kSchedule}); }
TEST(LockfreeStaleModel, PushThatDropsMeetsDelete) { ExpectRight({kAdd, kDelete}); }
TEST(LockfreeStaleModel, PushesThatDropMeet) { ExpectRight({kUpdate, kAdd}); }

TEST(LockfreeStaleModelStall, FrozenPushThatDropsStopsNoOther) {
  const Program<SweepingQueueShape> program = {kStale, {kUpdate, kAdd, kSchedule}};
  const Report report = model::ExhaustStalls(Named(0), BodyOfProgram(program));
  model::ExpectNoStall(report, 50);
}

}  // namespace
}  // namespace schedq
