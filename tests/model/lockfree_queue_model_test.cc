// Goal: the assembled lock-free engine keeps its promises in every schedule: no pod is lost or
// there twice, no pod sleeps whose event has come, counts are what is there, and no thread waits
// for a frozen one.
// Method: pairs of operations that meet on one pod, exhaustive to two preemptions, and to three
// where there are few schedules or most hangs on it; longer programs of three threads by seeds.
// SCHEDQ_MODEL_PREEMPTIONS=3 explores all pairs to three. The races that matter most (an event, an
// activation or an update meets a failing pod) have canaries: an engine that does not read the log
// again, and one that looks at the pool before it logs, must be caught.
#include "tests/model/lockfree_queue_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/event.h"
#include "engine/lockfree/moves/pool_judge.h"
#include "engine/lockfree/operations/event_operations.h"
#include "engine/lockfree/operations/fail_operations.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/logged_event.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/runtime.h"

namespace schedq {

struct ForgetsToReadAgain : ModelQueueShape {};
struct LooksBeforeItLogs : ModelQueueShape {};

// Keeps two events.
struct ShortLog : ModelQueueShape {
  static constexpr uint32_t kLogEventsMax = 2;
  static constexpr uint32_t kLogTrimMax = 4;
};
struct ForgetsWhatItMissed : ShortLog {};

template <>
Verdict FailOperations<ModelParts<ForgetsWhatItMissed>>::JudgeLogged(const PodFacts& facts,
                                                                     LogJudgement* judgement) {
  const JudgedPod judged = ToJudge(facts);
  while (const LoggedEvent* const logged = judgement->reader->Next()) {
    Verdict verdict = Verdict::kSkip;
    parts_.options.judge->Judge({&judged, 1}, logged->event, logged->change, {&verdict, 1});
    judgement->best = std::max(judgement->best, verdict);
  }
  if (judgement->reader->HasMissed()) judgement->reader->SkipToEnd();
  return judgement->best;
}

template <>
void PoolJudge<ModelParts<ForgetsToReadAgain>>::ReadLogAgain(
    PodId, ModelParts<ForgetsToReadAgain>::Log::Reader*) {}

template <>
void EventOperations<ModelParts<LooksBeforeItLogs>>::Event(
    const ClusterEvent& event, const ObjectChange& change,
    const SchedulingQueue::PreCheck& pre_check) {
  Narrowing narrowing;
  parts_.options.judge->Narrow(event, change, &narrowing);
  JudgePool({event, change, parts_.options.judge->RegisteredFor(event), pre_check}, narrowing);
  LogIfAnyInFlight(&parts_, event, change);
  parts_.epochs.Count(PluginSet());
}

namespace {

using model::FailureKind;
using model::Report;

using Scene = ModelScene<ModelQueueShape>;

// To three, all pairs are millions of schedules and take some ten minutes of processor time.
constexpr uint32_t kTwo = 2;
constexpr uint32_t kThree = 3;

void ExpectRight(const Program<ModelQueueShape>& program, uint32_t preemptions_max = kTwo) {
  const Report report =
      model::Exhaust(Named(model::PreemptionsOr(preemptions_max)), BodyOfProgram(program));
  model::ExpectExhausted(report, 100);
  testing::Test::RecordProperty("schedules", std::to_string(report.schedules));
}

template <typename Shape>
Act<Shape> Popped() {
  return [](ModelScene<Shape>& scene) {
    scene.Add(0);
    static_cast<void>(scene.queue().TryPop());
  };
}

template <typename Shape>
Program<Shape> FailMeetsEvent() {
  return {Popped<Shape>(),
          {[](ModelScene<Shape>& scene) { scene.RejectByFilter(scene.Key(0)); },
           [](ModelScene<Shape>& scene) { scene.MakeRoom(); }}};
}

TEST(LockfreeQueueModel, FailMeetsEvent) { ExpectRight(FailMeetsEvent<ModelQueueShape>(), kThree); }

TEST(LockfreeQueueModelCanary, EngineThatDoesNotReadTheLogAgainIsCaught) {
  const Report report =
      model::Exhaust(Named(2), BodyOfProgram(FailMeetsEvent<ForgetsToReadAgain>()));
  EXPECT_TRUE(report.failed_by(FailureKind::kCheck)) << report;
}

TEST(LockfreeQueueModelCanary, EngineThatLooksBeforeItLogsIsCaught) {
  const Report report =
      model::Exhaust(Named(2), BodyOfProgram(FailMeetsEvent<LooksBeforeItLogs>()));
  EXPECT_TRUE(report.failed_by(FailureKind::kCheck)) << report;
}

// More events come than the log keeps, and the one that helps is the oldest: it must make room for
// those that don't concern the pod.
template <typename Shape>
Program<Shape> FailMeetsMoreEventsThanAreKept() {
  const auto events = [](ModelScene<Shape>& scene) {
    scene.MakeRoom();
    for (int i = 0; i < 2; ++i) scene.Open();
  };
  return {Popped<Shape>(),
          {[](ModelScene<Shape>& scene) { scene.RejectByFilter(scene.Key(0)); }, events}};
}
model::Options NamedWithStaleReads() {
  model::Options options = Named(kTwo);
  options.stale_reads_max = 1;
  return options;
}

TEST(LockfreeQueueModel, FailMeetsMoreEventsThanAreKept) {
  const Report report = model::Exhaust(NamedWithStaleReads(),
                                       BodyOfProgram(FailMeetsMoreEventsThanAreKept<ShortLog>()));
  model::ExpectExhausted(report, 100);
}

TEST(LockfreeQueueModelStall, FailMeetsMoreEventsThanAreKept) {
  model::Options options = Named(1);
  const Report report =
      model::ExhaustStalls(options, BodyOfProgram(FailMeetsMoreEventsThanAreKept<ShortLog>()));
  model::ExpectNoStall(report, 100);
}

TEST(LockfreeQueueModelCanary, ForgottenMissIsCaught) {
  const Report report = model::Exhaust(
      Named(2), BodyOfProgram(FailMeetsMoreEventsThanAreKept<ForgetsWhatItMissed>()));
  EXPECT_TRUE(report.failed_by(FailureKind::kCheck)) << report;
}

// Two operations on one pod, from each place in which they can find it.
using Pair = Program<ModelQueueShape>;
const Act<ModelQueueShape> kFail = [](Scene& scene) { scene.RejectByFilter(scene.Key(0)); };
const Act<ModelQueueShape> kFailByError = [](Scene& scene) {
  static_cast<void>(scene.queue().Fail(scene.Key(0), {}, {}));
};
const Act<ModelQueueShape> kAdd = [](Scene& scene) { scene.Add(0); };
const Act<ModelQueueShape> kDone = [](Scene& scene) { scene.queue().Done(scene.Key(0)); };
const Act<ModelQueueShape> kBind = [](Scene& scene) { scene.queue().Bind(scene.Key(0)); };
const Act<ModelQueueShape> kDelete = [](Scene& scene) { scene.Delete(0); };
const Act<ModelQueueShape> kActivate = [](Scene& scene) { scene.Activate(0); };
const Act<ModelQueueShape> kUpdate = [](Scene& scene) { scene.Update(0); };
const Act<ModelQueueShape> kEvent = [](Scene& scene) { scene.MakeRoom(); };
const Act<ModelQueueShape> kOpen = [](Scene& scene) { scene.Open(); };
const Act<ModelQueueShape> kSchedule = [](Scene& scene) { scene.Schedule(); };
const Act<ModelQueueShape> kFlushBackoff = [](Scene& scene) { scene.queue().FlushBackoff(); };
const Act<ModelQueueShape> kFlushPool = [](Scene& scene) { scene.queue().FlushUnschedulable(); };
const Act<ModelQueueShape> kGatingCloses = [](Scene& scene) { scene.world.is_open.store(false); };

Act<ModelQueueShape> Both(const Act<ModelQueueShape>& first, const Act<ModelQueueShape>& second) {
  return [=](Scene& scene) {
    first(scene);
    second(scene);
  };
}
Act<ModelQueueShape> IsNowhereIn(std::vector<Place> places) {
  return [=](Scene& scene) {
    for (const Place place : places)
      MODEL_CHECK(scene.PlaceOf(0) != place, PlaceName(place).data());
  };
}
const Act<ModelQueueShape> kIsAwake = IsNowhereIn({Place::kUnschedulable, Place::kGated});
const Act<ModelQueueShape> kPopped = Popped<ModelQueueShape>();
const Act<ModelQueueShape> kInPool = Both(kPopped, kFail);
const Act<ModelQueueShape> kGated = Both(kGatingCloses, kAdd);

TEST(LockfreeQueueModel, FailMeetsActivation) {
  ExpectRight({kPopped, {kFail, kActivate}, kIsAwake});
}
TEST(LockfreeQueueModel, FailMeetsUpdate) { ExpectRight({kPopped, {kFail, kUpdate}, kIsAwake}); }
TEST(LockfreeQueueModel, FailMeetsDelete) {
  ExpectRight({kPopped, {kFail, kDelete}, IsNowhereIn({Place::kUnschedulable, Place::kActive})},
              kThree);
}
TEST(LockfreeQueueModel, FailMeetsFail) { ExpectRight({kPopped, {kFail, kFail}}); }
TEST(LockfreeQueueModel, FailMeetsDone) { ExpectRight({kPopped, {kFail, kDone}}, kThree); }
TEST(LockfreeQueueModel, FailMeetsBind) { ExpectRight({kPopped, {kFail, kBind}}); }
TEST(LockfreeQueueModel, FailMeetsAdd) { ExpectRight({kPopped, {kFail, kAdd}}); }
TEST(LockfreeQueueModel, FailMeetsPop) { ExpectRight({kPopped, {kFailByError, kSchedule}}); }
TEST(LockfreeQueueModel, FailMeetsGatingThatOpens) {
  ExpectRight({Both(kPopped, kGatingCloses), {kFailByError, kOpen}});
}
TEST(LockfreeQueueModel, AddMeetsGatingThatOpens) {
  ExpectRight({kGatingCloses, {kAdd, kOpen}}, kThree);
}
// The slot is new to the event, too: its look at how many there are must not be stale.
TEST(LockfreeQueueModel, AddOfANewSlotMeetsGatingThatOpens) {
  const auto add_other = [](Scene& scene) { scene.Add(1); };
  model::Options options = Named(1);
  options.stale_reads_max = 1;
  const Report report = model::Exhaust(options, BodyOfProgram(Pair{kGated, {add_other, kOpen}}));
  model::ExpectExhausted(report, 100);
}
TEST(LockfreeQueueModel, AddMeetsAdd) {
  ExpectRight({[](Scene&) {}, {kAdd, kAdd}});
}
TEST(LockfreeQueueModel, AddMeetsDelete) {
  ExpectRight({[](Scene&) {}, {kAdd, kDelete}}, kThree);
}
TEST(LockfreeQueueModel, FirstAddMeetsEvent) {
  ExpectRight({[](Scene&) {}, {kAdd, kEvent}}, kThree);
}
TEST(LockfreeQueueModel, AddMeetsPop) {
  ExpectRight({[](Scene&) {},
               {kAdd, kSchedule},
               [](Scene& scene) {
                 MODEL_CHECK(scene.PlaceOf(0) != Place::kAbsent, "the pod is somewhere");
               }},
              kThree);
}
// A Pop that sleeps on when there is something is a deadlock, which the model reports.
const Act<ModelQueueShape> kPop = [](Scene& scene) {
  MODEL_CHECK(scene.queue().Pop(std::nullopt).has_value(), "it waits until there is a pod");
};
TEST(LockfreeQueueModel, AddMeetsSleepingPop) {
  ExpectRight({[](Scene&) {}, {kAdd, kPop}}, kThree);
}
TEST(LockfreeQueueModel, EventMeetsSleepingPop) { ExpectRight({kInPool, {kEvent, kPop}}); }
TEST(LockfreeQueueModel, GatingThatOpensMeetsSleepingPop) { ExpectRight({kGated, {kOpen, kPop}}); }
TEST(LockfreeQueueModel, ActivationMeetsSleepingPop) { ExpectRight({kInPool, {kActivate, kPop}}); }
TEST(LockfreeQueueModel, EventMeetsEvent) { ExpectRight({kInPool, {kEvent, kEvent}}); }
TEST(LockfreeQueueModel, EventMeetsDelete) { ExpectRight({kInPool, {kEvent, kDelete}}, kThree); }
TEST(LockfreeQueueModel, EventMeetsUpdate) { ExpectRight({kInPool, {kEvent, kUpdate}}); }
TEST(LockfreeQueueModel, EventMeetsActivation) {
  ExpectRight({kInPool, {kEvent, kActivate}}, kThree);
}
TEST(LockfreeQueueModel, EventMeetsPop) { ExpectRight({kAdd, {kEvent, kSchedule}}); }
TEST(LockfreeQueueModel, GatingThatOpensMeetsActivation) {
  ExpectRight({kGated, {kOpen, kActivate}});
}
TEST(LockfreeQueueModel, GatingThatOpensMeetsUpdate) { ExpectRight({kGated, {kOpen, kUpdate}}); }
TEST(LockfreeQueueModel, PopMeetsUpdate) { ExpectRight({kAdd, {kSchedule, kUpdate}}); }
TEST(LockfreeQueueModel, PopMeetsDelete) { ExpectRight({kAdd, {kSchedule, kDelete}}); }
TEST(LockfreeQueueModel, PopMeetsPop) { ExpectRight({kAdd, {kSchedule, kSchedule}}); }

// Both kinds of backoff; the flush is due, or the pop comes before it.
void ExpectBackoffRight(const Act<ModelQueueShape>& fail, const Act<ModelQueueShape>& other) {
  const auto is_due = [](Scene& scene) { scene.world.now += std::chrono::seconds(2); };
  ExpectRight({Both(Both(kPopped, fail), is_due),
               {kFlushBackoff, other},
               [](Scene&) {},
               std::chrono::seconds(1)});
}
const Act<ModelQueueShape> kFailAndWake = Both(kFail, kEvent);

TEST(LockfreeQueueModel, FlushOfBackoffMeetsPop) { ExpectBackoffRight(kFailAndWake, kSchedule); }
TEST(LockfreeQueueModel, FlushOfBackoffMeetsUpdate) { ExpectBackoffRight(kFailAndWake, kUpdate); }
TEST(LockfreeQueueModel, FlushOfBackoffMeetsDelete) { ExpectBackoffRight(kFailAndWake, kDelete); }
TEST(LockfreeQueueModel, FlushOfBackoffMeetsActivation) {
  ExpectBackoffRight(kFailAndWake, kActivate);
}
TEST(LockfreeQueueModel, FlushOfBackoffMeetsFlush) {
  ExpectBackoffRight(kFailByError, kFlushBackoff);
}
TEST(LockfreeQueueModel, FlushOfPoolMeetsEvent) {
  const auto is_due = [](Scene& scene) { scene.world.now += std::chrono::minutes(6); };
  ExpectRight({Both(kInPool, is_due), {kFlushPool, kEvent}, kIsAwake});
}

// Programs of three threads, drawn from a seed, that meet on two pods.
struct DrawnProgram {
  Pair program;
  std::string text;
};

DrawnProgram Draw(uint64_t seed) {
  Random random(seed);
  DrawnProgram drawn;
  const auto draw = [&] {
    const size_t pod = random.Below(2);
    const std::vector<std::pair<std::string, Act<ModelQueueShape>>> acts = {
        {"schedule", kSchedule},
        {"room", kEvent},
        {"open", kOpen},
        {"flush backoff", kFlushBackoff},
        {"flush pool", kFlushPool},
        {"add", [pod](Scene& scene) { scene.Add(pod); }},
        {"delete", [pod](Scene& scene) { scene.Delete(pod); }},
        {"update", [pod](Scene& scene) { scene.Update(pod); }},
        {"activate", [pod](Scene& scene) { scene.Activate(pod); }},
        // By error: a rejection by another than the scheduler might be of an attempt that began
        // after the event, and such a pod sleeps rightly.
        {"fail",
         [pod](Scene& scene) { static_cast<void>(scene.queue().Fail(scene.Key(pod), {}, {})); }}};
    const auto& [name, act] = acts[random.Below(acts.size())];
    drawn.text += name + " " + std::to_string(pod) + ", ";
    return act;
  };
  const bool begins_gated = random.Below(2) == 0;
  drawn.text = begins_gated ? "gated" : "in the pool";
  drawn.program.before = begins_gated ? kGated : kInPool;
  drawn.program.backoff = std::chrono::seconds(random.Below(2));
  for (int thread = 0; thread < 3; ++thread) {
    drawn.text += "\n  thread: ";
    const Act<ModelQueueShape> first = draw();
    const Act<ModelQueueShape> second = draw();
    drawn.program.threads.push_back(Both(Both(first, second), draw()));
  }
  return drawn;
}

TEST(LockfreeQueueModelSweep, RandomPrograms) {
  const char* wanted = std::getenv("SCHEDQ_MODEL_PROGRAMS");
  const int programs = wanted == nullptr ? 100 : std::atoi(wanted);
  constexpr uint64_t kSchedules = 200;
  for (int seed = 0; seed < programs; ++seed) {
    const DrawnProgram drawn = Draw(static_cast<uint64_t>(seed));
    model::Options options = Named(0);
    options.name += std::to_string(seed);
    const Report report = model::Sweep(options, kSchedules, BodyOfProgram(drawn.program));
    ASSERT_TRUE(report.passed()) << drawn.text << "\n" << report;
  }
}

// Whichever thread is frozen, at whichever step: the others finish.
void ExpectNoThreadWaits(const Pair& program) {
  const Report report = model::ExhaustStalls(Named(0), BodyOfProgram(program));
  model::ExpectNoStall(report, 50);
}

TEST(LockfreeQueueModelStall, FrozenFailOrEvent) {
  ExpectNoThreadWaits({kPopped, {kFail, kEvent}});
}
TEST(LockfreeQueueModelStall, FrozenPopOrUpdate) {
  ExpectNoThreadWaits({kAdd, {kSchedule, kUpdate}});
}
TEST(LockfreeQueueModelStall, FrozenActivationOrDelete) {
  ExpectNoThreadWaits({kInPool, {kActivate, kDelete, kSchedule}});
}
TEST(LockfreeQueueModelStall, FrozenAddOrDone) { ExpectNoThreadWaits({kPopped, {kAdd, kDone}}); }
// Reads, too, wait for no thread and delay none.
const Act<ModelQueueShape> kRead = [](Scene& scene) {
  static_cast<void>(scene.PlaceOf(0));
  static_cast<void>(scene.queue().List(Place::kActive));
  static_cast<void>(scene.queue().Counts());
};
TEST(LockfreeQueueModelStall, FrozenBindOrRead) {
  ExpectNoThreadWaits({kPopped, {kBind, kRead, kUpdate}});
  ExpectNoThreadWaits({kInPool, {kRead, kActivate, kSchedule}});
}
TEST(LockfreeQueueModelStall, FrozenFlush) {
  ExpectNoThreadWaits({Both(kPopped, kFailByError), {kFlushBackoff, kFlushPool, kSchedule}});
}

}  // namespace
}  // namespace schedq
