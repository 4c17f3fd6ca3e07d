// Goal: sentences of docs/semantics.md, "Pod groups", whose effect no recording shows: fields of
// members that traces do not tell, and narrowing by pre-hints that lie.
// Method: every engine in both states of both gates, one sentence a test.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/queue_answers.h"
#include "hints/plugin.h"
#include "tests/support/queue/group_cases.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class QueueGroupRules : public QueueGroupsTest {};
INSTANTIATE_TEST_SUITE_P(Engines, QueueGroupRules, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueGroupRules, AMembersFirstAttemptIsItsFirstEntryToActive) {
  GatingSwitch gating;
  QueueBench bench = Bench({GatingPlugin("Gate", &gating)});
  bench.Add(Member("a", "g"));
  bench.Advance(seconds(1));
  const auto known_from = bench.clock().Now();
  bench.assembled().GroupAdded(Group("g"));
  EXPECT_EQ(bench.FieldsOf("a").first_attempt, known_from);
  bench.Advance(seconds(1));
  gating.open = false;
  bench.Add(Member("b", "g"));
  EXPECT_FALSE(bench.FieldsOf("b").first_attempt.has_value()) << "its group is gated";
  bench.Advance(seconds(1));
  gating.open = true;
  bench.queue().Activate(std::vector<PodRef>{Member("b", "g")});
  EXPECT_EQ(bench.FieldsOf("b").first_attempt, bench.clock().Now());
  EXPECT_EQ(bench.FieldsOf("a").first_attempt, known_from);

  // Its own, also in a new entity: a member whose binding fails late starts one.
  const PoppedPod popped = bench.MustPop();
  ASSERT_EQ(NamesIn(popped), (Names{"a", "b"}));
  EXPECT_EQ(popped.fields.first_attempt, known_from);
  EXPECT_EQ(popped.group->members[0].fields.first_attempt, known_from);
  const auto second_from = popped.group->members[1].fields.first_attempt;
  bench.queue().GroupDone(popped.group->root, GroupStatus::kSuccess);
  bench.Advance(seconds(5));
  MustSucceed(bench.Fail(popped.group->members[1], {}));
  const PoppedPod again = bench.MustPop();
  EXPECT_EQ(again.fields.first_attempt, second_from);
}

TEST_P(QueueGroupRules, AFlushMarksEveryMemberUntilItsOwnBinding) {
  GatingSwitch gating;
  gating.open = false;
  QueueBench bench = Bench({GatingPlugin("Gate", &gating)});
  bench.assembled().GroupAdded(Group("g"));
  for (const char* name : {"a", "b", "c"}) bench.Add(Member(name, "g"));
  bench.Advance(minutes(6));
  gating.open = true;
  bench.queue().FlushUnschedulable();
  const PoppedPod popped = bench.MustPop();
  ASSERT_EQ(NamesIn(popped), (Names{"a", "b", "c"}));
  const auto bound_after_flush = [&] {
    return bench.metrics().Value("scheduler_pod_scheduled_after_flush_total", {}).value_or(0);
  };
  bench.Bind(popped.group->members[1]);
  EXPECT_EQ(bound_after_flush(), 1);
  MustSucceed(bench.Fail(popped.group->members[2], {}));
  bench.queue().GroupDone(popped.group->root, GroupStatus::kSuccess);
  bench.Bind(popped.group->members[0]);
  EXPECT_EQ(bound_after_flush(), 2);
  bench.Bind(bench.MustPop().group->members[0]);
  EXPECT_EQ(bound_after_flush(), 2) << "a Fail has cleared the mark";
}

// A gate that opens by any node, says its hint; its pre-hint lists one pod.
class LyingPreHint {
 public:
  explicit LyingPreHint(const std::string& listed) : listed_(listed) {
    gating.open = false;
    EventRegistration lying = On(Resource::kNode, Action::kAdd);
    lying.hint = [this](const Pod& pod, const ObjectChange&) {
      asked.push_back(pod.name);
      return Hint::kQueue;
    };
    lying.pre_hint = [this](const ObjectChange&, PodList* pods) {
      ++pre_hints;
      pods->push_back(*bench->pod_names().Find("ns", listed_));
      return PreHint::kListed;
    };
    plugin = GatingPlugin("Gate", &gating, {lying});
  }

  void Send() {
    auto node = std::make_shared<ObjectView>();
    node->resource = Resource::kNode;
    node->name = "n";
    bench->queue().Event(MakeEvent(Resource::kNode, Action::kAdd), {nullptr, node});
  }

  GatingSwitch gating;
  Plugin plugin;
  QueueBench* bench = nullptr;
  std::vector<std::string> asked;
  int pre_hints = 0;

 private:
  const std::string listed_;
};

TEST_P(QueueGroupRules, AHintIsAskedOnlyForTheMembersThatItsPreHintListed) {
  LyingPreHint lying("listed");
  QueueBench bench = Bench({lying.plugin});
  lying.bench = &bench;
  bench.assembled().GroupAdded(Group("found"));
  bench.assembled().GroupAdded(Group("hidden"));
  // Each first member is rejected; those that join a gated group after it are not asked.
  lying.gating.open = true;
  for (const char* name : {"listed", "other"}) bench.Add(Member(name, "found"));
  bench.Add(Member("elsewhere", "hidden"));
  lying.gating.open = false;
  for (const char* name : {"found", "hidden"}) {
    // All are asked by a member that comes and goes.
    const PodRef passing = Member(std::string("passing-") + name, name);
    bench.Add(passing);
    bench.Delete(passing);
  }
  for (const char* name : {"listed", "other", "elsewhere"}) {
    ASSERT_EQ(bench.PlaceOf(name), "gated:Gate");
  }
  lying.gating.open = true;
  lying.Send();
  EXPECT_EQ(bench.PlaceOf("listed"), "active");
  EXPECT_EQ(bench.PlaceOf("other"), "active") << "its group was found";
  if (GetParam().narrows) {
    EXPECT_EQ(bench.PlaceOf("elsewhere"), "gated:Gate");
    EXPECT_EQ(lying.asked, Names{"listed"});
    EXPECT_EQ(lying.pre_hints, 1);
  } else {
    EXPECT_EQ(bench.PlaceOf("elsewhere"), "active");
    EXPECT_EQ(lying.asked.size(), 3u);
    EXPECT_EQ(lying.pre_hints, 0);
  }
}

// One plugin's answer never changes what another plugin sees.
TEST_P(QueueGroupRules, AnotherPluginThatAsksAboutAllHidesNoNarrowing) {
  LyingPreHint lying("listed");
  Plugin of_all = HintPlugin("All", {On(Resource::kNode, Action::kAdd, Hint::kSkip)});
  QueueBench bench = Bench({lying.plugin, of_all});
  lying.bench = &bench;
  bench.Add(MakePod("listed"));
  bench.assembled().GroupAdded(Group("hidden"));
  bench.Add(Member("elsewhere", "hidden"));
  ASSERT_EQ(bench.PlaceOf("elsewhere"), "gated:Gate");
  lying.gating.open = true;
  lying.Send();
  EXPECT_EQ(bench.PlaceOf("listed"), "active");
  EXPECT_EQ(bench.PlaceOf("elsewhere"), GetParam().narrows ? "gated:Gate" : "active");
}

// Nor is what its other members' hints say: the Queue of a pending plugin skips the backoff.
TEST_P(QueueGroupRules, AGroupWithAMemberWithoutRejectorsIsNotNarrowed) {
  LyingPreHint lying("nobody");
  QueueBench bench = Bench({lying.plugin});
  lying.bench = &bench;
  bench.Add(MakePod("nobody"));
  bench.assembled().GroupAdded(Group("g"));
  lying.gating.open = true;
  const PodRef waiting = Member("waiting", "g");
  bench.Add(waiting);
  const PoppedPod popped = bench.MustPop();
  MustSucceed(bench.Fail(popped.group->members[0], {}, {"Gate"}));
  lying.gating.open = false;
  bench.queue().GroupDone(popped.group->root, GroupStatus::kUnschedulable);
  bench.queue().Activate(std::vector<PodRef>{waiting});
  ASSERT_EQ(bench.PlaceOf("waiting"), "gated:Gate");
  lying.gating.open = true;
  lying.Send();
  EXPECT_EQ(bench.PlaceOf("waiting"), GetParam().narrows ? "gated:Gate" : "active");

  lying.gating.open = false;
  bench.queue().Activate(std::vector<PodRef>{waiting});
  bench.Add(Member("fresh", "g"));
  lying.gating.open = true;
  lying.Send();
  EXPECT_EQ(bench.PlaceOf("waiting"), "active");
  EXPECT_EQ(bench.PlaceOf("fresh"), "active");
}

TEST_P(QueueGroupRules, WithTreesOfGroupsNothingIsNarrowed) {
  LyingPreHint lying("listed");
  QueueBench bench = Bench({lying.plugin}, /*has_composites=*/true);
  lying.bench = &bench;
  bench.Add(MakePod("listed"));
  bench.Add(MakePod("single"));
  bench.assembled().GroupAdded(Group("g"));
  bench.Add(Member("elsewhere", "g"));
  ASSERT_EQ(bench.PlaceOf("single"), "gated:Gate");
  lying.gating.open = true;
  lying.Send();
  for (const char* name : {"listed", "single", "elsewhere"}) {
    EXPECT_EQ(bench.PlaceOf(name), "active") << name;
  }
  EXPECT_EQ(lying.pre_hints, 0);
}

// It was deleted and added anew under its uid while it was in flight.
TEST_P(QueueGroupRules, AMemberThatIsInFlightAlreadyIsDiscardedByAPop) {
  QueueBench bench = Bench({});
  bench.assembled().GroupAdded(Group("g"));
  for (const char* name : {"a", "b"}) bench.Add(Member(name, "g"));
  const PoppedPod first = bench.MustPop();
  bench.Delete(Member("a", "g"));
  bench.queue().GroupDone(first.group->root, GroupStatus::kSuccess);
  for (const char* name : {"a", "c"}) bench.Add(Member(name, "g"));
  EXPECT_EQ(NamesIn(bench.MustPop()), Names{"c"});
  EXPECT_EQ(bench.queue().Counts().in_flight, 3u);
}

}  // namespace
}  // namespace schedq
