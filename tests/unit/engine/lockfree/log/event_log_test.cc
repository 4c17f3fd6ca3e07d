// Goal: the events that are kept for pods in flight are bounded, also if a position is held before
// them, and are let go in small steps; a Fail judges each event once, and holds nothing when a hint
// throws.
// Method: the log alone, with a count of what it lets go. The engine with a judge that the test
// scripts: it blocks, throws or changes the pod while a Fail asks it. What is kept is counted by
// the references to an object that all events share.
#include "engine/lockfree/log/event_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/lockfree/queue_shape.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "tests/support/queue_wiring.h"

namespace schedq {
namespace {

struct DropCounter {
  uint64_t* dropped;
  void operator()(EventLabel) const { ++*dropped; }
};
using Shape = LockfreeQueueShape;

class OneLog {
 public:
  void Append(uint64_t events = 1) {
    for (; events > 0; --events) {
      const uint64_t before = dropped_;
      log.Append({MakeEvent(Resource::kNode, Action::kAdd), {}});
      ASSERT_LE(dropped_ - before, Shape::kLogTrimMax);
    }
  }
  // How many events the end lets go.
  uint64_t End(FlightPosition position) {
    const uint64_t before = dropped_;
    log.End(position);
    return dropped_ - before;
  }

 private:
  uint64_t dropped_ = 0;

 public:
  EventLog<std::atomic, DropCounter, Shape> log{DropCounter{&dropped_}};
};

TEST(EventLogBounds, NoPositionKeepsMoreThanTheMaximum) {
  OneLog scene;
  const FlightPosition position = scene.log.Begin();
  auto reader = scene.log.BeginReading(position, [] { return true; });
  scene.Append(Shape::kLogEventsMax);
  EXPECT_EQ(scene.log.events(), Shape::kLogEventsMax);
  for (int i = 0; i < 2'000'000; ++i) {
    scene.Append();
    ASSERT_LE(scene.log.events(), Shape::kLogEventsMax);
  }
  // The held node, the first one of the list, and one that is appended before another goes.
  EXPECT_LE(scene.log.nodes(), Shape::kLogEventsMax + 3);
  EXPECT_EQ(reader->Next(), nullptr);
  EXPECT_TRUE(reader->HasMissed());
  reader.reset();
  scene.End(position);
  EXPECT_EQ(scene.log.events(), 0u) << "nobody needed them any more";
  EXPECT_TRUE(scene.log.IsEmpty());
}

TEST(EventLogBounds, EachHeldPositionKeepsOneNode) {
  OneLog scene;
  std::vector<FlightPosition> positions;
  for (int i = 0; i < 1000; ++i) {
    positions.push_back(scene.log.Begin());
    scene.Append();
  }
  scene.Append(1'000'000);
  EXPECT_LE(scene.log.nodes(), Shape::kLogEventsMax + 2 + positions.size());
  for (const FlightPosition position : positions) scene.End(position);
  // What was held is used again.
  const uint64_t nodes = scene.log.nodes();
  positions.assign(1, scene.log.Begin());
  scene.Append(1'000'000);
  EXPECT_EQ(scene.log.nodes(), nodes);
  scene.End(positions[0]);
}

TEST(EventLogBounds, EndAfterTheMaximumOfEventsIsAFewSteps) {
  OneLog scene;
  const FlightPosition position = scene.log.Begin();
  scene.Append(Shape::kLogEventsMax);
  EXPECT_EQ(scene.End(position), Shape::kLogTrimMax);
  uint64_t appended = 0;
  for (; !scene.log.IsEmpty(); ++appended) scene.Append();
  EXPECT_LE(appended, Shape::kLogEventsMax / (Shape::kLogTrimMax - 1) + 1);
}

// What one end has left goes with those that follow, though nothing is appended any more.
TEST(EventLogBounds, EndsWithoutEventsLetTheRestGo) {
  OneLog scene;
  const FlightPosition old = scene.log.Begin();
  scene.Append(Shape::kLogTrimMax);
  const FlightPosition behind = scene.log.Begin();
  scene.Append(2 * Shape::kLogTrimMax + 1);
  const FlightPosition last = scene.log.Begin();
  EXPECT_EQ(scene.End(old), Shape::kLogTrimMax);
  EXPECT_EQ(scene.End(last), 0u) << "a pod before it needs what is left";
  EXPECT_EQ(scene.End(behind), Shape::kLogTrimMax);
  EXPECT_EQ(scene.End(scene.log.Begin()), Shape::kLogTrimMax);
  EXPECT_EQ(scene.log.events(), 1u);
  EXPECT_EQ(scene.End(scene.log.Begin()), 1u);
  EXPECT_EQ(scene.End(scene.log.Begin()), 0u);
  EXPECT_TRUE(scene.log.IsEmpty());
}

// Answers as the test says, and counts what it is asked.
class ScriptedJudge final : public RequeueJudge, public PreEnqueueCheck {
 public:
  std::function<Verdict(const JudgedPod&, const ClusterEvent&)> answer =
      [](const JudgedPod&, const ClusterEvent&) { return Verdict::kSkip; };

  PluginId Check(const Pod&, PluginId) const override { return kNoPlugin; }
  std::string Explain(const Pod&, PluginId) const override { return ""; }
  PluginSet RegisteredFor(const ClusterEvent&) const override { return PluginSet::Of(0); }
  void Narrow(const ClusterEvent&, const ObjectChange&, Narrowing* narrowing) const override {
    narrowing->asked_of_all = kEveryRegistration;
    narrowing->plugins_of_all = PluginSet::Of(0);
  }
  void Judge(std::span<const JudgedPod> pods, const ClusterEvent& event, const ObjectChange&,
             std::span<Verdict> verdicts) const override {
    for (size_t i = 0; i < pods.size(); ++i) {
      verdicts[i] = event.IsWildcard() ? Verdict::kAfterBackoff : answer(pods[i], event);
    }
  }
};

// Acts once when a pod that failed has its place.
class ActsOnFailure final : public QueueObserver {
 public:
  std::function<void()> act = [] {};
  void OnMoved(const PodRef&, Place, Place, EventLabel label) override {
    if (label == LabelOf(SpecialLabel::kScheduleAttemptFailure)) std::exchange(act, [] {})();
  }
};

class FailingPod : public testing::Test {
 protected:
  explicit FailingPod(std::vector<QueueObserver*> observers = {}) {
    QueueOptions options = OptionsAround(&clock_, &names_, &judge_, &metrics_, {"Filter"});
    options.observers = std::move(observers);
    queue_.emplace(std::move(options));
    pod_ = MakePod("first");
    MustSucceed(queue_->Add(pod_));
    key_ = queue_->TryPop()->key;
  }

  static std::shared_ptr<Pod> MakePod(const std::string& version) {
    auto pod = std::make_shared<Pod>();
    pod->namespace_name = "ns";
    pod->name = "pod";
    pod->uid = "uid";
    pod->labels = {{"version", version}};
    return pod;
  }
  void Send(Action action = Action::kAdd) {
    queue_->Event(MakeEvent(Resource::kNode, action), {nullptr, node_});
  }
  Status Fail() { return queue_->Fail(key_, PluginSet::Of(0), {}); }
  Place PlaceOfPod() { return queue_->Where("ns/pod").place; }
  void ExpectNothingIsKept() {
    EXPECT_EQ(queue_->LoggedEvents(), 0u);
    EXPECT_EQ(queue_->Counts().in_flight, 0u);
    // The last event's node stays until another one comes.
    EXPECT_LE(node_.use_count(), 2);
  }

  VirtualClock clock_{Instant(std::chrono::seconds(1000))};
  BasicInterner<std::atomic> names_{2};
  ScriptedJudge judge_;
  MetricsRegistry metrics_;
  std::optional<LockfreeQueue> queue_;
  PodRef pod_;
  PodKey key_;
  const ObjectRef node_ = std::make_shared<ObjectView>();
};

TEST_F(FailingPod, FrozenFailKeepsTheMaximumOfEvents) {
  std::atomic<bool> is_asked{false};
  std::atomic<bool> may_answer{false};
  judge_.answer = [&](const JudgedPod&, const ClusterEvent&) {
    is_asked = true;
    is_asked.notify_one();
    may_answer.wait(false);
    return Verdict::kSkip;
  };
  Send();
  std::thread failing([&] { EXPECT_TRUE(Fail().ok()); });
  is_asked.wait(false);
  for (int i = 0; i < 2'000'000; ++i) Send();
  EXPECT_LE(queue_->LoggedEvents(), Shape::kLogEventsMax);
  EXPECT_LE(node_.use_count(), Shape::kLogEventsMax + 4);
  may_answer = true;
  may_answer.notify_one();
  failing.join();
  EXPECT_NE(PlaceOfPod(), Place::kUnschedulable) << "it missed events that may have helped it";
  for (int i = 0; i < 2000; ++i) Send();
  ExpectNothingIsKept();
}

TEST_F(FailingPod, PodInFlightForLongKeepsTheMaximumOfEvents) {
  for (int i = 0; i < 2'000'000; ++i) Send();
  EXPECT_LE(queue_->LoggedEvents(), Shape::kLogEventsMax);
  EXPECT_LE(node_.use_count(), Shape::kLogEventsMax + 4);
  EXPECT_TRUE(Fail().ok());
  EXPECT_NE(PlaceOfPod(), Place::kUnschedulable) << "it missed events that may have helped it";
  for (int i = 0; i < 2000; ++i) Send();
  ExpectNothingIsKept();
}

TEST_F(FailingPod, HintThatThrowsLeavesThePodInFlight) {
  judge_.answer = [](const JudgedPod&, const ClusterEvent&) -> Verdict {
    throw std::runtime_error("hint");
  };
  for (int i = 0; i < 10; ++i) Send();
  EXPECT_THROW(static_cast<void>(Fail()), std::runtime_error);
  EXPECT_EQ(PlaceOfPod(), Place::kInFlight);
  EXPECT_EQ(queue_->LoggedEvents(), 10u);
  EXPECT_EQ(queue_->Counts().in_flight, 1u);
  judge_.answer = [](const JudgedPod&, const ClusterEvent&) { return Verdict::kSkip; };
  EXPECT_TRUE(Fail().ok());
  EXPECT_EQ(PlaceOfPod(), Place::kUnschedulable);
  ExpectNothingIsKept();
}

class ObservedFailingPod : public FailingPod {
 protected:
  ObservedFailingPod() : FailingPod({&observer_}) {}
  static inline ActsOnFailure observer_;
};

// An event comes between the pod's entry into the pool and its second look at the log.
TEST_F(ObservedFailingPod, HintThatThrowsInThePoolEndsTheAttemptAllTheSame) {
  int asked = 0;
  judge_.answer = [&](const JudgedPod&, const ClusterEvent&) {
    if (++asked == 2) throw std::runtime_error("hint");
    return Verdict::kSkip;
  };
  observer_.act = [&] { Send(); };
  EXPECT_THROW(static_cast<void>(Fail()), std::runtime_error);
  EXPECT_NE(PlaceOfPod(), Place::kUnschedulable) << "nobody knows whether the event helps";
  EXPECT_NE(PlaceOfPod(), Place::kInFlight);
  ExpectNothingIsKept();
}

// So many that some are let go unread, though the pod was asked about each in the pool.
TEST_F(ObservedFailingPod, EventsMissedAtTheSecondLookMayHaveHelped) {
  Send();
  observer_.act = [&] {
    for (uint32_t i = 0; i <= Shape::kLogEventsMax; ++i) Send();
  };
  EXPECT_TRUE(Fail().ok());
  EXPECT_NE(PlaceOfPod(), Place::kUnschedulable) << "nobody knows whether one of them helps";
  EXPECT_LE(queue_->LoggedEvents(), Shape::kLogEventsMax);
  for (int i = 0; i < 2000; ++i) Send();
  ExpectNothingIsKept();
}

TEST_F(FailingPod, RetriedFailJudgesEachEventOnce) {
  std::map<EventLabel, int> asked;
  PodRef version = pod_;
  judge_.answer = [&](const JudgedPod&, const ClusterEvent& event) {
    ++asked[event.label];
    // The slot changes under the Fail, a few times.
    if (asked.size() < 5 && asked[event.label] == 1) {
      const PodRef after = MakePod(std::to_string(asked.size()));
      MustSucceed(queue_->Update(version, after));
      version = after;
    }
    return Verdict::kSkip;
  };
  const Action actions[] = {Action::kAdd,
                            Action::kUpdateNodeLabel,
                            Action::kUpdateNodeTaint,
                            Action::kUpdateNodeAllocatable,
                            Action::kUpdateNodeCondition,
                            Action::kUpdateNodeAnnotation,
                            Action::kDelete};
  for (const Action action : actions) Send(action);
  EXPECT_TRUE(Fail().ok());
  for (const Action action : actions) {
    EXPECT_EQ(asked[MakeEvent(Resource::kNode, action).label], 1)
        << LabelText(MakeEvent(Resource::kNode, action).label);
  }
  EXPECT_EQ(queue_->Where("ns/pod").pod, version);
  EXPECT_EQ(PlaceOfPod(), Place::kUnschedulable);
  ExpectNothingIsKept();
}

}  // namespace
}  // namespace schedq
