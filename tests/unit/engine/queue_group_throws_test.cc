// Goal: nothing that is thrown by a plugin or an observer in an operation on groups loses a pod,
// moves half of a group or leaves a cycle open (docs/semantics.md, "What throws").
// Method: each operation that asks PreEnqueue is tried while it throws: all is as before; and once
// more when it does not: all is as it would have been. An observer that throws is told of each
// operation: it has happened, and another observer has heard all of it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/ports.h"
#include "engine/queue_answers.h"
#include "engine/queue_metrics.h"
#include "hints/plugin.h"
#include "tests/support/queue/group_cases.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

using std::chrono::minutes;

// A gate that throws at the question with this number from now on; 0: at none.
struct ThrowingGate {
  bool open = true;
  int throws_at = 0;

  Plugin AsPlugin() {
    Plugin plugin;
    plugin.name = "Gate";
    plugin.pre_enqueue = [this](const Pod&, std::string*) {
      if (throws_at > 0 && --throws_at == 0) throw std::runtime_error("out of order");
      return open;
    };
    plugin.events = {On(Resource::kNode, Action::kAdd),
                     On(Resource::kTargetPod, Action::kUpdatePodLabel)};
    return plugin;
  }
};

class QueueGroupThrows : public QueueGroupsTest {
 protected:
  // What the queue shows of these pods.
  static std::map<std::string, std::string> Places(const QueueBench& bench, const Names& names) {
    std::map<std::string, std::string> places;
    for (const std::string& name : names) places[name] = bench.PlaceOf(name);
    return places;
  }
  static void ExpectCountedRight(QueueBench& bench, const Names& names) {
    QueueCounts counts = bench.queue().Counts();
    int gated_by = 0;
    std::map<Place, uint64_t> there;
    for (const std::string& name : names) {
      const PodWhereabouts where = bench.queue().Where("ns/" + name);
      ++there[where.place];
      const bool is_queued = where.place != Place::kAbsent && where.place != Place::kInFlight;
      gated_by += is_queued && where.fields.Rejectors().Has(bench.PluginNamed("Gate"));
    }
    EXPECT_EQ(counts.active, there[Place::kActive]);
    EXPECT_EQ(counts.error_backoff, there[Place::kErrorBackoff]);
    EXPECT_EQ(counts.gated, there[Place::kGated]);
    EXPECT_EQ(counts.in_flight, there[Place::kInFlight]);
    EXPECT_EQ(counts.incomplete, there[Place::kIncomplete]);
    EXPECT_EQ(counts.pending, there[Place::kPending]);
    EXPECT_EQ(bench.metrics()
                  .Value("scheduler_unschedulable_pods", {"Gate", std::string(kDefaultProfile)})
                  .value_or(0),
              gated_by);
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, QueueGroupThrows, testing::ValuesIn(AllQueueCases()), CaseName);

// A queue in which something is about to happen that asks PreEnqueue.
struct Scene {
  QueueBench& bench;
  ThrowingGate& gate;
  std::optional<PoppedPod> popped;

  void Known(const std::string& name) { bench.assembled().GroupAdded(Group(name)); }
  void Active(const Names& names) {
    Known("g");
    for (const std::string& name : names) bench.Add(Member(name, "g"));
  }
  void InCycle(const Names& names) {
    Active(names);
    popped = bench.MustPop();
  }
  void Gated(const Names& names) {
    gate.open = false;
    Active(names);
    gate.open = true;
  }
  Status FailFirst() { return bench.Fail(popped->group->members[0], {}); }
  void Done(GroupStatus status) { bench.queue().GroupDone(popped->group->root, status); }
};

struct ThrowingCase {
  const char* name;
  Names pods;
  std::function<void(Scene&)> before;
  std::function<void(Scene&)> operation;
  std::map<std::string, std::string> after;
  int questions = 1;  // It throws at each of them in turn.
};

// In the life of members.
std::vector<ThrowingCase> CasesOfMembers() {
  const auto one_more = [](Scene& s) { static_cast<void>(s.bench.queue().Add(Member("b", "g"))); };
  return {{"Add of the first", {"b"}, [](Scene& s) { s.Known("g"); }, one_more, {{"b", "active"}}},
          {"Add to an active group",
           {"a", "b"},
           [](Scene& s) { s.Active({"a"}); },
           one_more,
           {{"a", "active"}, {"b", "active"}},
           2},
          {"Fail after the cycle",
           {"a", "b"},
           [](Scene& s) {
             s.InCycle({"a", "b"});
             s.Done(GroupStatus::kSuccess);
           },
           [](Scene& s) { static_cast<void>(s.FailFirst()); },
           {{"a", "active"}, {"b", "in-flight"}}},
          {"Delete",
           {"a", "b", "c"},
           [](Scene& s) {
             s.Active({"a", "b", "c"});
           },
           [](Scene& s) { s.bench.queue().Delete(*Member("b", "g")); },
           {{"a", "active"}, {"b", "absent"}, {"c", "active"}},
           2},
          {"Bind beside a queued rest",
           {"a", "b"},
           [](Scene& s) {
             s.InCycle({"a", "b"});
             MustSucceed(s.FailFirst());
             s.Done(GroupStatus::kSuccess);
           },
           [](Scene& s) { s.bench.queue().Bind(s.popped->group->members[1].key); },
           {{"a", "active"}, {"b", "absent"}}}};
}

// Of a whole group.
std::vector<ThrowingCase> CasesOfGroups() {
  return {
      {"GroupAdd",
       {"a", "b"},
       [](Scene& s) {
         for (const char* name : {"a", "b"}) s.bench.Add(Member(name, "g"));
       },
       [](Scene& s) { s.bench.queue().GroupAdd(Group("g")); },
       {{"a", "active"}, {"b", "active"}},
       3},
      {"GroupDone",
       {"a", "b"},
       [](Scene& s) {
         s.InCycle({"a", "b"});
         MustSucceed(s.FailFirst());
       },
       [](Scene& s) { s.Done(GroupStatus::kSuccess); },
       {{"a", "active"}, {"b", "in-flight"}}},
      {"Event",
       {"a", "b"},
       [](Scene& s) {
         s.Gated({"a", "b"});
       },
       [](Scene& s) { Send(s.bench, Resource::kNode, Action::kAdd); },
       {{"a", "active"}, {"b", "active"}},
       2},
      {"Activate",
       {"a", "b"},
       [](Scene& s) {
         s.Gated({"a", "b"});
       },
       [](Scene& s) { s.bench.queue().Activate(std::vector<PodRef>{Member("b", "g")}); },
       {{"a", "active"}, {"b", "active"}},
       2},
      {"FlushUnschedulable",
       {"a", "b"},
       [](Scene& s) {
         s.Gated({"a", "b"});
         s.bench.Advance(minutes(6));
       },
       [](Scene& s) { s.bench.queue().FlushUnschedulable(); },
       {{"a", "active"}, {"b", "active"}},
       2},
  };
}

std::vector<ThrowingCase> ThrowingCases() {
  std::vector<ThrowingCase> cases = CasesOfMembers();
  for (ThrowingCase& each : CasesOfGroups()) cases.push_back(std::move(each));
  return cases;
}

TEST_P(QueueGroupThrows, AnOperationThatPreEnqueueThrowsOutOfHasNotHappened) {
  for (const ThrowingCase& each : ThrowingCases()) {
    for (int question = 1; question <= each.questions; ++question) {
      SCOPED_TRACE(each.name + (" " + std::to_string(question)));
      ThrowingGate gate;
      QueueBench bench = Bench({gate.AsPlugin()});
      Scene scene{bench, gate, std::nullopt};
      each.before(scene);
      const auto places = Places(bench, each.pods);
      gate.throws_at = question;
      EXPECT_THROW(each.operation(scene), std::runtime_error);
      EXPECT_EQ(Places(bench, each.pods), places);
      ExpectCountedRight(bench, each.pods);
      each.operation(scene);
      EXPECT_EQ(Places(bench, each.pods), each.after);
      ExpectCountedRight(bench, each.pods);
    }
  }
}

// Of a tree the rest of its groups is asked when one goes.
TEST_P(QueueGroupThrows, AGroupThatGoesStaysIfPreEnqueueThrows) {
  ThrowingGate gate;
  QueueBench bench = Bench({gate.AsPlugin()}, /*has_composites=*/true);
  bench.assembled().GroupAdded(Composite("top"));
  for (const char* name : {"g1", "g2"}) {
    bench.assembled().GroupAdded(Group(name, "top"));
    bench.Add(Member(std::string("of-") + name, name));
  }
  gate.throws_at = 1;
  EXPECT_THROW(bench.queue().GroupDelete(Group("g2")->key), std::runtime_error);
  const Names pods = {"of-g1", "of-g2"};
  EXPECT_EQ(Places(bench, pods),
            (std::map<std::string, std::string>{{"of-g1", "active"}, {"of-g2", "active"}}));
  bench.queue().GroupDelete(Group("g2")->key);
  EXPECT_EQ(bench.PlaceOf("of-g2"), "incomplete");
  ExpectCountedRight(bench, pods);
  EXPECT_EQ(NamesIn(bench.MustPop()), Names{"of-g1"});
}

TEST_P(QueueGroupThrows, ASinglePodStaysIfPreEnqueueThrowsForTheMemberOfItsName) {
  // The classic engine lets the old pod go first.
  if (GetParam().engine == EngineKind::kClassic) return;
  ThrowingGate gate;
  QueueBench bench = Bench({gate.AsPlugin()});
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(MakePod("pod"));
  std::shared_ptr<Pod> member = std::make_shared<Pod>(*Member("pod", "g"));
  member->uid = "uid-second";
  gate.throws_at = 1;
  EXPECT_THROW(static_cast<void>(bench.queue().Add(member)), std::runtime_error);
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
  MustSucceed(bench.queue().Add(member));
  const PoppedPod popped = bench.MustPop();
  ASSERT_NE(popped.group, nullptr);
  EXPECT_EQ(popped.group->members[0].pod->uid, "uid-second");
  EXPECT_FALSE(bench.queue().TryPop().has_value());
}

// Throws at each call while it is told to.
class ThrowingObserver final : public QueueObserver {
 public:
  void OnGated(const PodRef&, PluginId, std::string_view, const PodMove&) override { Told(); }
  void OnPassed(const PodRef&, const PodMove&) override { Told(); }
  void OnMoved(const PodRef&, Place, Place, EventLabel) override { Told(); }
  void OnPopped(const PodRef&, uint32_t) override { Told(); }
  void OnDeleted(const PodRef&, const PodMove&) override { Told(); }

  bool throws = false;

 private:
  void Told() const {
    if (throws) throw std::runtime_error("does not want to know");
  }
};

class CountingObserver final : public QueueObserver {
 public:
  void OnGated(const PodRef&, PluginId, std::string_view, const PodMove&) override { ++told; }
  void OnPassed(const PodRef&, const PodMove&) override { ++told; }
  void OnMoved(const PodRef&, Place, Place, EventLabel) override { ++told; }
  void OnPopped(const PodRef&, uint32_t) override { ++told; }
  void OnDeleted(const PodRef&, const PodMove&) override { ++told; }

  int told = 0;
};

TEST_P(QueueGroupThrows, AnOperationThatAnObserverThrowsOutOfHasHappened) {
  for (const ThrowingCase& each : ThrowingCases()) {
    SCOPED_TRACE(each.name);
    int told_of_quiet = 0;
    for (const bool throws : {false, true}) {
      ThrowingGate gate;
      ThrowingObserver observer;
      CountingObserver counter;
      QueueBenchOptions options = GroupOptions({gate.AsPlugin()});
      options.observers = {&observer, &counter};
      QueueBench bench(std::move(options));
      Scene scene{bench, gate, std::nullopt};
      each.before(scene);
      counter.told = 0;
      observer.throws = throws;
      if (throws) {
        EXPECT_THROW(each.operation(scene), std::runtime_error);
        EXPECT_EQ(counter.told, told_of_quiet);
      } else {
        each.operation(scene);
        told_of_quiet = counter.told;
        EXPECT_GT(told_of_quiet, 0);
      }
      EXPECT_EQ(Places(bench, each.pods), each.after);
      ExpectCountedRight(bench, each.pods);
      observer.throws = false;
    }
  }
}

TEST_P(QueueGroupThrows, APopThatAnObserverThrowsOutOfGivesTheGroupBack) {
  ThrowingGate gate;
  ThrowingObserver observer;
  QueueBenchOptions options = GroupOptions({gate.AsPlugin()});
  options.observers = {&observer};
  QueueBench bench(std::move(options));
  Scene scene{bench, gate, std::nullopt};
  scene.Active({"a", "b"});
  observer.throws = true;
  EXPECT_THROW(static_cast<void>(bench.queue().TryPop()), std::runtime_error);
  observer.throws = false;
  EXPECT_EQ(bench.PlaceOf("a").substr(0, 13), "error-backoff");
  EXPECT_EQ(bench.PlaceOf("b"), bench.PlaceOf("a"));
  ExpectCountedRight(bench, {"a", "b"});
  bench.Add(Member("c", "g"));
  EXPECT_EQ(bench.PlaceOf("c"), bench.PlaceOf("a")) << "its cycle is over";
  bench.Advance(minutes(1));
  bench.queue().FlushBackoff();
  const PoppedPod popped = bench.MustPop();
  EXPECT_EQ(NamesIn(popped), (Names{"a", "b", "c"}));
  EXPECT_EQ(popped.fields.attempts, 2u);
}

TEST_P(QueueGroupThrows, APopThatAnObserverThrowsOutOfGivesASinglePodBack) {
  ThrowingObserver observer;
  QueueBenchOptions options = GroupOptions({});
  options.observers = {&observer};
  QueueBench bench(std::move(options));
  bench.Add(MakePod("pod"));
  observer.throws = true;
  EXPECT_THROW(static_cast<void>(bench.queue().TryPop()), std::runtime_error);
  observer.throws = false;
  EXPECT_EQ(bench.PlaceOf("pod").substr(0, 13), "error-backoff");
  bench.Advance(minutes(1));
  bench.queue().FlushBackoff();
  EXPECT_EQ(bench.MustPop().fields.attempts, 2u);
}

TEST_P(QueueGroupThrows, ADeletionThatAnObserverThrowsOutOfHoldsNoName) {
  ThrowingObserver observer;
  QueueBenchOptions options = GroupOptions({});
  options.observers = {&observer};
  QueueBench bench(std::move(options));
  bench.assembled().GroupAdded(Group("g"));
  for (const PodRef& pod : {Member("member", "g"), PodRef(MakePod("single"))}) {
    MustSucceed(bench.queue().Add(pod));
    observer.throws = true;
    EXPECT_THROW(bench.queue().Delete(*pod), std::runtime_error);
    observer.throws = false;
    EXPECT_EQ(bench.pod_names().size(), 0u) << pod->name;
  }
}

}  // namespace
}  // namespace schedq
