// Goal: no hint lets a pod sleep through its chance: whenever the hints of the plugins that
// rejected a pod say Skip to a change, the pod would still be rejected after it.
// Method: seeded random worlds of a few nodes and pods with every kind of rule and with volumes.
// Pods that fit nowhere wait with the plugins that rejected them; after each random change the
// hints are asked, and every waiting pod to which all say Skip is placed by way of trial. A pod to
// which one says Queue is attempted anew. The canary of each plugin answers Skip to everything, and
// must be noticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/placer.h"
#include "bench/sim/placing/rejectors.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_events.h"
#include "engine/ports.h"
#include "hints/judge.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/volume_rules.h"
#include "hints/registry.h"
#include "hints/world.h"
#include "schedq/cluster_events.h"
#include "tests/unit/bench/sim/placing_draws.h"
#include "tests/unit/bench/sim/placing_storage_world.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

constexpr uint64_t kWorlds = 150;
// Until a dishonest hint is noticed.
constexpr uint64_t kCanaryWorlds = 1500;
constexpr int kSteps = 120;
constexpr size_t kWaitingMax = 12;

class HonestyWorld {
 public:
  HonestyWorld(uint64_t seed, const PluginRegistry& registry)
      : draw_(seed),
        storage_(seed),
        registry_(registry),
        judge_(registry),
        rejectors_(cache_.framework(), registry) {}

  uint64_t skips = 0;
  uint64_t placed_after_queue = 0;

  // False: a hint has been dishonest; `fault` says how.
  bool Step(std::string* fault) {
    switch (draw_.Below(10)) {
      case 8:
      case 9:
        return ChangeStorage(fault);
      case 0:
        return ChangeNode(fault);
      case 1:
        return draw_.OneIn(4) ? RemoveNode(fault) : ChangeNode(fault);
      case 2:
        return RemovePod(fault);
      case 3:
        return RelabelPod(fault);
      case 4:
        return ChangeWaiting(fault);
      default:
        return AddPod(fault);
    }
  }

 private:
  struct Waiting {
    ClusterPodRef pod;
    PluginSet rejectors;
  };

  bool Tell(const std::vector<ClusterEvent>& events, const ObjectChange& change,
            std::string* fault) {
    for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
      bool wakes = false;
      for (const ClusterEvent& event : events) wakes = wakes || Wakes(*waiting, event, change);
      const Decision decision = placer_.Decide(*waiting->pod);
      if (!wakes) {
        ++skips;
        if (decision.node.empty()) {
          ++waiting;
          continue;
        }
        *fault = "pod " + waiting->pod->name + " slept though " + decision.node + " takes it after";
        for (const ClusterEvent& event : events)
          *fault += " " + std::string(LabelText(event.label));
        *fault += ", rejected by";
        waiting->rejectors.ForEach([&](PluginId id) { *fault += " " + registry_.plugin(id).name; });
        return false;
      }
      if (decision.node.empty()) {
        waiting->rejectors = rejectors_.Of(decision);
        ++waiting;
        continue;
      }
      ++placed_after_queue;
      waiting = waiting_.erase(waiting);
    }
    return true;
  }

  bool Wakes(const Waiting& waiting, const ClusterEvent& event, const ObjectChange& change) {
    // Without a node no plugin rejected it, and it comes back by itself.
    if (waiting.rejectors.empty()) return true;
    const JudgedPod judged{waiting.pod.get(), 0, waiting.rejectors, {}};
    Verdict verdict = Verdict::kSkip;
    judge_.Judge({&judged, 1}, event, change, {&verdict, 1});
    return verdict != Verdict::kSkip;
  }

  void Deliver(ObjectRef before, ObjectRef after) {
    ClusterChange change;
    change.resource = Resource::kNode;
    change.objects = {std::move(before), std::move(after)};
    cache_.Apply(change);
  }

  bool ChangeNode(std::string* fault) {
    const std::string name = draw_.NodeName();
    auto node = std::make_shared<ClusterNode>();
    const ClusterNodeRef before = nodes_.count(name) != 0 ? nodes_[name] : nullptr;
    if (before != nullptr) *node = *before;
    const bool all = before == nullptr;
    node->name = name;
    if (all || draw_.OneIn(3)) {
      node->labels = draw_.NodeLabels(name);
      const std::string zone(1, static_cast<char>('a' + draw_.Below(kZones)));
      if (!draw_.OneIn(6)) SetLabel(&node->labels, "topology.kubernetes.io/zone", zone);
    }
    if (all || draw_.OneIn(3)) node->taints = draw_.Taints();
    if (all || draw_.OneIn(3)) node->allocatable = draw_.Allocatable();
    if (all || draw_.OneIn(6)) node->unschedulable = draw_.OneIn(6);
    nodes_[name] = node;
    Deliver(before, node);
    // A kubelet makes its CSINode with the node; without one a node has no limits.
    std::vector<ClusterEvent> events = {MakeEvent(Resource::kNode, Action::kAdd),
                                        MakeEvent(Resource::kCSINode, Action::kAdd)};
    if (!all) events = NodeUpdateEvents(*before, *node);
    return Tell(events, {before, node}, fault);
  }

  // Only without pods: upstream's InterPodAffinity does not hear of nodes that go.
  bool RemoveNode(std::string* fault) {
    const std::string name = draw_.NodeName();
    const bool is_used = std::any_of(bound_.begin(), bound_.end(),
                                     [&](const auto& pod) { return pod->node_name == name; });
    if (nodes_.count(name) == 0 || is_used) return true;
    const ClusterNodeRef before = nodes_[name];
    nodes_.erase(name);
    Deliver(before, nullptr);
    return Tell({MakeEvent(Resource::kNode, Action::kDelete)}, {before, nullptr}, fault);
  }

  bool AddPod(std::string* fault) {
    auto pod = PodOf(++last_pod_, static_cast<int64_t>(draw_.Below(3)) * 100);
    pod->name = "p" + std::to_string(last_pod_);
    pod->namespace_name = draw_.Namespace();
    pod->labels = draw_.PodLabels();
    pod->tolerations = draw_.Tolerations();
    pod->rules = draw_.Rules();
    pod->volumes = storage_.Volumes();
    if (draw_.OneIn(5)) pod->node_selector = {{"disk", "a"}};
    Decision decision = placer_.Decide(*pod);
    if (decision.node.empty()) {
      if (waiting_.size() < kWaitingMax) waiting_.push_back({pod, rejectors_.Of(decision)});
      return true;
    }
    EXPECT_TRUE(cache_.Assume(pod, &decision));
    auto bound = std::make_shared<ClusterPod>(*pod);
    bound->node_name = decision.node;
    ClusterChange change;
    change.pod_before = pod;
    change.pod_after = bound;
    cache_.Apply(change);
    bound_.push_back(bound);
    if (!Tell({MakeEvent(Resource::kAssignedPod, Action::kAdd)}, {nullptr, AssignedPodView(bound)},
              fault)) {
      return false;
    }
    if (decision.volumes == nullptr) return true;
    const std::vector<StorageWorld::Told> stored = storage_.Store(*decision.volumes);
    return std::all_of(stored.begin(), stored.end(),
                       [&](const StorageWorld::Told& told) { return TellOfStorage(told, fault); });
  }

  bool ChangeStorage(std::string* fault) {
    std::set<std::string> mounted;
    for (const ClusterPodRef& pod : bound_) {
      for (const std::string& claim : VolumesOf(*pod).claims) {
        mounted.insert(QualifiedName(pod->namespace_name, claim));
      }
    }
    const auto told = storage_.Next(mounted);
    return !told || TellOfStorage(*told, fault);
  }

  bool TellOfStorage(const StorageWorld::Told& told, std::string* fault) {
    ClusterChange change;
    change.resource = told.resource;
    change.objects = told.change;
    cache_.Apply(change);
    return Tell({MakeEvent(told.resource, ActionOf(told.change))}, told.change, fault);
  }

  bool RemovePod(std::string* fault) {
    if (bound_.empty()) return true;
    const auto at = bound_.begin() + static_cast<std::ptrdiff_t>(draw_.Below(bound_.size()));
    const ClusterPodRef pod = *at;
    bound_.erase(at);
    ClusterChange change;
    change.pod_before = pod;
    cache_.Apply(change);
    return Tell({MakeEvent(Resource::kAssignedPod, Action::kDelete)},
                {AssignedPodView(pod), nullptr}, fault);
  }

  bool RelabelPod(std::string* fault) {
    if (bound_.empty()) return true;
    ClusterPodRef& pod = bound_[draw_.Below(bound_.size())];
    const ClusterPodRef before = pod;
    auto after = std::make_shared<ClusterPod>(*before);
    after->labels = draw_.PodLabels();
    pod = after;
    ClusterChange change;
    change.pod_before = before;
    change.pod_after = after;
    cache_.Apply(change);
    std::vector<ClusterEvent> events;
    for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
      events.push_back(MakeEvent(Resource::kAssignedPod, event.action));
    }
    return Tell(events, {AssignedPodView(before), AssignedPodView(after)}, fault);
  }

  // A waiting pod changes itself: only it hears of that.
  bool ChangeWaiting(std::string* fault) {
    if (waiting_.empty()) return true;
    Waiting& waiting = waiting_[draw_.Below(waiting_.size())];
    const ClusterPodRef before = waiting.pod;
    auto after = std::make_shared<ClusterPod>(*before);
    if (draw_.OneIn(2)) {
      after->labels = draw_.PodLabels();
    } else {
      after->tolerations.push_back({"team", "b", "", draw_.OneIn(2)});
    }
    waiting.pod = after;
    const ObjectChange change = TargetPodChange(before, after);
    bool wakes = false;
    for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
      wakes = wakes || Wakes(waiting, event, change);
    }
    const Decision decision = placer_.Decide(*after);
    if (!wakes && !decision.node.empty()) {
      *fault = "pod " + after->name + " slept though its own change lets it onto " + decision.node;
      return false;
    }
    if (wakes) waiting.rejectors = rejectors_.Of(decision);
    if (!decision.node.empty()) {
      std::erase_if(waiting_, [&](const Waiting& each) { return each.pod == after; });
    }
    return true;
  }

  Draw draw_;
  StorageWorld storage_;
  const PluginRegistry& registry_;
  const PluginJudge judge_;
  SchedulerCache cache_;
  Placer placer_{&cache_};
  const Rejectors rejectors_;
  std::map<std::string, ClusterNodeRef> nodes_;
  std::vector<ClusterPodRef> bound_;
  std::vector<Waiting> waiting_;
  uint64_t last_pod_ = 0;
};

PluginRegistry RegistryOf(std::vector<Plugin> plugins) {
  Result<PluginRegistry> registry = PluginRegistry::Build(std::move(plugins));
  SCHEDQ_CHECK(registry.ok(), "the built-in plugins are well-formed");
  return std::move(*registry);
}

struct Outcome {
  std::string fault;  // Empty: all hints were honest.
  uint64_t seed = 0;
  uint64_t skips = 0;
  uint64_t placed_after_queue = 0;
};

Outcome PlayWorlds(const PluginRegistry& registry, uint64_t worlds = kWorlds) {
  Outcome outcome;
  for (outcome.seed = 1; outcome.seed <= worlds; ++outcome.seed) {
    HonestyWorld world(outcome.seed, registry);
    for (int step = 0; step < kSteps; ++step) {
      if (!world.Step(&outcome.fault)) return outcome;
    }
    outcome.skips += world.skips;
    outcome.placed_after_queue += world.placed_after_queue;
  }
  return outcome;
}

TEST(HintsHonesty, NoPodSleepsThroughItsChance) {
  Interner names;
  const World world(&names);
  const Outcome outcome = PlayWorlds(RegistryOf(BuiltinPlugins(&world)));
  EXPECT_EQ(outcome.fault, "") << "seed " << outcome.seed;
  EXPECT_GT(outcome.skips, kWorlds * kSteps) << "hints that never say Skip are not tried";
  EXPECT_GT(outcome.placed_after_queue, kWorlds) << "nor are those that wake no pod in vain";
}

class DishonestHint : public testing::TestWithParam<const char*> {};

TEST_P(DishonestHint, IsNoticed) {
  Interner names;
  const World world(&names);
  std::vector<Plugin> plugins = BuiltinPlugins(&world);
  const auto found = std::find_if(plugins.begin(), plugins.end(),
                                  [](const Plugin& plugin) { return plugin.name == GetParam(); });
  ASSERT_NE(found, plugins.end());
  for (EventRegistration& registration : found->events) {
    registration.hint = [](const Pod&, const ObjectChange&) { return Hint::kSkip; };
  }
  EXPECT_NE(PlayWorlds(RegistryOf(std::move(plugins)), kCanaryWorlds).fault, "");
}

INSTANTIATE_TEST_SUITE_P(Canary, DishonestHint,
                         testing::Values("NodeUnschedulable", "TaintToleration", "NodeAffinity",
                                         "NodePorts", "NodeResourcesFit", "PodTopologySpread",
                                         "InterPodAffinity", "VolumeRestrictions",
                                         "NodeVolumeLimits", "VolumeBinding", "VolumeZone"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace schedq
