// Goal: the plugins of volumes wake a pod for what may help it, and for nothing else; and their
// rules about disks and zones hold.
// Method: a table of changes a plugin, each judged through the registry, so that registrations and
// hints are tested together.
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
#include "engine/pod_rules.h"
#include "engine/pod_volumes.h"
#include "engine/ports.h"
#include "engine/storage_facts.h"
#include "hints/judge.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/volume_rules.h"
#include "hints/registry.h"
#include "hints/world.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

using Kind = InlineDisk::Kind;

InlineDisk Disk(Kind kind, const std::string& name, bool read_only = false) {
  return {kind, name, {}, read_only};
}

Pod PodWith(PodVolumes volumes, const std::string& namespace_name = "ns") {
  Pod pod = MakePod("other");
  pod.namespace_name = namespace_name;
  pod.node_name = "node";
  pod.volumes = std::make_shared<PodVolumes>(std::move(volumes));
  return pod;
}

ObjectRef Object(Resource resource, const std::string& name, const Labels& labels = {},
                 const StorageFacts* storage = nullptr) {
  ObjectView view;
  view.resource = resource;
  view.namespace_name = resource == Resource::kPersistentVolumeClaim ? "ns" : "";
  view.name = name;
  view.labels = labels;
  if (storage != nullptr) view.storage = std::make_shared<StorageFacts>(*storage);
  return std::make_shared<const ObjectView>(std::move(view));
}

class VolumePluginsTest : public testing::Test {
 protected:
  VolumePluginsTest() {
    pod_.volumes = std::make_shared<PodVolumes>(PodVolumes{.claims = {"mine"}});
  }
  bool Wakes(const std::string& plugin, Resource resource, Action action,
             const ObjectChange& change) {
    const JudgedPod judged{&pod_, 0, PluginSet::Of(*registry_.Find(plugin)), {}};
    return JudgeOne(judge_, judged, MakeEvent(resource, action), change) != Verdict::kSkip;
  }
  bool WakesWhenGone(const std::string& plugin, const Pod& pod) {
    return Wakes(plugin, Resource::kAssignedPod, Action::kDelete, {ViewOfPod(pod), nullptr});
  }
  bool WakesForFacts(const std::string& plugin, Resource resource, const StorageFacts& before,
                     const StorageFacts& after) {
    return Wakes(plugin, resource, Action::kUpdate,
                 {Object(resource, "o", {}, &before), Object(resource, "o", {}, &after)});
  }

  Interner names_;
  World world_{&names_};
  const PluginRegistry registry_ = BuildOrDie(BuiltinPlugins(&world_));
  const PluginJudge judge_{registry_};
  Pod pod_ = MakePod("p");
};

TEST_F(VolumePluginsTest, ClaimsWakeThePodsThatMountThem) {
  const Resource claim = Resource::kPersistentVolumeClaim;
  for (const char* plugin :
       {"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}) {
    SCOPED_TRACE(plugin);
    EXPECT_TRUE(Wakes(plugin, claim, Action::kAdd, {nullptr, Object(claim, "mine")}));
    EXPECT_FALSE(Wakes(plugin, claim, Action::kAdd, {nullptr, Object(claim, "other")}));
    EXPECT_FALSE(Wakes(plugin, claim, Action::kDelete, {Object(claim, "mine"), nullptr}));
    EXPECT_TRUE(Wakes(plugin, claim, Action::kAdd, {})) << "facts are missing";
    pod_.namespace_name = "elsewhere";
    EXPECT_FALSE(Wakes(plugin, claim, Action::kAdd, {nullptr, Object(claim, "mine")}));
    pod_.namespace_name = "ns";
  }
  for (const char* plugin : {"VolumeBinding", "VolumeZone"}) {
    EXPECT_TRUE(
        Wakes(plugin, claim, Action::kUpdate, {Object(claim, "mine"), Object(claim, "mine")}));
  }
}

TEST_F(VolumePluginsTest, RestrictionsWaitForThoseWhoHoldClaimOrDisk) {
  EXPECT_TRUE(WakesWhenGone("VolumeRestrictions", PodWith({.claims = {"x", "mine"}})));
  EXPECT_FALSE(WakesWhenGone("VolumeRestrictions", PodWith({.claims = {"x"}})));
  EXPECT_FALSE(WakesWhenGone("VolumeRestrictions", PodWith({.claims = {"mine"}}, "elsewhere")));
  EXPECT_FALSE(WakesWhenGone("VolumeRestrictions", MakePod("without")));
  pod_.volumes = std::make_shared<PodVolumes>(PodVolumes{.disks = {Disk(Kind::kIscsi, "a")}});
  EXPECT_TRUE(WakesWhenGone("VolumeRestrictions", PodWith({.disks = {Disk(Kind::kIscsi, "a")}})));
  EXPECT_TRUE(WakesWhenGone("VolumeRestrictions",
                            PodWith({.disks = {Disk(Kind::kIscsi, "a", true)}}, "elsewhere")))
      << "a disk may be held from any namespace";
  EXPECT_FALSE(WakesWhenGone("VolumeRestrictions", PodWith({.disks = {Disk(Kind::kIscsi, "b")}})));
  EXPECT_TRUE(Wakes("VolumeRestrictions", Resource::kNode, Action::kAdd,
                    {nullptr, Object(Resource::kNode, "n")}));
}

TEST_F(VolumePluginsTest, LimitsWaitForVolumesThatGoAndLimitsThatGrow) {
  const char* const plugin = "NodeVolumeLimits";
  EXPECT_TRUE(WakesWhenGone(plugin, PodWith({.claims = {"x"}}, "elsewhere")));
  EXPECT_TRUE(WakesWhenGone(plugin, PodWith({.disks = {Disk(Kind::kCinder, "a")}})));
  EXPECT_FALSE(WakesWhenGone(plugin, PodWith({.disks = {Disk(Kind::kIscsi, "a")}})))
      << "no node counts those";
  EXPECT_FALSE(WakesWhenGone(plugin, MakePod("without")));
  Pod nowhere = PodWith({.claims = {"x"}});
  nowhere.node_name.clear();
  EXPECT_FALSE(WakesWhenGone(plugin, nowhere));
  nowhere.nominated_node_name = "node";
  EXPECT_TRUE(WakesWhenGone(plugin, nowhere));
  const auto wakes = [&](const ResourceList& before, const ResourceList& after) {
    return WakesForFacts(plugin, Resource::kCSINode, {.volume_limits = before},
                         {.volume_limits = after});
  };
  EXPECT_TRUE(wakes({{"d", 1}}, {{"d", 2}}));
  EXPECT_TRUE(wakes({{"d", 1}}, {})) << "without a limit there is room";
  EXPECT_TRUE(wakes({}, {{"d", 1}}));
  EXPECT_FALSE(wakes({{"d", 2}}, {{"d", 2}}));
  EXPECT_FALSE(wakes({{"d", 2}, {"e", 1}}, {{"d", 1}, {"e", 1}}));
  EXPECT_TRUE(Wakes(plugin, Resource::kCSINode, Action::kUpdate,
                    {Object(Resource::kCSINode, "n"), Object(Resource::kCSINode, "n")}))
      << "facts are missing";
  EXPECT_TRUE(
      Wakes(plugin, Resource::kCSINode, Action::kAdd, {nullptr, Object(Resource::kCSINode, "n")}));
  EXPECT_FALSE(
      Wakes(plugin, Resource::kNode, Action::kAdd, {nullptr, Object(Resource::kNode, "n")}));
}

TEST_F(VolumePluginsTest, BindingWaitsForVolumesClassesAndNodes) {
  const char* const plugin = "VolumeBinding";
  const Resource volume = Resource::kPersistentVolume;
  const Resource storage_class = Resource::kStorageClass;
  EXPECT_TRUE(Wakes(plugin, volume, Action::kAdd, {nullptr, Object(volume, "v")}));
  EXPECT_TRUE(Wakes(plugin, volume, Action::kUpdate, {Object(volume, "v"), Object(volume, "v")}));
  EXPECT_FALSE(Wakes(plugin, volume, Action::kDelete, {Object(volume, "v"), nullptr}));
  EXPECT_TRUE(Wakes(plugin, storage_class, Action::kAdd, {nullptr, Object(storage_class, "c")}));
  const std::vector<NodeTerm> zone_a = {
      {{{"zone", LabelRequirement::Operator::kIn, {"a"}}, false}}};
  EXPECT_TRUE(WakesForFacts(plugin, storage_class, {.allowed_topologies = zone_a}, {}));
  EXPECT_FALSE(WakesForFacts(plugin, storage_class, {.allowed_topologies = zone_a},
                             {.waits_for_consumer = true, .allowed_topologies = zone_a}));
  EXPECT_TRUE(WakesForFacts(plugin, Resource::kCSINode, {}, {.migrated_plugins = {"m"}}));
  EXPECT_FALSE(WakesForFacts(plugin, Resource::kCSINode, {}, {.volume_limits = {{"d", 1}}}));
  for (const Action action : {Action::kAdd, Action::kUpdateNodeLabel}) {
    EXPECT_TRUE(Wakes(plugin, Resource::kNode, action, {nullptr, Object(Resource::kNode, "n")}));
  }
  EXPECT_FALSE(WakesWhenGone(plugin, PodWith({.claims = {"mine"}})));
}

TEST_F(VolumePluginsTest, ZoneWaitsForVolumesInOtherZones) {
  const char* const plugin = "VolumeZone";
  const Resource volume = Resource::kPersistentVolume;
  const char* const zone = "topology.kubernetes.io/zone";
  const auto wakes = [&](const Labels& before, const Labels& after) {
    return Wakes(plugin, volume, Action::kUpdate,
                 {Object(volume, "v", before), Object(volume, "v", after)});
  };
  EXPECT_TRUE(Wakes(plugin, volume, Action::kAdd, {nullptr, Object(volume, "v")}));
  EXPECT_TRUE(wakes({{zone, "a"}}, {{zone, "b"}}));
  EXPECT_TRUE(wakes({{zone, "a"}}, {}));
  EXPECT_FALSE(wakes({{zone, "a__b"}}, {{zone, "b__a"}}));
  EXPECT_FALSE(wakes({{zone, "a"}}, {{"app", "x"}, {zone, "a"}}));
  const Resource storage_class = Resource::kStorageClass;
  for (const bool waits : {false, true}) {
    const StorageFacts facts{.waits_for_consumer = waits};
    EXPECT_EQ(Wakes(plugin, storage_class, Action::kAdd,
                    {nullptr, Object(storage_class, "c", {}, &facts)}),
              waits);
  }
  EXPECT_TRUE(Wakes(plugin, storage_class, Action::kAdd, {nullptr, Object(storage_class, "c")}))
      << "facts are missing";
}

TEST(VolumeRules, DisksConflictWhereOneWrites) {
  for (const Kind kind : {Kind::kGcePersistentDisk, Kind::kIscsi}) {
    EXPECT_TRUE(Conflicts(Disk(kind, "a"), Disk(kind, "a", true)));
    EXPECT_FALSE(Conflicts(Disk(kind, "a", true), Disk(kind, "a", true)));
    EXPECT_FALSE(Conflicts(Disk(kind, "a"), Disk(kind, "b")));
  }
  EXPECT_TRUE(Conflicts(Disk(Kind::kAwsElasticBlockStore, "a", true),
                        Disk(Kind::kAwsElasticBlockStore, "a", true)))
      << "such a disk is never shared";
  EXPECT_FALSE(Conflicts(Disk(Kind::kIscsi, "a"), Disk(Kind::kGcePersistentDisk, "a")));
  EXPECT_FALSE(Conflicts(Disk(Kind::kCinder, "a"), Disk(Kind::kCinder, "a")));
  const InlineDisk one{Kind::kRbd, "pool/image", {"m1", "m2"}, false};
  EXPECT_TRUE(Conflicts(one, {Kind::kRbd, "pool/image", {"m2"}, true}));
  EXPECT_FALSE(Conflicts(one, {Kind::kRbd, "pool/image", {"m3"}, false}));
}

TEST(VolumeRules, NodesAreInTheZonesOfVolumesByEitherNameOfTheLabel) {
  const auto is_in = [](const Labels& volume, const Labels& node) {
    return IsInZones(ZonesOf(volume), node);
  };
  const Labels old_name = {{"failure-domain.beta.kubernetes.io/zone", "a__b"}};
  const Labels new_name = {{"topology.kubernetes.io/zone", "a"}};
  EXPECT_TRUE(is_in(old_name, {{"failure-domain.beta.kubernetes.io/zone", "b"}}));
  EXPECT_FALSE(is_in(old_name, {{"topology.kubernetes.io/zone", "c"}}));
  EXPECT_TRUE(is_in(old_name, new_name));
  EXPECT_FALSE(is_in(new_name, {{"failure-domain.beta.kubernetes.io/zone", "a"}}))
      << "the later name is not looked for by the earlier one";
  EXPECT_TRUE(is_in(new_name, {})) << "a node without zones is in all";
  EXPECT_FALSE(is_in(new_name, {{"topology.kubernetes.io/region", "r"}}));
  EXPECT_TRUE(
      is_in({{"topology.kubernetes.io/zone", "a__"}}, {{"topology.kubernetes.io/zone", "c"}}))
      << "a malformed label says nothing";
}

}  // namespace
}  // namespace schedq::hints_test
