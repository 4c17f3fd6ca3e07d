// Goal: a pod that is created anew under its name, under another uid or the same, is neither lost
// nor mistaken for the one before it, whatever is under way for that one.
// Method: pairs of operations on one name, exhaustive to two preemptions; in the end counts and
// gauges are what a recount says.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "engine/place.h"
#include "tests/model/lockfree_queue_model.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using model::Report;
using Scene = ModelScene<ModelQueueShape>;
using Acts = Act<ModelQueueShape>;
using Pair = Program<ModelQueueShape>;

void ExpectRight(const Pair& program) {
  const Report report = model::Exhaust(Named(model::PreemptionsOr(2)), BodyOfProgram(program));
  model::ExpectExhausted(report, 20);
}

Acts Both(const Acts& first, const Acts& second) {
  return [=](Scene& scene) {
    first(scene);
    second(scene);
  };
}

const Acts kAdd = [](Scene& scene) { scene.Add(0); };
const Acts kAnew = [](Scene& scene) { scene.AddAnew(0); };
const Acts kDelete = [](Scene& scene) { scene.Delete(0); };
const Acts kDeletedAndAnew = Both(kDelete, kAnew);
const Acts kDeletedAndBack = Both(kDelete, kAdd);
const Acts kDone = [](Scene& scene) { scene.queue().Done(scene.Key(0)); };
const Acts kFail = [](Scene& scene) { scene.RejectByFilter(scene.Key(0)); };
const Acts kActivate = [](Scene& scene) { scene.Activate(0); };
const Acts kEvent = [](Scene& scene) { scene.MakeRoom(); };
const Acts kOpen = [](Scene& scene) { scene.Open(); };
const Acts kSchedule = [](Scene& scene) { scene.Schedule(); };
const Acts kFlushBackoff = [](Scene& scene) { scene.queue().FlushBackoff(); };
const Acts kGatingCloses = [](Scene& scene) { scene.world.is_open.store(false); };
const Acts kPop = [](Scene& scene) { static_cast<void>(scene.queue().TryPop()); };
const Acts kPopped = Both(kAdd, kPop);
const Acts kInPool = Both(kPopped, kFail);
const Acts kGated = Both(kGatingCloses, kAdd);

void IsIn(Place place, const Scene& scene) {
  MODEL_CHECK(scene.PlaceOf(0) == place, PlaceName(scene.PlaceOf(0)).data());
}
const Acts kIsActive = [](Scene& scene) { IsIn(Place::kActive, scene); };

TEST(LockfreeAnewModel, AnewMeetsFail) {
  ExpectRight({kPopped, {kFail, kDeletedAndAnew}, kIsActive});
  ExpectRight({kPopped, {kFail, kAnew}, kIsActive});
}
TEST(LockfreeAnewModel, AnewMeetsDone) {
  ExpectRight({kPopped, {kDone, kDeletedAndAnew}, kIsActive});
}
TEST(LockfreeAnewModel, AnewMeetsDelete) { ExpectRight({kPopped, {kDelete, kAnew}, kIsActive}); }
TEST(LockfreeAnewModel, AnewMeetsPop) { ExpectRight({kAdd, {kSchedule, kDeletedAndAnew}}); }
TEST(LockfreeAnewModel, AnewMeetsEvent) {
  ExpectRight({kInPool, {kEvent, kDeletedAndAnew}, kIsActive});
}
TEST(LockfreeAnewModel, AnewMeetsActivation) {
  ExpectRight({kInPool, {kActivate, kDeletedAndAnew}, kIsActive});
}
TEST(LockfreeAnewModel, AnewMeetsGatingThatOpens) {
  ExpectRight({kGated, {kOpen, kDeletedAndAnew}, kIsActive});
}
TEST(LockfreeAnewModel, AnewMeetsFlushOfBackoff) {
  const auto fail_by_error = [](Scene& scene) {
    static_cast<void>(scene.queue().Fail(scene.Key(0), {}, {}));
    scene.world.now += std::chrono::seconds(2);
  };
  ExpectRight({Both(kPopped, fail_by_error),
               {kFlushBackoff, kDeletedAndAnew},
               kIsActive,
               std::chrono::seconds(1)});
}

// Under the uid that is in flight. The pod is then in a queue and in flight; popped before the
// attempt ends it is discarded, so this ends first.
TEST(LockfreeAnewModel, BackUnderItsUidMeetsFail) {
  ExpectRight({kPopped, {kFail, kDeletedAndBack}});
}
TEST(LockfreeAnewModel, BackUnderItsUidMeetsDone) {
  ExpectRight({kPopped, {kDone, kDeletedAndBack}, kIsActive});
}
TEST(LockfreeAnewModel, BackUnderItsUidMeetsPop) {
  ExpectRight({kPopped, {kPop, kDeletedAndBack}, kDone});
}

}  // namespace
}  // namespace schedq
