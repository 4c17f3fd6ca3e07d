// Goal: the built-in plugins gate and requeue pods as kube-scheduler's do, and say why in plain
// words.
// Method: a table of changes a plugin, each judged through the registry, so that registrations and
// hints are tested together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/names/interner.h"
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
#include "hints/registry.h"
#include "hints/world.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

class HintsBuiltinPluginsTest : public testing::Test {
 protected:
  // The pod was rejected by `plugin` only: would the event requeue it?
  bool Wakes(const char* plugin, Resource resource, Action action, const ObjectChange& change) {
    const JudgedPod judged{&pod_, 0, PluginSet::Of(*registry_.Find(plugin)), {}};
    return JudgeOne(judge_, judged, MakeEvent(resource, action), change) != Verdict::kSkip;
  }
  // The message of the plugin that keeps the pod out; empty: it may enter.
  std::string Rejection() {
    const PluginId plugin = check_.Check(pod_, kNoPlugin);
    return plugin == kNoPlugin ? "" : check_.Explain(pod_, plugin);
  }
  // The text for its owner where plugins may choose.
  std::string UserMessage() {
    const PluginId plugin = check_.Check(pod_, kNoPlugin);
    return check_.UserMessage(pod_, plugin, check_.Explain(pod_, plugin));
  }
  static ObjectRef Node(const std::function<void(ObjectView*)>& change = {}) {
    ObjectView node;
    node.resource = Resource::kNode;
    node.name = "node";
    node.allocatable = {{"cpu", 4000}, {"memory", 1000}, {"pods", 110}};
    if (change) change(&node);
    return std::make_shared<const ObjectView>(node);
  }
  ObjectRef Self() const { return ViewOfPod(pod_); }

  Interner names_;
  World world_{&names_};
  const PluginRegistry registry_ = BuildOrDie(BuiltinPlugins(&world_));
  const PluginJudge judge_{registry_};
  const PluginPreEnqueue check_{registry_};
  Pod pod_ = MakePod("p");
};

TEST_F(HintsBuiltinPluginsTest, EveryPluginHasARejectionMessage) {
  for (int id = 0; id < registry_.size(); ++id) {
    EXPECT_GT(registry_.plugin(id).rejection_message.size(), 20u) << registry_.plugin(id).name;
  }
}

TEST_F(HintsBuiltinPluginsTest, SchedulingGates) {
  EXPECT_EQ(Rejection(), "");
  pod_.scheduling_gates = {"a", "b"};
  EXPECT_EQ(Rejection(), "Scheduling is blocked due to non-empty scheduling gates");
  EXPECT_TRUE(Wakes("SchedulingGates", Resource::kTargetPod,
                    Action::kUpdatePodSchedulingGatesEliminated, {Self(), Self()}));
  EXPECT_FALSE(
      Wakes("SchedulingGates", Resource::kTargetPod, Action::kUpdatePodLabel, {Self(), Self()}));
}

// The owner is told what a person has to do, and not what ends by itself.
TEST_F(HintsBuiltinPluginsTest, OnlyTheClaimsThatSomebodyMustCreateAreForThePodsOwner) {
  pod_.scheduling_gates = {"a"};
  EXPECT_EQ(UserMessage(), "");
  pod_.scheduling_gates.clear();
  world_.mutable_preemptions()->Begin(pod_.uid);
  EXPECT_EQ(UserMessage(), "");
  world_.mutable_preemptions()->End(pod_.uid);
  pod_.claim_templates = {"entry"};
  EXPECT_EQ(UserMessage(), "") << "to be generated";
  pod_.generated_claims = {{"entry", "a-1"}};
  EXPECT_NE(Rejection(), "");
  EXPECT_EQ(UserMessage(), "") << "generated, and not seen yet";
  pod_.claims = {"a"};
  EXPECT_EQ(UserMessage(), "waiting for ResourceClaim \"a\" to be created");
}

TEST_F(HintsBuiltinPluginsTest, NodeUnschedulable) {
  const ObjectRef open = Node();
  const ObjectRef cordoned = Node([](ObjectView* node) { node->unschedulable = true; });
  const auto wakes = [&](Action action, ObjectRef before, ObjectRef after) {
    return Wakes("NodeUnschedulable", Resource::kNode, action, {before, after});
  };
  EXPECT_TRUE(wakes(Action::kAdd, nullptr, open));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, cordoned));
  EXPECT_TRUE(wakes(Action::kUpdateNodeTaint, cordoned, open));
  EXPECT_FALSE(wakes(Action::kUpdateNodeTaint, open, open));
  EXPECT_FALSE(wakes(Action::kUpdateNodeTaint, open, cordoned));
  EXPECT_FALSE(wakes(Action::kUpdateNodeLabel, cordoned, open));

  const auto wakes_itself = [&](Toleration toleration) {
    pod_.tolerations = {toleration};
    return Wakes("NodeUnschedulable", Resource::kTargetPod, Action::kUpdatePodToleration,
                 {Self(), Self()});
  };
  EXPECT_FALSE(wakes_itself({"other", "", "", true}));
  EXPECT_FALSE(wakes_itself({"node.kubernetes.io/unschedulable", "", "NoExecute", true}));
  EXPECT_TRUE(wakes_itself({"node.kubernetes.io/unschedulable", "", "NoSchedule", true}));
  EXPECT_TRUE(wakes_itself({"", "", "", true}));
}

TEST_F(HintsBuiltinPluginsTest, TaintToleration) {
  const auto tainted = [](const char* value, const char* effect) {
    return Node([&](ObjectView* node) { node->taints = {{"team", value, effect}}; });
  };
  const auto wakes = [&](Action action, ObjectRef before, ObjectRef after) {
    return Wakes("TaintToleration", Resource::kNode, action, {before, after});
  };
  pod_.tolerations = {{"team", "red", "NoSchedule", false}};
  EXPECT_TRUE(wakes(Action::kAdd, nullptr, Node()));
  EXPECT_TRUE(wakes(Action::kAdd, nullptr, tainted("red", "NoSchedule")));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, tainted("red", "NoExecute")));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, tainted("blue", "NoSchedule")));
  EXPECT_TRUE(wakes(Action::kAdd, nullptr, tainted("blue", "PreferNoSchedule")));
  const ObjectRef blue = tainted("blue", "NoSchedule");
  EXPECT_TRUE(wakes(Action::kUpdateNodeTaint, blue, Node()));
  EXPECT_FALSE(wakes(Action::kUpdateNodeTaint, Node(), Node()));
  EXPECT_FALSE(wakes(Action::kUpdateNodeTaint, Node(), blue));
  EXPECT_TRUE(Wakes("TaintToleration", Resource::kTargetPod, Action::kUpdatePodToleration,
                    {Self(), Self()}));
}

TEST_F(HintsBuiltinPluginsTest, NodeAffinity) {
  pod_.node_selector = {{"disk", "ssd"}};
  pod_.node_affinity = {{"zone", {"a", "b"}}};
  const auto labelled = [](const Labels& labels) {
    return Node([&](ObjectView* node) { node->labels = labels; });
  };
  const auto wakes = [&](Action action, ObjectRef before, ObjectRef after) {
    return Wakes("NodeAffinity", Resource::kNode, action, {before, after});
  };
  const ObjectRef match = labelled({{"disk", "ssd"}, {"zone", "b"}});
  EXPECT_TRUE(wakes(Action::kAdd, nullptr, match));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, labelled({{"disk", "ssd"}})));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, labelled({{"zone", "b"}})));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, labelled({{"disk", "ssd"}, {"zone", "c"}})));
  EXPECT_TRUE(wakes(Action::kUpdateNodeLabel, labelled({}), match));
  EXPECT_FALSE(wakes(Action::kUpdateNodeLabel, match, match));
  EXPECT_FALSE(wakes(Action::kUpdateNodeLabel, match, labelled({})));
  EXPECT_FALSE(wakes(Action::kUpdateNodeTaint, labelled({}), match));
}

TEST_F(HintsBuiltinPluginsTest, NodeResourcesFitOnNodes) {
  pod_.requests = {{"cpu", 2000}};
  const auto sized = [](ResourceList allocatable) {
    return Node([&](ObjectView* node) { node->allocatable = allocatable; });
  };
  const auto wakes = [&](Action action, ObjectRef before, ObjectRef after) {
    return Wakes("NodeResourcesFit", Resource::kNode, action, {before, after});
  };
  const ObjectRef small = sized({{"cpu", 1999}, {"pods", 110}});
  const ObjectRef enough = sized({{"cpu", 2000}, {"pods", 110}});
  EXPECT_TRUE(wakes(Action::kAdd, nullptr, enough));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, small));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, sized({{"cpu", 2000}, {"pods", 0}})));
  EXPECT_TRUE(wakes(Action::kAdd, nullptr, sized({{"cpu", 2000}})));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, sized({{"memory", 2000}})));
  EXPECT_TRUE(wakes(Action::kUpdateNodeAllocatable, small, enough));
  EXPECT_FALSE(wakes(Action::kUpdateNodeAllocatable, enough, enough));
  EXPECT_FALSE(wakes(Action::kUpdateNodeAllocatable, enough, small));
  const ObjectRef more_memory = sized({{"cpu", 2000}, {"memory", 5}, {"pods", 110}});
  EXPECT_FALSE(wakes(Action::kUpdateNodeAllocatable, enough, more_memory));
  const ObjectRef more_pods = sized({{"cpu", 2000}, {"pods", 111}});
  EXPECT_TRUE(wakes(Action::kUpdateNodeAllocatable, enough, more_pods));
}

TEST_F(HintsBuiltinPluginsTest, NodeResourcesFitOnPods) {
  pod_.requests = {{"cpu", 2000}, {"gpu", 0}};
  Pod other = MakePod("other");
  const auto wakes_when_gone = [&] {
    return Wakes("NodeResourcesFit", Resource::kAssignedPod, Action::kDelete,
                 {ViewOfPod(other), nullptr});
  };
  EXPECT_FALSE(wakes_when_gone());
  other.nominated_node_name = "node";
  EXPECT_TRUE(wakes_when_gone());
  other.nominated_node_name = "";
  other.node_name = "node";
  EXPECT_TRUE(wakes_when_gone());

  const auto wakes_when_shrunk = [&](const ResourceList& from, const ResourceList& to) {
    Pod before = other;
    Pod after = other;
    before.requests = from;
    after.requests = to;
    return Wakes("NodeResourcesFit", Resource::kAssignedPod, Action::kUpdatePodScaleDown,
                 {ViewOfPod(before), ViewOfPod(after)});
  };
  EXPECT_TRUE(wakes_when_shrunk({{"cpu", 2}}, {{"cpu", 1}}));
  EXPECT_FALSE(wakes_when_shrunk({{"memory", 2}}, {{"memory", 1}}));
  EXPECT_FALSE(wakes_when_shrunk({{"gpu", 2}}, {{"gpu", 1}}));
  other.node_name = "";
  EXPECT_FALSE(wakes_when_shrunk({{"cpu", 2}}, {{"cpu", 1}}));
  EXPECT_TRUE(Wakes("NodeResourcesFit", Resource::kTargetPod, Action::kUpdatePodScaleDown,
                    {Self(), Self()}));
}

TEST_F(HintsBuiltinPluginsTest, DynamicResourcesGatesUntilEveryClaimExists) {
  pod_.claims = {"a"};
  pod_.claim_templates = {"entry", "unneeded"};
  EXPECT_EQ(Rejection(), "waiting for ResourceClaim \"a\" to be created");
  world_.ClaimSeen("ns", "a");
  EXPECT_EQ(Rejection(), "waiting for the ResourceClaim of \"entry\" to be generated");
  pod_.generated_claims = {{"entry", "a-1"}};
  EXPECT_EQ(Rejection(), "waiting for the ResourceClaim of \"unneeded\" to be generated");
  pod_.generated_claims.push_back({"unneeded", ""});
  EXPECT_EQ(Rejection(), "waiting for ResourceClaim \"a-1\" to be created");
  world_.ClaimSeen("ns", "a-1");
  EXPECT_EQ(Rejection(), "");
  world_.ClaimGone("ns", "a");
  EXPECT_EQ(Rejection(), "waiting for ResourceClaim \"a\" to be created");
}

TEST_F(HintsBuiltinPluginsTest, DynamicResourcesOnClaims) {
  pod_.claims = {"a"};
  pod_.generated_claims = {{"entry", "b"}};
  const auto wakes = [&](Action action, ObjectRef before, ObjectRef after) {
    return Wakes("DynamicResources", Resource::kResourceClaim, action, {before, after});
  };
  world_.ClaimSeen("ns", "a");
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, ViewOfClaim("a"))) << "claim b is still missing";
  world_.ClaimSeen("ns", "b");
  EXPECT_TRUE(wakes(Action::kAdd, nullptr, ViewOfClaim("a")));
  EXPECT_TRUE(wakes(Action::kAdd, nullptr, ViewOfClaim("b")));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, ViewOfClaim("c")));
  // Updates: a change of status of the pod's claim, or devices that any claim gives up.
  EXPECT_TRUE(wakes(Action::kUpdate, ViewOfClaim("a", false), ViewOfClaim("a", true)));
  EXPECT_TRUE(wakes(Action::kUpdate, ViewOfClaim("a", true, 1), ViewOfClaim("a", true, 2)));
  EXPECT_FALSE(wakes(Action::kUpdate, ViewOfClaim("a", true, 1), ViewOfClaim("a", true, 1)));
  EXPECT_FALSE(wakes(Action::kUpdate, ViewOfClaim("c", false), ViewOfClaim("c", true)));
  EXPECT_TRUE(wakes(Action::kUpdate, ViewOfClaim("c", true), ViewOfClaim("c", false)));
  EXPECT_TRUE(wakes(Action::kDelete, ViewOfClaim("c", true), nullptr));
  EXPECT_FALSE(wakes(Action::kDelete, ViewOfClaim("a", false), nullptr));
}

TEST_F(HintsBuiltinPluginsTest, DynamicResourcesOnItselfAndDevices) {
  pod_.claim_templates = {"entry"};
  const auto wakes_itself = [&] {
    return Wakes("DynamicResources", Resource::kTargetPod, Action::kUpdatePodGeneratedResourceClaim,
                 {Self(), Self()});
  };
  EXPECT_FALSE(wakes_itself());
  pod_.generated_claims = {{"entry", "b"}};
  EXPECT_FALSE(wakes_itself());
  world_.ClaimSeen("ns", "b");
  EXPECT_TRUE(wakes_itself());
  for (const Resource resource : {Resource::kDeviceClass, Resource::kResourceSlice}) {
    EXPECT_TRUE(Wakes("DynamicResources", resource, Action::kAdd, {}));
    EXPECT_TRUE(Wakes("DynamicResources", resource, Action::kUpdate, {}));
    EXPECT_FALSE(Wakes("DynamicResources", resource, Action::kDelete, {}));
  }
  EXPECT_TRUE(
      Wakes("DynamicResources", Resource::kNode, Action::kUpdateNodeLabel, {Node(), Node()}));
}

TEST_F(HintsBuiltinPluginsTest, DefaultPreemptionGatesWhileVictimsGo) {
  world_.mutable_preemptions()->Begin(pod_.uid);
  EXPECT_EQ(Rejection(), "waiting for the pods that this pod preempts to terminate");
  world_.mutable_preemptions()->End(pod_.uid);
  EXPECT_EQ(Rejection(), "");
  Pod victim = MakePod("victim");
  victim.node_name = "node";
  EXPECT_TRUE(judge_.RegisteredFor(MakeEvent(Resource::kAssignedPod, Action::kDelete))
                  .Has(*registry_.Find("DefaultPreemption")));
  EXPECT_FALSE(Wakes("DefaultPreemption", Resource::kAssignedPod, Action::kDelete,
                     {ViewOfPod(victim), nullptr}));
}

// The gate is off: nobody waits for victims, and nobody is told of pods that go for its sake.
TEST_F(HintsBuiltinPluginsTest, DefaultPreemptionWithinTheCycleRejectsNobody) {
  const Plugin in_cycle = DefaultPreemptionPlugin(&world_, false, /*is_async=*/false);
  EXPECT_FALSE(in_cycle.pre_enqueue);
  EXPECT_TRUE(in_cycle.events.empty());
  GateRequest request;
  request.Set(Gate::kSchedulerAsyncPreemption, false);
  const std::vector<Plugin> plugins = BuiltinPlugins(&world_, *Gates::Resolve(request));
  const auto found = std::find_if(plugins.begin(), plugins.end(), [](const Plugin& plugin) {
    return plugin.name == "DefaultPreemption";
  });
  ASSERT_NE(found, plugins.end());
  EXPECT_FALSE(found->pre_enqueue);
}

// A hint that lacks the facts must not leave a pod waiting.
TEST_F(HintsBuiltinPluginsTest, MissingObjectsCountAsQueue) {
  for (const char* plugin : {"NodeUnschedulable", "TaintToleration", "NodeAffinity",
                             "NodeResourcesFit", "DynamicResources"}) {
    EXPECT_TRUE(Wakes(plugin, Resource::kNode, Action::kAdd, {})) << plugin;
  }
  EXPECT_TRUE(Wakes("NodeResourcesFit", Resource::kAssignedPod, Action::kDelete, {}));
  EXPECT_TRUE(Wakes("DynamicResources", Resource::kResourceClaim, Action::kAdd, {}));
}

}  // namespace
}  // namespace schedq::hints_test
