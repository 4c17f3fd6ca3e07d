// Goal: whichever thread is stopped, wherever: what the other threads' operations have returned is
// what one queue behind a lock would have returned, in some order that respects which came before
// which.
// Method: histories of the assembled engine are judged against a sequential queue of two pods, a
// thread's history as soon as its operations are over, while the others stand where they stand.
// Every client of one operation of a thread and two of another is explored with each thread frozen
// at each of its steps; pairs that meet on one pod also with two preemptions; longer programs of
// three threads by seeds. Engines that leave one kind of help out must be caught.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/lockfree/moves/move_cause.h"
#include "engine/lockfree/moves/move_finisher.h"
#include "engine/lockfree/moves/pod_mover.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queue_answers.h"
#include "tests/model/lockfree_queue_model.h"
#include "tests/support/history.h"
#include "tests/support/linearizability.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/happens_before.h"
#include "tests/support/model/runtime.h"

namespace schedq {

// What a program may do with the pods: 0 is better than 1, until 1 is raised above it.
enum class Deed : uint8_t {
  kAdd,
  kActivate,
  kDelete,
  kRaise,
  kNominate,
  kFail,
  kDone,
  kEvent,
  kEventTooSoon,
  kFlush,
  kWait,
  kPop
};

// One queue, one operation after another.
struct QueueSpec {
  struct Operation {
    Deed deed = Deed::kPop;
    uint8_t pod = 0;
  };
  struct PodState {
    Place place = Place::kAbsent;
    int32_t priority = 0;
    bool is_live = false;
    bool missed_event = false;  // In flight: something happened that would let it through.
    auto operator<=>(const PodState&) const = default;
  };
  struct State {
    std::array<PodState, 2> pods;
    bool operator<(const State& other) const { return pods < other.pods; }
  };
  // The pod that was popped, or none; other operations say nothing.
  using Result = int;
  static constexpr Result kNothing = -1;

  static Result Apply(State& state, const Operation& operation) {
    PodState& pod = state.pods[operation.pod];
    switch (operation.deed) {
      case Deed::kAdd:
      case Deed::kRaise:
        Tell(pod, operation);
        return kNothing;
      case Deed::kActivate:
        if (InPool(pod.place) || pod.place == Place::kBackoff) pod.place = Place::kActive;
        if (pod.place == Place::kInFlight) pod.missed_event = true;
        return kNothing;
      case Deed::kDelete:
        pod.is_live = false;
        if (pod.place != Place::kInFlight) pod.place = Place::kAbsent;
        return kNothing;
      case Deed::kNominate:
      case Deed::kWait:
        return kNothing;
      case Deed::kFail:
        Fail(pod);
        return kNothing;
      case Deed::kDone:
        if (pod.place == Place::kInFlight) pod.place = Place::kAbsent;
        return kNothing;
      case Deed::kEvent:
        Move(state, Place::kUnschedulable, Place::kActive);
        for (PodState& each : state.pods) each.missed_event |= each.place == Place::kInFlight;
        return kNothing;
      case Deed::kEventTooSoon:
        Move(state, Place::kUnschedulable, Place::kBackoff);
        return kNothing;
      case Deed::kFlush:
        Move(state, Place::kBackoff, Place::kActive);
        return kNothing;
      case Deed::kPop:
        return Pop(state);
    }
    return kNothing;
  }

  static constexpr int32_t kRise = 2;  // No two pods have one priority.
  static int32_t PriorityOf(size_t pod) { return pod == 0 ? 2 : 1; }

  static void Move(State& state, Place from, Place to) {
    for (PodState& pod : state.pods) {
      if (pod.place == from) pod.place = to;
    }
  }
  // A version of the pod: a new one is active, another may help itself.
  static void Tell(PodState& pod, const Operation& operation) {
    pod.priority = PriorityOf(operation.pod) + (operation.deed == Deed::kRaise ? kRise : 0);
    pod.is_live = true;
    if (pod.place == Place::kAbsent || InPool(pod.place)) pod.place = Place::kActive;
    if (pod.place == Place::kInFlight) pod.missed_event = true;
  }
  // An attempt that was over already has missed what there was.
  static void Fail(PodState& pod) {
    const bool is_over = pod.place == Place::kAbsent && pod.is_live;
    if (pod.place != Place::kInFlight && !is_over) return;
    const bool is_woken = is_over || pod.missed_event;
    pod.place = is_woken ? Place::kActive : Place::kUnschedulable;
    if (!pod.is_live) pod.place = Place::kAbsent;
  }
  static Result Pop(State& state) {
    for (const Place place : {Place::kActive, Place::kBackoff}) {
      Result best = kNothing;
      for (int i = 0; i < 2; ++i) {
        const PodState& pod = state.pods[static_cast<size_t>(i)];
        if (pod.place != place) continue;
        if (best == kNothing || pod.priority > state.pods[static_cast<size_t>(best)].priority) {
          best = i;
        }
      }
      if (best == kNothing) continue;
      state.pods[static_cast<size_t>(best)].place = Place::kInFlight;
      state.pods[static_cast<size_t>(best)].missed_event = false;
      return best;
    }
    return kNothing;
  }

  static std::string Describe(const Operation& operation) {
    static constexpr std::array<const char*, 12> kNames = {
        "add",  "activate", "delete",         "raise", "nominate", "fail",
        "done", "event",    "event too soon", "flush", "wait",     "pop"};
    const std::string name = kNames[static_cast<size_t>(operation.deed)];
    const bool is_of_a_pod = operation.deed < Deed::kEvent;
    return is_of_a_pod ? name + " " + std::to_string(operation.pod) : name;
  }
  static std::string Describe(const Result& result) {
    return result == kNothing ? "nothing" : std::to_string(result);
  }
};

constexpr Duration kBackoff = std::chrono::seconds(1);
using Step = QueueSpec::Operation;
using Steps = std::vector<Step>;

// Engines that leave one help out.
struct FinishesNothing : ModelQueueShape {};
struct FinishesNoKnownPod : ModelQueueShape {};
// Something happens right before each move.
struct IsInterrupted : ModelQueueShape {
  static inline std::function<void()> before_move = [] {};
};

template <>
bool MoveFinisher<ModelParts<FinishesNothing>>::FinishAll() {
  return false;
}
template <>
auto MoveFinisher<ModelParts<FinishesNoKnownPod>>::PinFinished(PodId id) -> Pinned {
  return parts_.table.Pin(id);
}

template <>
bool PodMover<ModelParts<IsInterrupted>>::CommitMove(PodId id, const Pinned& pinned, Change* change,
                                                     MoveCause cause, Announcement* announcement) {
  IsInterrupted::before_move();
  return CommitAs<false>(id, pinned, change, cause, announcement);
}

namespace {

using model::FailureKind;
using model::Report;

// A scene whose operations are recorded. Ends of threads are the model's moments of judgement.
template <typename Shape>
class RecordedScene {
 public:
  explicit RecordedScene(uint32_t threads, Duration backoff)
      : scene_(backoff), recorder_(threads + 1) {}

  void Run(uint32_t thread, const Steps& steps) {
    for (const Step& step : steps) RunStep(thread, step);
  }
  // Pops all there is and judges what was recorded, other threads' unfinished operations included.
  void PopAllAndJudge(uint32_t thread) {
    while (RunStep(thread, {Deed::kPop, 0}) != QueueSpec::kNothing) {
    }
    const Linearizability verdict = CheckLinearizable(recorder_.History());
    MODEL_CHECK(verdict.holds, verdict.explanation);
  }

 private:
  int RunStep(uint32_t thread, const Step& step) {
    return recorder_.Record(thread, step, [&] { return Do(step); });
  }
  int Do(const Step& step) {
    const PodRef& pod = scene_.pod(step.pod);
    switch (step.deed) {
      case Deed::kAdd:
        MustSucceed(scene_.queue().Add(VersionOf(step.pod, QueueSpec::PriorityOf(step.pod))));
        return QueueSpec::kNothing;
      case Deed::kActivate:
        scene_.Activate(step.pod);
        return QueueSpec::kNothing;
      case Deed::kDelete:
        scene_.Delete(step.pod);
        return QueueSpec::kNothing;
      case Deed::kRaise:
        MustSucceed(scene_.queue().Update(
            pod, VersionOf(step.pod, QueueSpec::PriorityOf(step.pod) + QueueSpec::kRise)));
        return QueueSpec::kNothing;
      case Deed::kNominate:
        MustSucceed(scene_.queue().Nominate(pod, "node"));
        return QueueSpec::kNothing;
      case Deed::kFail:
        scene_.RejectByFilter(scene_.Key(step.pod));
        return QueueSpec::kNothing;
      case Deed::kDone:
        scene_.queue().Done(scene_.Key(step.pod));
        return QueueSpec::kNothing;
      case Deed::kEvent:
      case Deed::kEventTooSoon:
        scene_.MakeRoom();
        return QueueSpec::kNothing;
      case Deed::kFlush:
        scene_.queue().FlushBackoff();
        return QueueSpec::kNothing;
      case Deed::kWait:
        scene_.world.now += 2 * kBackoff;
        return QueueSpec::kNothing;
      case Deed::kPop:
        break;
    }
    const std::optional<PoppedPod> popped = scene_.queue().TryPop();
    return popped ? popped->pod->name[0] - 'a' : QueueSpec::kNothing;
  }
  static PodRef VersionOf(size_t pod, int32_t priority) {
    return ModelScene<Shape>::MakeVersion(pod, priority, std::to_string(priority));
  }

  ModelScene<Shape> scene_;
  Recorder<QueueSpec, model::ExecutionOrder> recorder_;
};

// What there is when the threads begin: made by operations that are recorded too.
struct Beginning {
  const char* name;
  Steps steps;
  // What makes sense there, of one pod or the other.
  Steps deeds;
  Duration backoff{0};
};

const Steps kBothActive = {{Deed::kAdd, 0}, {Deed::kAdd, 1}};
const Steps kBetterInFlight = {{Deed::kAdd, 0}, {Deed::kAdd, 1}, {Deed::kPop, 0}};
const Steps kBetterInPool = {{Deed::kAdd, 0}, {Deed::kAdd, 1}, {Deed::kPop, 0}, {Deed::kFail, 0}};

const Steps kBetterBacksOff = {{Deed::kAdd, 0},  {Deed::kAdd, 1},       {Deed::kPop},
                               {Deed::kFail, 0}, {Deed::kEventTooSoon}, {Deed::kWait}};

const std::vector<Beginning>& Beginnings() {
  static const std::vector<Beginning> kAll = {
      {"one active",
       {{Deed::kAdd, 1}},
       {{Deed::kAdd, 0},
        {Deed::kActivate, 0},
        {Deed::kDelete, 0},
        {Deed::kNominate, 0},
        {Deed::kRaise, 1},
        {Deed::kPop},
        {Deed::kEvent}}},
      {"both active",
       kBothActive,
       {{Deed::kPop},
        {Deed::kRaise, 0},
        {Deed::kRaise, 1},
        {Deed::kDelete, 0},
        {Deed::kNominate, 1},
        {Deed::kActivate, 1}}},
      {"the better one in flight",
       kBetterInFlight,
       {{Deed::kFail, 0},
        {Deed::kEvent},
        {Deed::kActivate, 0},
        {Deed::kDone, 0},
        {Deed::kDelete, 0},
        {Deed::kPop}}},
      {"the better one in flight, and told of",
       kBetterInFlight,
       {{Deed::kFail, 0}, {Deed::kRaise, 0}, {Deed::kDone, 0}, {Deed::kPop}}},
      {"the better one in the pool",
       kBetterInPool,
       {{Deed::kEvent},
        {Deed::kActivate, 0},
        {Deed::kRaise, 0},
        {Deed::kAdd, 0},
        {Deed::kDelete, 0},
        {Deed::kPop}}},
      {"the better one backs off",
       kBetterBacksOff,
       {{Deed::kFlush}, {Deed::kPop}, {Deed::kActivate, 0}, {Deed::kRaise, 0}, {Deed::kDelete, 0}},
       kBackoff}};
  return kAll;
}

// When the threads pop what is left and what they saw is judged.
enum class Judged : uint8_t { kByEachThread, kAtTheEnd };

template <typename Shape>
model::Body BodyOf(const Beginning& beginning, const std::vector<Steps>& threads,
                   Judged judged = Judged::kByEachThread) {
  ModelScene<Shape>().Schedule();  // What fills itself at first use belongs to no schedule.
  return [=](model::Trial& trial) {
    RecordedScene<Shape> recorded(static_cast<uint32_t>(threads.size()), beginning.backoff);
    recorded.Run(0, beginning.steps);
    for (uint32_t i = 0; i < threads.size(); ++i) {
      trial.Thread([&recorded, &threads, judged, i] {
        recorded.Run(i + 1, threads[i]);
        if (judged == Judged::kByEachThread) recorded.PopAllAndJudge(i + 1);
      });
    }
    trial.Join();
    recorded.PopAllAndJudge(0);
  };
}

model::Options Named(const std::string& suffix, uint32_t preemptions_max) {
  model::Options options = model::OptionsOfTest(suffix);
  options.preemptions_max = preemptions_max;
  options.stale_reads_max = 0;
  options.weak_failures_max = 0;
  options.steps_max = 20'000;
  return options;
}

std::string TextOf(const Steps& steps) {
  std::string text;
  for (const Step& step : steps) text += QueueSpec::Describe(step) + ", ";
  return text;
}

// Either thread is frozen at each of its steps, and the other judges what it sees meanwhile.
class LockfreeHistoryModel : public testing::TestWithParam<size_t> {};

TEST_P(LockfreeHistoryModel, AnyThreadMayBeFrozenAnywhere) {
  const Beginning& beginning = Beginnings()[GetParam()];
  uint64_t freezes = 0;
  for (const Step& one : beginning.deeds) {
    for (const Step& first : beginning.deeds) {
      for (const Step& second : beginning.deeds) {
        const std::vector<Steps> threads = {{one}, {first, second}};
        const std::string text = TextOf(threads[0]) + "meets " + TextOf(threads[1]);
        const Report report =
            model::ExhaustStalls(Named(text, 0), BodyOf<ModelQueueShape>(beginning, threads));
        ASSERT_TRUE(report.passed()) << beginning.name << ": " << text << "\n" << report;
        freezes += report.freezes;
      }
    }
  }
  EXPECT_GT(freezes, 1000u);
}
INSTANTIATE_TEST_SUITE_P(From, LockfreeHistoryModel, testing::Range<size_t>(0, 6));

// An early pop has seen active empty; then a pod becomes active, and a better one backs off.
TEST(LockfreeEarlyPopModel, AsksWhetherActiveIsStillEmpty) {
  const Beginning in_pool = {"", {{Deed::kAdd, 0}, {Deed::kPop}, {Deed::kFail, 0}}, {}, kBackoff};
  const std::vector<Steps> threads = {{{Deed::kPop}}, {{Deed::kAdd, 1}, {Deed::kEventTooSoon}}};
  const model::Body body = BodyOf<ModelQueueShape>(in_pool, threads, Judged::kAtTheEnd);
  model::ExpectExhausted(model::Exhaust(Named("", 2), body), 100);
}

// Two threads that meet, with two preemptions; a pop's answer is judged by what is left.
TEST_P(LockfreeHistoryModel, AnyTwoOperationsMayMeet) {
  const Beginning& beginning = Beginnings()[GetParam()];
  const Steps& deeds = beginning.deeds;
  for (size_t i = 0; i < deeds.size(); ++i) {
    for (size_t j = i; j < deeds.size(); ++j) {
      const std::string text = TextOf({deeds[i], deeds[j]});
      const model::Body body =
          BodyOf<ModelQueueShape>(beginning, {{deeds[i]}, {deeds[j]}}, Judged::kAtTheEnd);
      const Report report = model::Exhaust(Named(text, model::PreemptionsOr(1)), body);
      ASSERT_TRUE(report.passed() && report.complete) << beginning.name << ": " << text << "\n"
                                                      << report;
    }
  }
}

// A flush wakes as many as it gives work to.
TEST(LockfreeWakingModel, FlushWakesAllWhoWait) {
  const auto pop = [](ModelScene<ModelQueueShape>& scene) {
    MODEL_CHECK(scene.queue().Pop(std::nullopt).has_value(), "it waits until there is a pod");
  };
  Program<ModelQueueShape> program;
  program.backoff = kBackoff;
  program.before = [](ModelScene<ModelQueueShape>& scene) {
    for (const size_t pod : {size_t{0}, size_t{1}}) {
      scene.Add(pod);
      static_cast<void>(scene.queue().TryPop());
      // By error: what backs off otherwise is popped early, and nobody would wait.
      static_cast<void>(scene.queue().Fail(scene.Key(pod), {}, {}));
    }
    scene.world.now += 2 * kBackoff;
  };
  program.threads = {pop, pop,
                     [](ModelScene<ModelQueueShape>& scene) { scene.queue().FlushBackoff(); }};
  const Report report = model::Sweep(Named("", 0), 3000, BodyOfProgram(program));
  EXPECT_TRUE(report.passed()) << report;
}

// An event comes between the failing pod's look at the log and its entry into the pool. If its
// thread is frozen there, it has not seen the event; a thread that finds the pod judges it for
// that.
TEST(LockfreeFrozenModel, FailMissesNoEvent) {
  const Steps fail = {{Deed::kFail, 0}};
  ModelScene<IsInterrupted>().Schedule();  // What fills itself at first use.
  const model::Body body = [&](model::Trial& trial) {
    constexpr uint32_t kEventsThread = 3;
    RecordedScene<IsInterrupted> recorded(kEventsThread, Duration(0));
    recorded.Run(0, kBetterInFlight);
    bool has_come = false;
    IsInterrupted::before_move = [&] {
      if (!std::exchange(has_come, true)) recorded.Run(kEventsThread, {{Deed::kEvent}});
    };
    trial.Thread([&] { recorded.Run(1, fail); });
    trial.Thread([&] {
      recorded.Run(2, fail);
      recorded.PopAllAndJudge(2);
    });
    trial.Join();
    IsInterrupted::before_move = [] {};
    recorded.PopAllAndJudge(0);
  };
  model::ExpectNoStall(model::ExhaustStalls(Named("", 0), body), 50);
}

// A thread that has seen a pod in active can pop it, also if the one that moved it has stopped.
TEST(LockfreeFrozenModel, PodThatIsSeenInActiveCanBePopped) {
  ModelScene<ModelQueueShape>().Schedule();  // What fills itself at first use.
  const model::Body body = [](model::Trial& trial) {
    ModelScene<ModelQueueShape> scene;
    trial.Thread([&] { scene.Add(0); });
    trial.Thread([&] {
      if (scene.PlaceOf(0) != Place::kActive) return;
      MODEL_CHECK(scene.queue().TryPop().has_value(), "the pod can be popped");
    });
    trial.Join();
    scene.Judge();
  };
  model::ExpectNoStall(model::ExhaustStalls(Named("", 0), body), 50);
}

void ExpectCaught(const Report& report) {
  EXPECT_TRUE(report.failed_by(FailureKind::kCheck)) << report;
}
TEST(LockfreeHistoryModelCanary, EventAndEmptyPopThatFinishNothingAreCaught) {
  const Steps event = {{Deed::kEvent}};
  ExpectCaught(model::ExhaustStalls(
      Named("", 0), BodyOf<FinishesNothing>({"", kBetterInPool, {}}, {event, event})));
}
TEST(LockfreeHistoryModelCanary, KnownPodThatIsNotFinishedIsCaught) {
  const Steps known = {{Deed::kAdd, 0}};
  ExpectCaught(model::ExhaustStalls(
      Named("", 0), BodyOf<FinishesNoKnownPod>({"", {{Deed::kAdd, 1}}, {}}, {known, known})));
}

}  // namespace
}  // namespace schedq
