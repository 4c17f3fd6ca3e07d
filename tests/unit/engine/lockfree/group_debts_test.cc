// Goal: what an operation on a group owes is paid without a trace in metrics and answers, also by
// another thread (engine/lockfree/groups/group_publisher.h).
// Method: an event begins while PreEnqueue is asked, so that the group is to be asked once more; a
// plugin or an observer holds a thread in between.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "hints/plugin.h"
#include "hints/world.h"
#include "schedq/assembled_queue.h"
#include "schedq/assembly_options.h"
#include "tests/support/queue/group_cases.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

QueueBenchOptions LockfreeOptions(Plugin plugin) {
  QueueBenchOptions options;
  options.engine = EngineKind::kLockfree;
  options.plugins = {std::move(plugin)};
  GateRequest request;
  request.Set(Gate::kGenericWorkload, true);
  options.gates = *Gates::Resolve(request);
  return options;
}

// PreEnqueue of a plugin, during which an event of this plugin is told once.
struct Overtaken {
  Plugin AsPlugin(Hint hint) {
    Plugin plugin;
    plugin.name = "Gate";
    plugin.pre_enqueue = [this](const Pod&, std::string*) {
      ++asked;
      if (std::exchange(sends_event, false)) {
        std::thread([this] {
          bench->queue().Event(MakeEvent(Resource::kNode, Action::kAdd), {});
        }).join();
        opens_after_event = true;
        return false;
      }
      return is_open || (opens_after_event && opens);
    };
    plugin.events = {On(Resource::kNode, Action::kAdd, hint)};
    return plugin;
  }

  QueueBench* bench = nullptr;
  int asked = 0;
  bool is_open = false;
  bool opens = false;  // What the event brings.
  bool sends_event = false;
  bool opens_after_event = false;
};

uint64_t CameToThePool(const QueueBench& bench) {
  return bench.Incoming(Place::kUnschedulable, UnscheduledPodAddLabel()) +
         bench.Incoming(Place::kUnschedulable, SpecialLabel::kScheduleAttemptFailure);
}

TEST(GroupDebts, AGroupThatIsAskedOnceMoreInVainComesToThePoolOnce) {
  Overtaken gate;
  QueueBench bench(LockfreeOptions(gate.AsPlugin(Hint::kSkip)));
  gate.bench = &bench;
  bench.assembled().GroupAdded(Group("g"));
  gate.sends_event = true;
  bench.Add(Member("a", "g"));
  EXPECT_EQ(bench.PlaceOf("a"), "gated:Gate");
  EXPECT_EQ(gate.asked, 2);
  EXPECT_EQ(CameToThePool(bench), 1u);
}

TEST(GroupDebts, AGroupThatIsAskedOnceMoreKeepsTheNameOfWhatBroughtIt) {
  Overtaken gate;
  gate.opens = true;
  QueueBench bench(LockfreeOptions(gate.AsPlugin(Hint::kSkip)));
  gate.bench = &bench;
  bench.assembled().GroupAdded(Group("g"));
  gate.sends_event = true;
  bench.Add(Member("a", "g"));
  EXPECT_EQ(bench.PlaceOf("a"), "active");
  EXPECT_EQ(bench.Incoming(Place::kActive, UnscheduledPodAddLabel()), 1u);
  EXPECT_EQ(bench.Incoming(Place::kActive, SpecialLabel::kScheduleAttemptFailure), 0u);
}

// Calls a function when it is next asked for the time, which an Add asks for when it has begun.
class CallingClock final : public Clock {
 public:
  Instant Now() const override {
    if (const std::function<void()> call = std::exchange(next_, nullptr)) call();
    return Instant(std::chrono::seconds(1'767'225'600));
  }
  TimerId At(Instant, std::function<void()>) override { return 1; }
  TimerId Every(Instant, Duration, std::function<void()>) override { return 1; }
  bool Cancel(TimerId) override { return false; }

  void CallAtNext(std::function<void()> call) { next_ = std::move(call); }

 private:
  mutable std::function<void()> next_;
};

// An event that begins and ends amid the join has found the group gated, and was of no use.
TEST(GroupDebts, AJoinToAGatedGroupAmidAnEventAsksNobody) {
  int asked = 0;
  CallingClock clock;
  AssemblyOptions options;
  options.clock = &clock;
  options.gates = LockfreeOptions({}).gates;
  options.plugins = [&](World*) -> Result<std::vector<Plugin>> {
    Plugin gate;
    gate.name = "Gate";
    gate.pre_enqueue = [&asked](const Pod&, std::string*) {
      ++asked;
      return false;
    };
    gate.events = {On(Resource::kNode, Action::kAdd, Hint::kSkip)};
    return std::vector<Plugin>{std::move(gate)};
  };
  const auto assembled = AssembledQueue::Create(std::move(options));
  ASSERT_TRUE(assembled.ok());
  SchedulingQueue& queue = (*assembled)->queue();
  queue.GroupAdd(Group("g"));
  MustSucceed(queue.Add(Member("a", "g")));
  ASSERT_EQ(asked, 1);
  bool is_told = false;
  clock.CallAtNext([&] {
    std::thread([&] { queue.Event(MakeEvent(Resource::kNode, Action::kAdd), {}); }).join();
    is_told = true;
  });
  MustSucceed(queue.Add(Member("b", "g")));
  EXPECT_TRUE(is_told);
  EXPECT_EQ(asked, 1);
}

// Holds the thread that is the first to tell of a member, and throws at all others.
class HoldsFirst final : public QueueObserver {
 public:
  explicit HoldsFirst(std::string name) : name_(std::move(name)) {}

  void OnGated(const PodRef& pod, PluginId, std::string_view, const PodMove&) override {
    if (pod->name != name_) return;
    if (is_held_.exchange(true)) throw std::runtime_error("an observer");
    while (!goes_on) std::this_thread::yield();
  }
  bool is_held() const { return is_held_; }

  std::atomic<bool> goes_on = false;

 private:
  const std::string name_;
  std::atomic<bool> is_held_ = false;
};

// The debt of another thread is told to an observer, which throws: the operation that pays it
// happens all the same, and says so afterwards.
TEST(GroupDebts, AnObserverThatThrowsAtAnothersDebtKeepsNoOperationFromHappening) {
  Overtaken gate;
  HoldsFirst observer("m1");
  QueueBenchOptions options = LockfreeOptions(gate.AsPlugin(Hint::kSkip));
  options.observers = {&observer};
  QueueBench bench(std::move(options));
  gate.bench = &bench;
  bench.queue().GroupAdd(Group("g1"));
  bench.queue().GroupAdd(Group("g2"));
  gate.sends_event = true;
  std::thread held([&] { MustSucceed(bench.queue().Add(Member("m1", "g1"))); });
  while (!observer.is_held()) std::this_thread::yield();
  EXPECT_THROW(static_cast<void>(bench.queue().Add(Member("m2", "g2"))), std::runtime_error);
  EXPECT_EQ(bench.PlaceOf("m2"), "gated:Gate");
  observer.goes_on = true;
  held.join();
  EXPECT_EQ(bench.PlaceOf("m1"), "gated:Gate");
}

}  // namespace
}  // namespace schedq
