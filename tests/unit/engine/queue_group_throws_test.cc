// Goal: nothing that is thrown by a plugin or an observer in an operation on groups loses a pod,
// moves half of a group or leaves a cycle open (docs/semantics.md, "What throws").
// Method: each operation that asks PreEnqueue is tried while it throws: all is as before; and once
// more when it does not: all is as it would have been. An observer that throws is told of each
// operation: it has happened, and another observer has heard all of it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
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

// A pod comes whose name another pod has.
struct ReplacingCase {
  const char* name;
  std::string group;     // Of the pod that is there; empty: a single pod.
  std::string uid;       // Of the pod that comes.
  std::string to_group;  // The same of its group.
  int questions;
  bool comes_by_update = false;
};

const ReplacingCase kReplacingCases[] = {
    {"single after single", "", "second", "", 1},
    {"member after single", "", "second", "h", 1},
    {"single after member", "g", "second", "", 2},
    {"member after member of another group", "g", "second", "h", 2},
    {"member after member of its group", "g", "second", "g", 3},
    {"member without root", "g", "second", "unknown", 1},
    {"group changed", "g", "first", "h", 2},
    {"group changed, Update", "g", "first", "h", 2, true},
    {"member becomes single, Update", "g", "first", "", 2, true},
    {"single becomes member, Update", "", "first", "h", 1, true},
};

class QueueReplacing : public QueueGroupThrows {
 protected:
  static PodRef PodOf(const std::string& uid, const std::string& group) {
    auto pod = std::make_shared<Pod>(*(group.empty() ? MakePod("pod") : Member("pod", group)));
    pod->uid = uid;
    pod->nominated_node_name = "node-of-" + uid;
    return pod;
  }
  static Status Come(QueueBench& bench, const ReplacingCase& each) {
    const PodRef pod = PodOf(each.uid, each.to_group);
    if (!each.comes_by_update) return bench.queue().Add(pod);
    return bench.queue().Update(PodOf("first", each.group), pod);
  }
  // What a reader sees, with what was counted.
  static std::string Shown(QueueBench& bench) {
    std::string text;
    for (const char* name : {"pod", "other"}) {
      const PodWhereabouts where = bench.queue().Where(std::string("ns/") + name);
      text += name + (" " + bench.PlaceOf(name)) + " " + where.pod->uid + " " +
              where.pod->group_name + "\n";
      text += bench.queue().NominatedNode(bench.queue().KeyOf(*where.pod)) + "\n";
    }
    for (const Place place : {Place::kActive, Place::kBackoff, Place::kUnschedulable}) {
      for (EventLabel label = 0; label < kEventLabelCount; ++label) {
        const QueueMetrics& metrics = bench.queue().Metrics();
        text += std::to_string(metrics.IncomingTotal(place, label)) + " ";
        text += std::to_string(metrics.IncomingEntitiesTotal(place, label, EntityType::kPodGroup)) +
                " ";
      }
    }
    return text;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, QueueReplacing, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueReplacing, TheOldPodStaysIfPreEnqueueThrows) {
  for (const ReplacingCase& each : kReplacingCases) {
    for (const bool is_gated : {false, true}) {
      // Nobody is asked about the rest of a group that is gated.
      const bool joins_it = !each.group.empty() && each.group == each.to_group;
      const bool asks_new = each.to_group != "unknown";
      const int questions = !is_gated ? each.questions : asks_new && !joins_it ? 1 : 0;
      for (int question = 1; question <= questions; ++question) {
        SCOPED_TRACE(each.name + (is_gated ? std::string(" gated ") : std::string(" ")) +
                     std::to_string(question));
        ThrowingGate gate;
        QueueBench bench = Bench({gate.AsPlugin()});
        for (const char* group : {"g", "h"}) bench.assembled().GroupAdded(Group(group));
        gate.open = !is_gated;
        bench.Add(Member("other", "g"));
        MustSucceed(bench.queue().Add(PodOf("first", each.group)));
        const std::string before = Shown(bench);
        gate.throws_at = question;
        EXPECT_THROW(static_cast<void>(Come(bench, each)), std::runtime_error);
        EXPECT_EQ(Shown(bench), before);
        ExpectCountedRight(bench, {"pod", "other"});
        EXPECT_EQ(bench.pod_names().size(), 2u);
        MustSucceed(Come(bench, each));
        EXPECT_EQ(gate.throws_at, 0);
        ExpectCountedRight(bench, {"pod", "other"});
        const PodWhereabouts where = bench.queue().Where("ns/pod");
        EXPECT_EQ(where.pod->uid, each.uid);
        EXPECT_EQ(where.pod->group_name, each.to_group);
      }
    }
  }
}

// The old pod is its group's only one, which is forgotten and has to come back.
TEST_P(QueueReplacing, TheOldPodsGroupComesBackToo) {
  ThrowingGate gate;
  QueueBench bench = Bench({gate.AsPlugin()});
  for (const char* group : {"g", "h"}) bench.assembled().GroupAdded(Group(group));
  MustSucceed(bench.queue().Add(PodOf("first", "g")));
  bench.Advance(std::chrono::seconds(1));
  gate.throws_at = 1;
  EXPECT_THROW(static_cast<void>(bench.queue().Add(PodOf("second", "h"))), std::runtime_error);
  bench.Add(Member("younger", "h"));
  const PoppedPod popped = bench.MustPop();
  EXPECT_EQ(popped.group->root.name, "g") << "its timestamp is the old one's";
  EXPECT_EQ(popped.group->members[0].pod->uid, "first");
}

TEST_P(QueueReplacing, TheOldPodStaysWhereThereIsNoRoot) {
  ThrowingGate gate;
  QueueBench bench = Bench({gate.AsPlugin()});
  bench.assembled().GroupAdded(Group("h"));
  MustSucceed(bench.queue().Add(PodOf("first", "g")));
  gate.throws_at = 1;
  EXPECT_THROW(static_cast<void>(bench.queue().Add(PodOf("second", "h"))), std::runtime_error);
  EXPECT_EQ(bench.PlaceOf("pod"), "incomplete");
  bench.assembled().GroupAdded(Group("g"));
  EXPECT_EQ(bench.MustPop().group->members[0].pod->uid, "first");
}

TEST_P(QueueReplacing, TheOldPodStaysAmongThoseThatWaitForTheCycle) {
  ThrowingGate gate;
  QueueBench bench = Bench({gate.AsPlugin()});
  for (const char* group : {"g", "h"}) bench.assembled().GroupAdded(Group(group));
  bench.Add(Member("other", "g"));
  const PoppedPod popped = bench.MustPop();
  MustSucceed(bench.queue().Add(PodOf("first", "g")));
  ASSERT_EQ(bench.PlaceOf("pod"), "pending");
  gate.throws_at = 1;
  EXPECT_THROW(static_cast<void>(bench.queue().Add(PodOf("second", "h"))), std::runtime_error);
  EXPECT_EQ(bench.PlaceOf("pod"), "pending");
  bench.queue().GroupDone(popped.group->root, GroupStatus::kSuccess);
  EXPECT_EQ(bench.MustPop().group->members[0].pod->uid, "first");
}

TEST_P(QueueReplacing, TheOldPodStaysIfTheNewOneIsRefused) {
  for (const ReplacingCase& each : kReplacingCases) {
    SCOPED_TRACE(each.name);
    QueueBench bench = Bench({});
    for (const char* group : {"g", "h"}) bench.assembled().GroupAdded(Group(group));
    bench.Add(Member("other", "g"));
    MustSucceed(bench.queue().Add(PodOf("first", each.group)));
    const std::string before = Shown(bench);
    auto pod = std::make_shared<Pod>(*PodOf(each.uid, each.to_group));
    pod->nominated_node_name.assign(size_t{1} << 24, 'n');
    if (each.comes_by_update) {
      EXPECT_FALSE(bench.queue().Update(PodOf("first", each.group), pod).ok());
    } else {
      EXPECT_FALSE(bench.queue().Add(pod).ok());
    }
    EXPECT_EQ(Shown(bench), before);
  }
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
