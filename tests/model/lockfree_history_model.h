// Histories of the assembled engine in the model: what programs may do, a sequential queue of two
// pods as their specification, scenes that are recorded and judged, and what they begin with.
//
// Threads: as in lockfree_queue_model.h.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/queue_answers.h"
#include "tests/model/lockfree_queue_model.h"
#include "tests/support/history.h"
#include "tests/support/linearizability.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/happens_before.h"

namespace schedq {

// What a program may do with the pods: 0 is better than 1, until 1 is raised above it.
enum class Deed : uint8_t {
  kAdd,
  kActivate,
  kDelete,
  kRaise,
  kRaisedAgain,
  kNominate,
  kFail,
  kDone,
  kEvent,
  kEventTooSoon,
  kFlush,
  kTick,
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
    int expires = 0;            // The second in which its backoff ends.
    auto operator<=>(const PodState&) const = default;
  };
  struct State {
    std::array<PodState, 2> pods;
    int now = 0;  // In seconds.
    auto operator<=>(const State&) const = default;
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
      case Deed::kRaisedAgain:
        if (InPool(pod.place)) pod.place = Place::kActive;
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
        return kNothing;
      case Deed::kTick:
        state.now += 1;
        return kNothing;
      case Deed::kWait:
        state.now += 2;
        return kNothing;
      case Deed::kFail:
        Fail(state, pod);
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
        for (PodState& each : state.pods) {
          const bool is_due = each.expires < state.now;
          if (each.place == Place::kBackoff && is_due) each.place = Place::kActive;
        }
        return kNothing;
      case Deed::kPop:
        return Pop(state);
    }
    return kNothing;
  }

  // An update of a pod in flight is a new record and then an event. A pod that fails, is popped
  // and fails again between the two is judged for both.
  static bool IsOptional(const Operation& operation) {
    return operation.deed == Deed::kRaisedAgain;
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
  static void Fail(const State& state, PodState& pod) {
    const bool is_over = pod.place == Place::kAbsent && pod.is_live;
    if (pod.place != Place::kInFlight && !is_over) return;
    pod.expires = state.now + 1;
    const bool is_woken = is_over || pod.missed_event;
    pod.place = is_woken ? Place::kActive : Place::kUnschedulable;
    if (!pod.is_live) pod.place = Place::kAbsent;
  }
  // Of two pods in one place. An early pop takes those first whose backoff ends first.
  static bool GoesBefore(Place place, const PodState& pod, const PodState& other) {
    if (place == Place::kBackoff && pod.expires != other.expires) {
      return pod.expires < other.expires;
    }
    return pod.priority > other.priority;
  }
  static Result Pop(State& state) {
    for (const Place place : {Place::kActive, Place::kBackoff}) {
      Result best = kNothing;
      for (int i = 0; i < 2; ++i) {
        const PodState& pod = state.pods[static_cast<size_t>(i)];
        if (pod.place != place) continue;
        if (best == kNothing || GoesBefore(place, pod, state.pods[static_cast<size_t>(best)])) {
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
    static constexpr std::array<const char*, 14> kNames = {
        "add",  "activate", "delete",         "raise", "raised again", "nominate", "fail",
        "done", "event",    "event too soon", "flush", "tick",         "wait",     "pop"};
    const std::string name = kNames[static_cast<size_t>(operation.deed)];
    const bool is_of_a_pod = operation.deed < Deed::kEvent;
    return is_of_a_pod ? name + " " + std::to_string(operation.pod) : name;
  }
  static std::string Describe(const Result& result) {
    return result == kNothing ? "nothing" : std::to_string(result);
  }
};

inline constexpr Duration kBackoff = std::chrono::seconds(1);
using Step = QueueSpec::Operation;
using Steps = std::vector<Step>;

// A scene whose operations are recorded. Ends of threads are the model's moments of judgement.
template <typename Shape>
class RecordedScene {
 public:
  RecordedScene(uint32_t threads, Duration backoff) : scene_(backoff), recorder_(threads + 1) {}

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
    const int result = recorder_.Record(thread, step, [&] { return Do(step); });
    if (step.deed == Deed::kRaise) {
      recorder_.RecordAlso(thread, {Deed::kRaisedAgain, step.pod}, QueueSpec::kNothing);
    }
    return result;
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
      case Deed::kRaisedAgain:
        return QueueSpec::kNothing;  // It is no call.
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
      case Deed::kTick:
        scene_.world.now += kBackoff;
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

inline const Steps kBothActive = {{Deed::kAdd, 0}, {Deed::kAdd, 1}};
inline const Steps kBetterInFlight = {{Deed::kAdd, 0}, {Deed::kAdd, 1}, {Deed::kPop, 0}};
inline const Steps kBetterInPool = {
    {Deed::kAdd, 0}, {Deed::kAdd, 1}, {Deed::kPop, 0}, {Deed::kFail, 0}};

inline const Steps kBetterBacksOff = {{Deed::kAdd, 0},  {Deed::kAdd, 1},       {Deed::kPop},
                                      {Deed::kFail, 0}, {Deed::kEventTooSoon}, {Deed::kWait}};

// Their backoffs end in different seconds, the first of which is over.
inline const Steps kBothBackOff = {{Deed::kAdd, 0},  {Deed::kAdd, 1},       {Deed::kPop},
                                   {Deed::kFail, 0}, {Deed::kPop},          {Deed::kTick},
                                   {Deed::kFail, 1}, {Deed::kEventTooSoon}, {Deed::kTick}};

inline const std::vector<Beginning>& Beginnings() {
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
       kBackoff},
      {"both back off, the better one is due",
       kBothBackOff,
       {{Deed::kFlush}, {Deed::kPop}, {Deed::kActivate, 0}, {Deed::kActivate, 1}},
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

inline model::Options Named(const std::string& suffix, uint32_t preemptions_max) {
  model::Options options = model::OptionsOfTest(suffix);
  options.preemptions_max = preemptions_max;
  options.stale_reads_max = 0;
  options.weak_failures_max = 0;
  options.steps_max = 20'000;
  return options;
}

inline std::string TextOf(const Steps& steps) {
  std::string text;
  for (const Step& step : steps) text += QueueSpec::Describe(step) + ", ";
  return text;
}

}  // namespace schedq
