// Goal: an engine that drops stale tickets while it works keeps its promises: no pod is lost, none
// is popped twice, and no thread waits.
// Method: an engine that looks for stale tickets at every push; pods were deleted, so that there
// are some. A push, and with it a step of dropping, meets each operation that makes tickets stale
// or takes them, exhaustive to two preemptions. A thread that gives an entity another ticket is
// frozen at each of its steps, while another one drops stale tickets: the entity keeps its rank.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queue_answers.h"
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

enum class Renewed { kPod, kGroup };

// Pod 0, or the group of the members 0 and 1, waits in active, above pods of priority -1 that fail.
// An update, or the second member, gives it another ticket, and makes the first one stale.
class RenewedTicket {
 public:
  explicit RenewedTicket(Renewed renewed) : is_group_(renewed == Renewed::kGroup) {}

  // Most tickets are stale, so each push drops some; and some low pods are in flight.
  void Prepare() {
    for (size_t low = 2; low < 6; ++low) {
      MustSucceed(scene_.queue().Add(Scene::MakeVersion(low, -1, "low")));
      flying_.push_back(scene_.queue().TryPop()->key);
    }
    if (is_group_) scene_.queue().GroupAdd(Scene::GroupOfAll());
    scene_.Add(0);
    std::vector<PodRef> gone;
    for (size_t other = 10; other < 20; ++other) {
      gone.push_back(Scene::MakeVersion(other, 0, "gone"));
      MustSucceed(scene_.queue().Add(gone.back()));
    }
    for (const PodRef& pod : gone) scene_.queue().Delete(*pod);
  }
  void Renew() { is_group_ ? scene_.Add(1) : scene_.Update(0); }
  void ReturnLowPodsAndPop() {
    for (const PodKey& key : flying_) static_cast<void>(scene_.queue().Fail(key, {}, {}));
    const std::optional<PoppedPod> popped = scene_.queue().TryPop();
    MODEL_CHECK(popped.has_value(), "something waits");
    const bool is_low = popped->group == nullptr && popped->pod->priority < 0;
    MODEL_CHECK(!is_low, "what has another ticket by now is popped before pods of low priority");
  }

 private:
  const bool is_group_;
  Scene scene_{Duration(0), is_group_};
  std::vector<PodKey> flying_;
};

void ExpectRankKept(Renewed renewed) {
  model::Options options = Named(0);
  options.steps_max = 50'000;
  const Report report = model::ExhaustStalls(options, [renewed](model::Trial& trial) {
    RenewedTicket one(renewed);
    one.Prepare();
    trial.Thread([&one] { one.Renew(); });
    trial.Thread([&one] { one.ReturnLowPodsAndPop(); });
    trial.Join();
  });
  model::ExpectNoStall(report, 50);
}

TEST(LockfreeStaleModelStall, APodKeepsItsRankWhileItsNewTicketIsOwed) {
  ExpectRankKept(Renewed::kPod);
}
TEST(LockfreeStaleModelStall, AGroupKeepsItsRankWhileItsNewTicketIsOwed) {
  ExpectRankKept(Renewed::kGroup);
}

}  // namespace
}  // namespace schedq
