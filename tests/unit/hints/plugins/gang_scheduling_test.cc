// Goal: GangScheduling keeps members out until their gang is complete, and asks for another attempt
// when that may have changed; the kinds of a trace that are made of its functions answer the same.
// Method: a table of changes, each judged through the registry of the built-in plugins and through
// that of a trace, so that registrations and hints are tested together.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "hints/judge.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/pre_enqueue.h"
#include "hints/recorded/recorded_answers.h"
#include "hints/recorded/trace_plugins.h"
#include "hints/registry.h"
#include "hints/world.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

constexpr char kName[] = "GangScheduling";

Gates WithGroups() {
  GateRequest request;
  request.Set(Gate::kGenericWorkload, true);
  return *Gates::Resolve(request);
}

std::vector<Plugin> TracedGang(const World* world, const RecordedAnswers* answers) {
  const TracePluginSpec spec = {
      .name = kName,
      .pre_enqueue = "gang",
      .events = {{Resource::kUnscheduledPod, Action::kAdd, "same-group", ""},
                 {Resource::kAssignedPod, Action::kAdd, "same-group", ""},
                 {Resource::kPodGroup, Action::kAdd, "same-group", ""},
                 {Resource::kPodGroup, Action::kUpdate, "min-count-lowered", ""}}};
  Result<std::vector<Plugin>> plugins = MakeTracePlugins({spec}, world, answers);
  SCHEDQ_CHECK(plugins.ok(), "the kinds are known");
  return std::move(*plugins);
}

enum class Source : uint8_t { kBuiltin, kTrace };

class GangSchedulingTest : public testing::TestWithParam<Source> {
 protected:
  // The pod was rejected by the plugin only: would the event requeue it?
  bool Wakes(Resource resource, Action action, const ObjectChange& change) {
    const JudgedPod judged{&pod_, 0, PluginSet::Of(*registry_.Find(kName)), {}};
    return JudgeOne(judge_, judged, MakeEvent(resource, action), change) != Verdict::kSkip;
  }
  std::string Rejection(const Pod& pod) {
    const PluginId plugin = check_.Check(pod, kNoPlugin);
    return plugin == kNoPlugin ? "" : check_.Explain(pod, plugin);
  }
  static ObjectRef Group(const std::string& name, int64_t min_count = 0) {
    return ViewOfGroup(MakeGroup(name, min_count));
  }
  // As an event of a trace names a pod of which no version is at hand.
  static ObjectRef NamedPodOf(const std::string& group, const std::string& space = "ns") {
    ObjectView view;
    view.resource = Resource::kAssignedPod;
    view.namespace_name = space;
    view.name = "another";
    view.group_name = group;
    return std::make_shared<const ObjectView>(view);
  }

  Interner names_;
  World world_{&names_};
  RecordedAnswers answers_;
  const PluginRegistry registry_ =
      BuildOrDie(GetParam() == Source::kBuiltin ? BuiltinPlugins(&world_, WithGroups())
                                                : TracedGang(&world_, &answers_));
  const PluginJudge judge_{registry_};
  const PluginPreEnqueue check_{registry_};
  const Pod pod_ = MakeMember("p", "g");
};
INSTANTIATE_TEST_SUITE_P(Sources, GangSchedulingTest,
                         testing::Values(Source::kBuiltin, Source::kTrace),
                         [](const testing::TestParamInfo<Source>& info) {
                           return std::string(info.param == Source::kBuiltin ? "Builtin" : "Trace");
                         });

TEST_P(GangSchedulingTest, KeepsMembersOutUntilTheirGangIsComplete) {
  EXPECT_EQ(Rejection(MakePod("single")), "");
  world_.MemberAdded(pod_);
  EXPECT_EQ(Rejection(pod_), "waiting for pod group \"g\"");
  world_.GroupSeen(MakeGroup("g", 3));
  EXPECT_EQ(Rejection(pod_), "1 of 3 members");
  world_.MemberAdded(MakeMember("q", "g"));
  world_.MemberAdded(MakeMember("r", "other"));
  EXPECT_EQ(Rejection(pod_), "2 of 3 members");
  world_.GroupSeen(MakeGroup("g", 2));
  EXPECT_EQ(Rejection(pod_), "");
  world_.MemberDeleted(MakeMember("q", "g"));
  EXPECT_EQ(Rejection(pod_), "1 of 2 members");
  world_.GroupSeen(MakeGroup("g", 0));
  EXPECT_EQ(Rejection(pod_), "") << "not a gang";
  world_.GroupGone(MakeGroup("g").key);
  EXPECT_EQ(Rejection(pod_), "waiting for pod group \"g\"");
}

TEST_P(GangSchedulingTest, WakesWhenAMemberComes) {
  const auto member = ViewOfPod(MakeMember("q", "g"));
  for (const Resource resource : {Resource::kUnscheduledPod, Resource::kAssignedPod}) {
    EXPECT_TRUE(Wakes(resource, Action::kAdd, {nullptr, member}));
    EXPECT_FALSE(Wakes(resource, Action::kAdd, {nullptr, ViewOfPod(MakeMember("q", "other"))}));
    EXPECT_FALSE(Wakes(resource, Action::kAdd, {nullptr, ViewOfPod(MakePod("g"))}));
    EXPECT_FALSE(Wakes(resource, Action::kDelete, {member, nullptr}));
    EXPECT_TRUE(Wakes(resource, Action::kAdd, {nullptr, NamedPodOf("g")}));
    EXPECT_FALSE(Wakes(resource, Action::kAdd, {nullptr, NamedPodOf("g", "elsewhere")}));
    EXPECT_FALSE(Wakes(resource, Action::kAdd, {nullptr, NamedPodOf("")}));
  }
}

TEST_P(GangSchedulingTest, WakesWhenTheGroupComesOrNeedsFewer) {
  EXPECT_TRUE(Wakes(Resource::kPodGroup, Action::kAdd, {nullptr, Group("g", 9)}));
  EXPECT_FALSE(Wakes(Resource::kPodGroup, Action::kAdd, {nullptr, Group("other")}));
  EXPECT_FALSE(Wakes(Resource::kPodGroup, Action::kDelete, {Group("g"), nullptr}));
  const auto updated = [&](const std::string& group, int64_t before, int64_t after) {
    return Wakes(Resource::kPodGroup, Action::kUpdate, {Group(group, before), Group(group, after)});
  };
  EXPECT_TRUE(updated("g", 3, 2));
  EXPECT_FALSE(updated("g", 2, 2));
  EXPECT_FALSE(updated("g", 2, 3));
  EXPECT_FALSE(updated("other", 3, 2));
  EXPECT_FALSE(updated("g", 3, 0));
  EXPECT_FALSE(updated("g", 0, 3));
}

// A hint that lacks the facts must not leave a pod waiting.
TEST_P(GangSchedulingTest, MissingObjectsCountAsQueue) {
  EXPECT_TRUE(Wakes(Resource::kPodGroup, Action::kAdd, {}));
  EXPECT_TRUE(Wakes(Resource::kPodGroup, Action::kUpdate, {nullptr, Group("g", 3)}));
}

TEST(GangScheduling, IsRegisteredOnlyWithItsGate) {
  Interner names;
  const World world(&names);
  EXPECT_FALSE(BuildOrDie(BuiltinPlugins(&world)).Find(kName).has_value());
  EXPECT_TRUE(BuildOrDie(BuiltinPlugins(&world, WithGroups())).Find(kName).has_value());
}

}  // namespace
}  // namespace schedq::hints_test
