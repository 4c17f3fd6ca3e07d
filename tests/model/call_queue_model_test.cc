// Goal: however operations on one object meet each other and the dispatching thread, every call
// ends exactly once, at most one is in flight, nothing is lost, and no thread waits.
// Method: two or three threads, exhaustive within bounds; then seeds; then every thread frozen at
// every step. After each schedule the queue is driven until it is idle, and the ends are counted.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "tests/support/call_scene.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;

struct TinyShape {
  static constexpr uint32_t kBlockBits = 2;
  static constexpr uint32_t kHorizonBits = 6;
  static constexpr uint32_t kFirstTimersBits = 1;
  static constexpr uint32_t kCallsKept = 2;
};

model::Options Named(uint32_t preemptions_max) {
  model::Options options = model::OptionsOfTest();
  options.preemptions_max = preemptions_max;
  options.stale_reads_max = 1;
  return options;
}

// Time stands still unless the test moves it, between phases.
class StillClock final : public Clock {
 public:
  Instant Now() const override { return now; }
  TimerId At(Instant, std::function<void()>) override { return 0; }
  TimerId Every(Instant, Duration, std::function<void()>) override { return 0; }
  bool Cancel(TimerId) override { return false; }
  Instant now{};
};

// A queue whose calls are counted as they start and end. The server is the test.
struct Scene final : CallListener {
  static constexpr uint64_t kTags = 4;

  explicit Scene(uint32_t in_flight_max = 8)
      : queue({.clock = &clock, .in_flight_max = in_flight_max, .calls_per_second = 0}) {}

  void OnEnd(const ApiCall& call, CallEnd end, const Status&) override {
    ends[call.tag].fetch_add(1);
    if (end == CallEnd::kSuccess) told[call.tag].fetch_add(1);
  }
  void OnSuccessorEnd(const ApiCall&, uint64_t tag, const Status&) override {
    told[tag].fetch_add(1);
  }
  CallSpec Spec(uint64_t tag, Duration delay = {}) { return {0, tag, delay, pod, this}; }

  // Starts what is due; those calls complete when Finish is called.
  void Dispatch() {
    queue.Dispatch(clock.now, [this](const ApiCall& call) {
      MODEL_CHECK(flying[call.object].fetch_add(1) == 0, "one in flight an object");
      started.fetch_add(1);
    });
  }
  // The server's answer. The next call may start before the listener is told of this one.
  void Complete(ObjectId object) {
    flying[object].fetch_sub(1);
    queue.Complete(object, Status());
  }
  // Dispatches and completes until nothing moves any more.
  void Settle(Duration later = milliseconds(20)) {
    clock.now += later;
    for (int round = 0; round < 8; ++round) {
      Dispatch();
      if (flying[0].load() == 1) Complete(0);
    }
    MODEL_CHECK(queue.InFlight() == 0, "all have landed");
  }
  void ExpectEachEndedOnce(uint64_t tags) {
    for (uint64_t tag = 0; tag < tags; ++tag) {
      MODEL_CHECK(ends[tag].load() == 1, "call " + std::to_string(tag) + " ended " +
                                             std::to_string(ends[tag].load()) + " times");
    }
  }

  StillClock clock;
  PodRef pod = UnmarkedPod();
  std::array<model::Atomic<int>, kTags> ends{};
  // How often a listener was told that the call's content was sent.
  std::array<model::Atomic<int>, kTags> told{};
  std::array<model::Atomic<int>, 2> flying{};
  model::Atomic<int> started{0};
  CallQueue<model::Atomic, TinyShape> queue;
};

void ExpectRight(const model::Body& body, uint32_t preemptions_max = 2) {
  const model::Report report = model::Exhaust(Named(preemptions_max), body);
  model::ExpectExhausted(report, 100);
}

model::Body AddsMeet() {
  return [](model::Trial& trial) {
    Scene scene;
    trial.Thread([&] { scene.queue.Add(SetMessage(scene.Spec(0), "a")); });
    trial.Thread([&] { scene.queue.Add(BindTo(scene.Spec(1), "node")); });
    trial.Join();
    scene.Settle();
    scene.ExpectEachEndedOnce(2);
    MODEL_CHECK(scene.started.load() >= 1, "the binding is made");
  };
}
TEST(CallQueueModel, AddsMeet) { ExpectRight(AddsMeet(), 3); }

model::Body CancelMeetsDispatch() {
  return [](model::Trial& trial) {
    Scene scene;
    scene.queue.Add(SetMessage(scene.Spec(0), "a"));
    trial.Thread([&] { scene.queue.Cancel(0); });
    trial.Thread([&] { scene.Dispatch(); });
    trial.Join();
    scene.Settle();
    scene.ExpectEachEndedOnce(1);
    trial.Observe({scene.started.load()});
  };
}
TEST(CallQueueModel, CancelMeetsDispatch) { ExpectRight(CancelMeetsDispatch(), 3); }

model::Body AddMeetsDispatch() {
  return [](model::Trial& trial) {
    Scene scene;
    scene.queue.Add(SetMessage(scene.Spec(0), "a"));
    trial.Thread([&] { scene.queue.Add(SetMessage(scene.Spec(1), "b")); });
    trial.Thread([&] { scene.Dispatch(); });
    trial.Join();
    scene.Settle();
    scene.ExpectEachEndedOnce(2);
    MODEL_CHECK(scene.started.load() >= 1, "the newer message is sent");
  };
}
TEST(CallQueueModel, AddMeetsDispatch) { ExpectRight(AddMeetsDispatch(), model::PreemptionsOr(2)); }

model::Body AddMeetsComplete() {
  return [](model::Trial& trial) {
    Scene scene;
    scene.queue.Add(SetMessage(scene.Spec(0), "a"));
    scene.Dispatch();
    trial.Thread([&] { scene.queue.Add(SetMessage(scene.Spec(1), "b")); });
    trial.Thread([&] { scene.Complete(0); });
    trial.Thread([&] { scene.Dispatch(); });
    trial.Join();
    scene.Settle();
    scene.ExpectEachEndedOnce(2);
    MODEL_CHECK(scene.started.load() == 2, "both messages are sent");
  };
}
TEST(CallQueueModel, AddMeetsComplete) { ExpectRight(AddMeetsComplete()); }

model::Body SuccessorMeetsDispatch() {
  return [](model::Trial& trial) {
    Scene scene;
    scene.queue.Add(SetMessage(scene.Spec(0), "a"));
    trial.Thread([&] { scene.queue.Add(NominateNode(scene.Spec(1), "node")); });
    trial.Thread([&] { scene.Dispatch(); });
    trial.Join();
    scene.Settle();
    scene.ExpectEachEndedOnce(2);
    MODEL_CHECK(scene.told[0].load() == 1, "the message's listener is told of it once");
    trial.Observe({scene.started.load()});
  };
}
TEST(CallQueueModel, SuccessorMeetsDispatch) {
  ExpectRight(SuccessorMeetsDispatch(), model::PreemptionsOr(2));
}

model::Body CloseMeetsAdd() {
  return [](model::Trial& trial) {
    Scene scene;
    trial.Thread([&] { scene.queue.Add(SetMessage(scene.Spec(0), "a")); });
    trial.Thread([&] { scene.queue.Close(); });
    trial.Join();
    scene.ExpectEachEndedOnce(1);
    scene.Settle();
    MODEL_CHECK(scene.started.load() == 0, "nothing starts after Close");
  };
}
TEST(CallQueueModel, CloseMeetsAdd) { ExpectRight(CloseMeetsAdd(), 3); }

// A call waits; one thread overwrites it while another closes. Once that one is told that all was
// skipped, all was, wherever the first thread is frozen.
model::Body SkippedAllMeetsAdd() {
  return [](model::Trial& trial) {
    Scene scene;
    scene.queue.Add(SetMessage(scene.Spec(0, milliseconds(5)), "a"));
    trial.Thread([&] { scene.queue.Add(SetMessage(scene.Spec(1, milliseconds(5)), "b")); });
    trial.Thread([&] {
      scene.queue.Close();
      if (!scene.queue.HasSkippedAll()) return;
      MODEL_CHECK(scene.ends[0].load() == 1, "what waited before has ended");
      trial.Observe({scene.ends[1].load()});
    });
    trial.Join();
    MODEL_CHECK(scene.queue.HasSkippedAll(), "nobody is in a turn");
    scene.ExpectEachEndedOnce(2);
  };
}
TEST(CallQueueModel, SkippedAllMeetsAdd) { ExpectRight(SkippedAllMeetsAdd(), 3); }

// Also if the thread that adds the call is frozen after it has placed the call.
model::Body NothingStartsAfterClose() {
  return [](model::Trial& trial) {
    Scene scene;
    trial.Thread([&] { scene.queue.Add(SetMessage(scene.Spec(0), "a")); });
    trial.Thread([&] {
      scene.queue.Close();
      scene.Dispatch();
      MODEL_CHECK(scene.started.load() == 0, "nothing starts after Close");
    });
    trial.Join();
    scene.ExpectEachEndedOnce(1);
  };
}
TEST(CallQueueModel, NothingStartsAfterClose) { ExpectRight(NothingStartsAfterClose(), 3); }

// An addition that asks whether it is wanted is not added after what made it unwanted. `overtake`
// leaves nothing that waits.
template <typename Overtake>
model::Body Overtaken(const Overtake& overtake) {
  return [overtake](model::Trial& trial) {
    Scene scene;
    model::Atomic<bool> is_wanted{true};
    trial.Thread([&] {
      scene.queue.AddIf(SetMessage(scene.Spec(0), "a"), [&] { return is_wanted.load(); });
    });
    trial.Thread([&] {
      is_wanted.store(false);
      overtake(scene);
      scene.Dispatch();
    });
    trial.Join();
    scene.Dispatch();
    MODEL_CHECK(scene.started.load() == 0, "an unwanted call is not added");
  };
}
void CancelFirst(Scene& scene) { scene.queue.Cancel(0); }
void ClearFirst(Scene& scene) { scene.queue.Add(ClearMessage(scene.Spec(1))); }
TEST(CallQueueModel, AdditionOvertakenByACancellation) { ExpectRight(Overtaken(CancelFirst)); }
TEST(CallQueueModel, AdditionOvertakenByOneThatIsDropped) { ExpectRight(Overtaken(ClearFirst)); }

class NotingWaker final : public CallWaker {
 public:
  void WakeBy(Instant) override { is_woken.store(true); }
  model::Atomic<bool> is_woken{false};
};

// Two calls are in flight, and a third waits for room. The dispatching thread is told of the room
// that a thread has made, also if the other one is frozen before it tells.
TEST(CallQueueModelStall, FrozenCompleteHidesNoRoom) {
  const auto body = [](model::Trial& trial) {
    StillClock clock;
    NotingWaker waker;
    CallQueue<model::Atomic, TinyShape> queue(
        {.clock = &clock, .waker = &waker, .in_flight_max = 2, .calls_per_second = 0});
    for (ObjectId object = 0; object < 3; ++object) queue.Add(BindTo({object, 0}, "node"));
    queue.Dispatch(clock.now, [](const ApiCall&) {});
    waker.is_woken.store(false);
    trial.Thread([&] { queue.Complete(0, Status()); });
    trial.Thread([&] {
      queue.Complete(1, Status());
      MODEL_CHECK(waker.is_woken.load(), "there is room");
    });
    trial.Join();
  };
  model::ExpectNoStall(model::ExhaustStalls(Named(0), body), 20);
}

TEST(CallQueueModelSweep, FourThreads) {
  const auto body = [](model::Trial& trial) {
    Scene scene;
    trial.Thread([&] {
      scene.queue.Add(SetMessage(scene.Spec(0, milliseconds(5)), "a"));
      scene.queue.Add(ClearMessage(scene.Spec(1)));
    });
    trial.Thread([&] {
      scene.queue.Add(BindTo(scene.Spec(2), "node"));
      scene.Dispatch();
    });
    trial.Thread([&] {
      scene.queue.Sync(0, scene.pod);
      scene.queue.Add(SetMessage(scene.Spec(3), "b"));
      scene.Dispatch();
    });
    trial.Join();
    scene.Settle();
    scene.ExpectEachEndedOnce(4);
  };
  const model::Report report = model::Sweep(Named(0), 20'000, body);
  EXPECT_TRUE(report.passed()) << report;
}

TEST(CallQueueModelStall, FrozenThreadStopsNoOther) {
  for (const model::Body& body :
       {AddsMeet(), CancelMeetsDispatch(), AddMeetsDispatch(), SuccessorMeetsDispatch(),
        CloseMeetsAdd(), SkippedAllMeetsAdd(), NothingStartsAfterClose()}) {
    const model::Report report = model::ExhaustStalls(Named(1), body);
    model::ExpectNoStall(report, 10);
  }
}

}  // namespace
}  // namespace schedq
