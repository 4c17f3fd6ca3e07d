// Goal: the plugins that read a pod's rules wake it for what may help it, and for nothing else.
// Method: a table of changes a plugin, each judged through the registry, so that registrations and
// hints are tested together.
#include "engine/pod_rules.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/event.h"
#include "engine/label_selector.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "hints/judge.h"
#include "hints/plugins/builtin.h"
#include "hints/registry.h"
#include "hints/world.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

using Operator = LabelRequirement::Operator;

LabelSelector AppIs(const std::string& app) { return {{"app", Operator::kIn, {app}}}; }

class PodRulesPluginsTest : public testing::Test {
 protected:
  bool Wakes(const char* plugin, Resource resource, Action action, const ObjectChange& change) {
    const JudgedPod judged{&pod_, 0, PluginSet::Of(*registry_.Find(plugin)), {}};
    return JudgeOne(judge_, judged, MakeEvent(resource, action), change) != Verdict::kSkip;
  }
  void SetRules(PodRules rules) { pod_.rules = std::make_shared<PodRules>(std::move(rules)); }
  static Pod PodWith(const Labels& labels, PodRules rules = {}) {
    Pod pod = MakePod("other");
    pod.node_name = "node";
    pod.labels = labels;
    pod.rules = std::make_shared<PodRules>(std::move(rules));
    return pod;
  }
  static ObjectRef Node(const Labels& labels, std::vector<Taint> taints = {}) {
    ObjectView node;
    node.resource = Resource::kNode;
    node.name = "node";
    node.labels = labels;
    node.taints = std::move(taints);
    return std::make_shared<const ObjectView>(std::move(node));
  }
  static PodTerm Term(const std::string& app, const std::string& key = "zone") {
    return {AppIs(app), {}, {}, key};
  }

  Interner names_;
  World world_{&names_};
  const PluginRegistry registry_ = BuildOrDie(BuiltinPlugins(&world_));
  const PluginJudge judge_{registry_};
  Pod pod_ = MakePod("p");
};

TEST_F(PodRulesPluginsTest, NodeNameWaitsForNodes) {
  EXPECT_TRUE(Wakes("NodeName", Resource::kNode, Action::kAdd, {nullptr, Node({})}));
  EXPECT_FALSE(Wakes("NodeName", Resource::kNode, Action::kUpdateNodeLabel, {Node({}), Node({})}));
}

TEST_F(PodRulesPluginsTest, NodePortsWaitsForThoseWhoHoldItsPorts) {
  SetRules({.host_ports = {{"0.0.0.0", "TCP", 80}}});
  const auto wakes = [&](const HostPort& port) {
    return Wakes("NodePorts", Resource::kAssignedPod, Action::kDelete,
                 {ViewOfPod(PodWith({}, {.host_ports = {port}})), nullptr});
  };
  EXPECT_TRUE(wakes({"10.0.0.1", "TCP", 80})) << "all addresses conflict with each";
  EXPECT_FALSE(wakes({"0.0.0.0", "UDP", 80}));
  EXPECT_FALSE(wakes({"0.0.0.0", "TCP", 81}));
  SetRules({.host_ports = {{"10.0.0.2", "TCP", 80}}});
  EXPECT_FALSE(wakes({"10.0.0.1", "TCP", 80}));
  EXPECT_TRUE(wakes({"10.0.0.2", "TCP", 80}));
  EXPECT_TRUE(Wakes("NodePorts", Resource::kNode, Action::kAdd, {nullptr, Node({})}));
  EXPECT_FALSE(Wakes("NodePorts", Resource::kAssignedPod, Action::kDelete,
                     {ViewOfPod(MakePod("other")), nullptr}));
  EXPECT_TRUE(Wakes("NodePorts", Resource::kAssignedPod, Action::kDelete, {}));
}

TEST_F(PodRulesPluginsTest, NodeAffinityUnderstandsAllOperatorsAndNames) {
  const auto wakes = [&](const NodeTerm& term, const Labels& labels) {
    SetRules({.node_terms = {term}});
    return Wakes("NodeAffinity", Resource::kNode, Action::kAdd, {nullptr, Node(labels)});
  };
  EXPECT_TRUE(wakes({{{"a", Operator::kNotIn, {"x"}}, false}}, {{"a", "y"}}));
  EXPECT_TRUE(wakes({{{"a", Operator::kNotIn, {"x"}}, false}}, {}));
  EXPECT_FALSE(wakes({{{"a", Operator::kNotIn, {"x"}}, false}}, {{"a", "x"}}));
  EXPECT_TRUE(wakes({{{"a", Operator::kExists, {}}, false}}, {{"a", ""}}));
  EXPECT_FALSE(wakes({{{"a", Operator::kDoesNotExist, {}}, false}}, {{"a", ""}}));
  EXPECT_TRUE(wakes({{{"a", Operator::kGreater, {"3"}}, false}}, {{"a", "4"}}));
  EXPECT_FALSE(wakes({{{"a", Operator::kGreater, {"3"}}, false}}, {{"a", "x"}}));
  EXPECT_TRUE(wakes({{{"a", Operator::kLess, {"3"}}, false}}, {{"a", "-4"}}));
  EXPECT_TRUE(wakes({{{"metadata.name", Operator::kIn, {"node"}}, true}}, {}));
  EXPECT_FALSE(wakes({{{"metadata.name", Operator::kIn, {"none"}}, true}}, {}));
  EXPECT_FALSE(wakes({}, {})) << "an empty term is met by no node";
}

TEST_F(PodRulesPluginsTest, InterPodAffinityOnPods) {
  const auto wakes = [&](Action action, const Pod* before, const Pod* after) {
    return Wakes("InterPodAffinity", Resource::kAssignedPod, action,
                 {before == nullptr ? nullptr : ViewOfPod(*before),
                  after == nullptr ? nullptr : ViewOfPod(*after)});
  };
  const Pod db = PodWith({{"app", "db"}});
  const Pod web = PodWith({{"app", "web"}});
  SetRules({.affinity = {Term("db")}});
  EXPECT_TRUE(wakes(Action::kAdd, nullptr, &db));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, &web));
  EXPECT_TRUE(wakes(Action::kUpdatePodLabel, &web, &db));
  EXPECT_FALSE(wakes(Action::kUpdatePodLabel, &db, &web));
  EXPECT_FALSE(wakes(Action::kDelete, &db, nullptr));
  // One that wants its own like may go first once nobody of them is left.
  pod_.labels = {{"app", "db"}};
  EXPECT_TRUE(wakes(Action::kDelete, &db, nullptr));
  EXPECT_TRUE(wakes(Action::kUpdatePodLabel, &db, &web));
  EXPECT_FALSE(wakes(Action::kDelete, &web, nullptr));

  SetRules({.anti_affinity = {Term("db")}});
  EXPECT_TRUE(wakes(Action::kDelete, &db, nullptr));
  EXPECT_FALSE(wakes(Action::kDelete, &web, nullptr));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, &db));
  EXPECT_TRUE(wakes(Action::kUpdatePodLabel, &db, &web));
  EXPECT_FALSE(wakes(Action::kUpdatePodLabel, &web, &db));
  // Of two terms about different neighbours each counts by itself.
  SetRules({.anti_affinity = {Term("db", "zone"), {LabelSelector(), {}, {}, "host"}}});
  EXPECT_TRUE(wakes(Action::kUpdatePodLabel, &db, &web));

  SetRules({});
  const Pod hates_db = PodWith({}, {.anti_affinity = {Term("db")}});
  const Pod hates_web = PodWith({}, {.anti_affinity = {Term("web")}});
  EXPECT_TRUE(wakes(Action::kDelete, &hates_db, nullptr));
  EXPECT_FALSE(wakes(Action::kDelete, &hates_web, nullptr));
}

// Labels of namespaces are unknown to hints, which must not leave a pod waiting.
TEST_F(PodRulesPluginsTest, InterPodAffinityOnNamespaces) {
  Pod db = PodWith({{"app", "db"}});
  const auto wakes = [&] {
    return Wakes("InterPodAffinity", Resource::kAssignedPod, Action::kAdd,
                 {nullptr, ViewOfPod(db)});
  };
  PodTerm term = Term("db");
  SetRules({.affinity = {term}});
  db.namespace_name = "other";
  EXPECT_FALSE(wakes());
  term.namespaces = {"other"};
  SetRules({.affinity = {term}});
  EXPECT_TRUE(wakes());
  term.namespaces = {"third"};
  term.namespace_selector = LabelSelector{{"team", Operator::kExists, {}}};
  SetRules({.affinity = {term}});
  EXPECT_TRUE(wakes());
}

TEST_F(PodRulesPluginsTest, InterPodAffinityOnNodes) {
  const auto wakes = [&](const Labels* before, const Labels& after) {
    return Wakes("InterPodAffinity", Resource::kNode,
                 before == nullptr ? Action::kAdd : Action::kUpdateNodeLabel,
                 {before == nullptr ? nullptr : Node(*before), Node(after)});
  };
  const Labels none;
  const Labels a = {{"zone", "a"}};
  const Labels b = {{"zone", "b"}};
  SetRules({.affinity = {Term("db")}});
  EXPECT_TRUE(wakes(nullptr, a));
  EXPECT_FALSE(wakes(nullptr, none));
  EXPECT_TRUE(wakes(&none, a));
  EXPECT_TRUE(wakes(&a, b));
  EXPECT_FALSE(wakes(&a, a));
  SetRules({.anti_affinity = {Term("db")}});
  EXPECT_TRUE(wakes(nullptr, none));
  EXPECT_TRUE(wakes(&a, none));
  EXPECT_TRUE(wakes(&a, b));
  EXPECT_FALSE(wakes(&none, a)) << "without the label nobody was near";
  SetRules({});
  EXPECT_TRUE(wakes(nullptr, a)) << "pods on other nodes keep it away";
  EXPECT_TRUE(Wakes("InterPodAffinity", Resource::kTargetPod, Action::kUpdatePodLabel,
                    {ViewOfPod(pod_), ViewOfPod(pod_)}));
}

TEST_F(PodRulesPluginsTest, PodTopologySpreadOnPods) {
  const auto wakes = [&](Action action, const Pod* before, const Pod* after) {
    return Wakes("PodTopologySpread", Resource::kAssignedPod, action,
                 {before == nullptr ? nullptr : ViewOfPod(*before),
                  after == nullptr ? nullptr : ViewOfPod(*after)});
  };
  SpreadRule rule;
  rule.topology_key = "zone";
  rule.selector = AppIs("web");
  SetRules({.spread = {rule}});
  const Pod web = PodWith({{"app", "web"}});
  const Pod db = PodWith({{"app", "db"}});
  Pod elsewhere = web;
  elsewhere.namespace_name = "other";
  EXPECT_TRUE(wakes(Action::kAdd, nullptr, &web)) << "it may raise the least";
  EXPECT_TRUE(wakes(Action::kDelete, &web, nullptr));
  EXPECT_FALSE(wakes(Action::kDelete, &db, nullptr));
  EXPECT_FALSE(wakes(Action::kDelete, &elsewhere, nullptr));
  EXPECT_TRUE(wakes(Action::kUpdatePodLabel, &web, &db));
  EXPECT_FALSE(wakes(Action::kUpdatePodLabel, &db, &db));
  rule.is_required = false;
  SetRules({.spread = {rule}});
  EXPECT_FALSE(wakes(Action::kDelete, &web, nullptr)) << "what only scores rejects nobody";
}

TEST_F(PodRulesPluginsTest, PodTopologySpreadOnItself) {
  SpreadRule rule;
  rule.topology_key = "zone";
  rule.selector = AppIs("web");
  const auto wakes = [&](const Pod& before, const Pod& after, Action action) {
    return Wakes("PodTopologySpread", Resource::kTargetPod, action,
                 {ViewOfPod(before), ViewOfPod(after)});
  };
  Pod web = PodWith({{"app", "web"}});
  Pod tolerant = web;
  tolerant.tolerations = {{"t", "", "", true}};
  SetRules({.spread = {rule}});
  EXPECT_TRUE(wakes(web, PodWith({}), Action::kUpdatePodLabel));
  EXPECT_FALSE(wakes(web, PodWith({{"app", "web"}, {"x", "y"}}), Action::kUpdatePodLabel));
  EXPECT_FALSE(wakes(web, tolerant, Action::kUpdatePodToleration));
  rule.honors_taints = true;
  SetRules({.spread = {rule}});
  EXPECT_TRUE(wakes(web, tolerant, Action::kUpdatePodToleration));
  rule.match_label_keys = {"x"};
  SetRules({.spread = {rule}});
  EXPECT_TRUE(wakes(web, PodWith({{"app", "web"}, {"x", "y"}}), Action::kUpdatePodLabel));
}

TEST_F(PodRulesPluginsTest, PodTopologySpreadOnNodes) {
  SpreadRule rule;
  rule.topology_key = "zone";
  rule.selector = AppIs("web");
  SetRules({.spread = {rule}});
  pod_.node_selector = {{"disk", "ssd"}};
  const auto wakes = [&](Action action, ObjectRef before, ObjectRef after) {
    return Wakes("PodTopologySpread", Resource::kNode, action, {before, after});
  };
  const ObjectRef a = Node({{"disk", "ssd"}, {"zone", "a"}});
  const ObjectRef b = Node({{"disk", "ssd"}, {"zone", "b"}});
  const ObjectRef excluded = Node({{"zone", "a"}});
  const ObjectRef tainted = Node({{"disk", "ssd"}, {"zone", "a"}}, {{"t", "", "NoSchedule"}});
  EXPECT_TRUE(wakes(Action::kAdd, nullptr, a));
  EXPECT_FALSE(wakes(Action::kAdd, nullptr, Node({})));
  EXPECT_TRUE(wakes(Action::kDelete, a, nullptr));
  EXPECT_FALSE(wakes(Action::kDelete, Node({}), nullptr));
  EXPECT_TRUE(wakes(Action::kUpdateNodeLabel, a, b));
  EXPECT_TRUE(wakes(Action::kUpdateNodeLabel, a, Node({})));
  EXPECT_TRUE(wakes(Action::kUpdateNodeLabel, a, excluded)) << "it does not count any more";
  EXPECT_FALSE(wakes(Action::kUpdateNodeLabel, a, a));
  EXPECT_TRUE(wakes(Action::kUpdateNodeTaint, tainted, a));
}

}  // namespace
}  // namespace schedq::hints_test
