// Goal: what an operation on a group owes is paid without a trace in metrics and answers, also by
// another thread (engine/lockfree/groups/group_publisher.h).
// Method: an event begins while PreEnqueue is asked, so that the group is to be asked once more; a
// plugin or an observer holds a thread in between.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "hints/plugin.h"
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

// A member that joins a gated group makes nobody be asked; events found the group there before, and
// find it there after.
TEST(GroupDebts, AJoinToAGatedGroupAmidAnEventAsksNobody) {
  int asked = 0;
  Plugin gate;
  gate.name = "Gate";
  gate.pre_enqueue = [&](const Pod&, std::string*) {
    ++asked;
    return false;
  };
  gate.events = {On(Resource::kNode, Action::kAdd, Hint::kSkip)};
  QueueBench bench(LockfreeOptions(std::move(gate)));
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(Member("a", "g"));
  ASSERT_EQ(asked, 1);
  std::atomic<bool> is_over = false;
  std::thread events([&] {
    while (!is_over) bench.queue().Event(MakeEvent(Resource::kNode, Action::kAdd), {});
  });
  for (int i = 0; i < 200; ++i) bench.Add(Member("b" + std::to_string(i), "g"));
  is_over = true;
  events.join();
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
