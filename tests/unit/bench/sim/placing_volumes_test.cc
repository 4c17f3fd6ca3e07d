// Goal: pods go only to nodes that take, reach and lend them their volumes; what is promised to one
// pod is promised to no other; and preemption sees what victims would free.
// Method: a cache as the informers fill it, nodes and objects of storage by hand, pods placed one
// after the other; books that many pods come to and leave are compared with a count anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/cluster_storage.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placer.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/placing/volumes/attachments.h"
#include "engine/base/random.h"
#include "engine/event.h"
#include "engine/label_selector.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"
#include "engine/pod_volumes.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::vector<NodeTerm> OnlyOn(const std::string& node) {
  return {{{{"name", LabelRequirement::Operator::kIn, {node}}, false}}};
}

class VolumesTest : public testing::Test {
 protected:
  // Nodes "n1" to "n3", each with a label of its name.
  VolumesTest() {
    for (uint64_t number = 1; number <= 3; ++number) {
      auto node = NodeOf(number, 1000);
      node->labels = {{"name", node->name}};
      Deliver(Resource::kNode, nullptr, node);
    }
  }
  void Deliver(Resource resource, ObjectRef before, ObjectRef after) {
    ClusterChange change;
    change.resource = resource;
    change.objects = {std::move(before), std::move(after)};
    cache_.Apply(change);
  }
  void SetLimit(const std::string& node, int64_t limit) {
    auto object = std::make_shared<ClusterCsiNode>();
    object->name = node;
    object->spec.limits = {{"d", limit}};
    Deliver(Resource::kCSINode, nullptr, object);
  }
  void SetClass(const std::string& name, const std::string& provisioner,
                std::vector<NodeTerm> topologies = {}) {
    auto object = std::make_shared<ClusterStorageClass>();
    object->name = name;
    object->spec = {provisioner, true, std::move(topologies), true};
    Deliver(Resource::kStorageClass, nullptr, object);
  }
  static std::shared_ptr<ClusterVolume> Volume(const std::string& name, const std::string& claim,
                                               std::vector<NodeTerm> terms = {}) {
    auto volume = std::make_shared<ClusterVolume>();
    volume->name = name;
    volume->spec.driver = "d";
    volume->spec.handle = name;
    volume->spec.claim = claim;
    volume->spec.class_name = "late";
    volume->spec.node_terms = std::move(terms);
    return volume;
  }
  void SetVolume(const std::string& name, std::vector<NodeTerm> terms = {}) {
    Deliver(Resource::kPersistentVolume, nullptr, Volume(name, "", std::move(terms)));
  }
  static std::shared_ptr<ClusterVolumeClaim> Claim(const std::string& name) {
    auto claim = std::make_shared<ClusterVolumeClaim>();
    claim->namespace_name = "ns";
    claim->name = name;
    claim->spec.class_name = "late";
    return claim;
  }
  void SetClaim(const std::string& name) {
    Deliver(Resource::kPersistentVolumeClaim, nullptr, Claim(name));
  }
  // A claim and a volume of the same name that are bound.
  void SetBound(const std::string& name, std::vector<NodeTerm> terms = {},
                const Labels& labels = {}, const std::string& mode = "") {
    auto volume = Volume(name, "ns/" + name, std::move(terms));
    volume->labels = labels;
    Deliver(Resource::kPersistentVolume, nullptr, volume);
    auto claim = Claim(name);
    claim->spec.volume_name = name;
    claim->spec.access_modes = {mode};
    claim->is_bound = true;
    Deliver(Resource::kPersistentVolumeClaim, nullptr, claim);
  }
  std::shared_ptr<ClusterPod> Pod(PodVolumes volumes, int32_t priority = 0) {
    auto pod = PodOf(++last_pod_, 10);
    pod->namespace_name = "ns";
    pod->name = "p" + std::to_string(last_pod_);
    pod->uid = pod->name;
    pod->priority = priority;
    pod->volumes = std::make_shared<PodVolumes>(std::move(volumes));
    return pod;
  }
  Decision Decide(const ClusterPodRef& pod) { return placer_.Decide(*pod); }
  // Its node; empty: none takes it.
  std::string Place(const std::shared_ptr<ClusterPod>& pod) {
    decision_ = Decide(pod);
    if (decision_.node.empty()) return "";
    EXPECT_TRUE(cache_.Assume(pod, &decision_));
    pod->node_name = decision_.node;
    return decision_.node;
  }
  std::string Place(PodVolumes volumes) { return Place(Pod(std::move(volumes))); }
  void RunOn(const std::string& node, const std::shared_ptr<ClusterPod>& pod) {
    pod->node_name = node;
    ClusterChange change;
    change.pod_after = pod;
    cache_.Apply(change);
  }
  void Delete(const ClusterPodRef& pod) {
    ClusterChange change;
    change.pod_before = pod;
    cache_.Apply(change);
  }
  std::set<std::string> Rejectors(const Decision& decision) const {
    std::set<std::string> names;
    for (size_t i = 0; i < cache_.framework().size(); ++i) {
      const bool rejects = (decision.rejectors & Framework::BitOf(i)) != 0;
      if (rejects) names.emplace(cache_.framework().plugin(i).name());
    }
    return names;
  }
  std::set<std::string> RejectorsOf(PodVolumes volumes) {
    const Decision decision = Decide(Pod(std::move(volumes)));
    EXPECT_EQ(decision.node, "");
    return Rejectors(decision);
  }

  SchedulerCache cache_;
  Placer placer_{&cache_};
  Decision decision_;  // Of the last pod that was placed.
  uint64_t last_pod_ = 0;
};

TEST_F(VolumesTest, AClaimThatIsMissingOrUnboundKeepsItsPodFromAllNodes) {
  EXPECT_THAT(RejectorsOf({.claims = {"a"}}), ElementsAre("VolumeRestrictions"));
  SetClaim("a");
  EXPECT_THAT(RejectorsOf({.claims = {"a"}}), ElementsAre("VolumeBinding"))
      << "its class is unknown, so it is bound at once or never";
  auto claim = Claim("a");
  claim->spec.volume_name = "gone";
  claim->is_bound = true;
  Deliver(Resource::kPersistentVolumeClaim, Claim("a"), claim);
  EXPECT_THAT(RejectorsOf({.claims = {"a"}}), ElementsAre("VolumeZone"));
}

TEST_F(VolumesTest, ANodeTakesAsManyVolumesAsItsLimit) {
  SetLimit("n1", 2);
  SetLimit("n2", 0);
  SetLimit("n3", 0);
  for (const char* name : {"a", "b", "c"}) SetBound(name);
  EXPECT_EQ(Place({.claims = {"a"}}), "n1");
  const auto second = Pod({.claims = {"b"}});
  EXPECT_EQ(Place(second), "n1");
  EXPECT_EQ(Place({.claims = {"a", "b"}}), "n1") << "both are attached already";
  EXPECT_THAT(RejectorsOf({.claims = {"a", "c"}}), ElementsAre("NodeVolumeLimits"));
  SetLimit("n2", 1);
  EXPECT_EQ(Place({.claims = {"c"}}), "n2");
  Delete(second);
  EXPECT_THAT(RejectorsOf({.claims = {"a", "b", "c"}}), ElementsAre("NodeVolumeLimits"))
      << "a third pod mounts b still";
}

TEST_F(VolumesTest, DisksOfMigratedPluginsCountToo) {
  auto object = std::make_shared<ClusterCsiNode>();
  object->name = "n1";
  object->spec.limits = {{"ebs.csi.aws.com", 1}};
  Deliver(Resource::kCSINode, nullptr, object);
  for (const char* node : {"n2", "n3"}) {
    auto full = std::make_shared<ClusterCsiNode>(*object);
    full->name = node;
    full->spec.limits[0].second = 0;
    Deliver(Resource::kCSINode, nullptr, full);
  }
  const auto disk = [](const std::string& name) {
    return InlineDisk{InlineDisk::Kind::kAwsElasticBlockStore, name, {}, false};
  };
  EXPECT_EQ(Place({.disks = {disk("x")}}), "n1");
  EXPECT_THAT(RejectorsOf({.disks = {disk("y")}}), ElementsAre("NodeVolumeLimits"));
  EXPECT_THAT(RejectorsOf({.disks = {disk("x")}}),
              UnorderedElementsAre("NodeVolumeLimits", "VolumeRestrictions"));
}

TEST_F(VolumesTest, AClaimForOnePodIsMountedByOnePodOfTheCluster) {
  SetBound("one", {}, {}, "ReadWriteOncePod");
  const auto first = Pod({.claims = {"one"}});
  EXPECT_NE(Place(first), "");
  EXPECT_THAT(RejectorsOf({.claims = {"one"}}), ElementsAre("VolumeRestrictions"));
  Delete(first);
  EXPECT_NE(Place({.claims = {"one"}}), "");
}

TEST_F(VolumesTest, PodsThatConflictAboutADiskAreOnDifferentNodes) {
  const InlineDisk disk{InlineDisk::Kind::kIscsi, "x", {}, false};
  const std::set<std::string> nodes = {Place({.disks = {disk}}), Place({.disks = {disk}}),
                                       Place({.disks = {disk}})};
  EXPECT_THAT(nodes, ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(RejectorsOf({.disks = {disk}}), ElementsAre("VolumeRestrictions"));
}

TEST_F(VolumesTest, APodGoesWhereItsVolumesAre) {
  SetBound("a", OnlyOn("n2"));
  EXPECT_EQ(Place({.claims = {"a"}}), "n2");
  SetBound("nowhere", OnlyOn("n9"));
  EXPECT_THAT(RejectorsOf({.claims = {"nowhere"}}), ElementsAre("VolumeBinding"));
  auto node = NodeOf(4, 1000);
  node->labels = {{"topology.kubernetes.io/zone", "z"}};
  Deliver(Resource::kNode, nullptr, node);
  for (uint64_t number = 1; number <= 3; ++number) {
    auto other = NodeOf(number, 1000);
    other->labels = {{"topology.kubernetes.io/zone", "y"}};
    Deliver(Resource::kNode, NodeOf(number, 1000), other);
  }
  SetBound("zoned", {}, {{"topology.kubernetes.io/zone", "x__z"}});
  EXPECT_EQ(Place({.claims = {"zoned"}}), "n4");
  SetBound("elsewhere", {}, {{"topology.kubernetes.io/zone", "x"}});
  EXPECT_THAT(RejectorsOf({.claims = {"elsewhere"}}), ElementsAre("VolumeZone"));
}

TEST_F(VolumesTest, AClaimThatWaitsIsPromisedAVolumeThatNoOtherPodGets) {
  SetClass("late", "kubernetes.io/no-provisioner");
  SetVolume("v2", OnlyOn("n2"));
  SetClaim("a");
  SetClaim("b");
  const auto pod = Pod({.claims = {"a"}});
  EXPECT_EQ(Place(pod), "n2");
  ASSERT_NE(decision_.volumes, nullptr);
  EXPECT_EQ(decision_.volumes->bindings.at(0).claim, "ns/a");
  EXPECT_EQ(decision_.volumes->bindings.at(0).volume, "v2");
  EXPECT_EQ(cache_.framework().PreBindSteps(decision_), 2u) << "one call, and the wait";
  EXPECT_THAT(RejectorsOf({.claims = {"b"}}), ElementsAre("VolumeBinding"));
  EXPECT_EQ(Place({.claims = {"a"}}), "n2") << "a further pod of the claim gets the same volume";
  cache_.Forget(*pod, decision_, 0);
  EXPECT_THAT(RejectorsOf({.claims = {"b"}}), ElementsAre("VolumeBinding"))
      << "it is promised to one pod still";
  SetVolume("v3", OnlyOn("n3"));
  EXPECT_EQ(Place({.claims = {"b"}}), "n3");
}

// Two threads decide about one claim, each before it hears of the other.
TEST_F(VolumesTest, AClaimIsPromisedOneVolumeOnly) {
  SetClass("late", "kubernetes.io/no-provisioner");
  SetVolume("v2", OnlyOn("n2"));
  SetClaim("a");
  const auto first = Pod({.claims = {"a"}});
  const auto second = Pod({.claims = {"a"}});
  Decision of_first = Decide(first);
  SetVolume("v1");
  Decision of_second = Decide(second);
  ASSERT_EQ(of_first.volumes->bindings.at(0).volume, "v2");
  ASSERT_EQ(of_second.volumes->bindings.at(0).volume, "v1");
  EXPECT_TRUE(cache_.Assume(first, &of_first));
  EXPECT_FALSE(cache_.Assume(second, &of_second)) << "the claim has the promise of v2";
  cache_.Forget(*first, of_first, 0);
  EXPECT_TRUE(cache_.Assume(second, &of_second)) << "that promise has ended";
}

TEST_F(VolumesTest, AClaimIsPromisedAVolumeOrOneThatIsMade) {
  SetClass("late", "d");
  SetClaim("a");
  const auto first = Pod({.claims = {"a"}});
  const auto second = Pod({.claims = {"a"}});
  Decision makes = Decide(first);
  ASSERT_THAT(makes.volumes->to_provision, ElementsAre("ns/a"));
  SetVolume("v");
  Decision binds = Decide(second);
  ASSERT_EQ(binds.volumes->bindings.size(), 1u);
  EXPECT_TRUE(cache_.Assume(first, &makes));
  EXPECT_FALSE(cache_.Assume(second, &binds)) << "a volume is being made";
  cache_.Forget(*first, makes, 0);
  EXPECT_TRUE(cache_.Assume(second, &binds));
  EXPECT_FALSE(cache_.Assume(first, &makes)) << "the claim has a volume";
}

TEST_F(VolumesTest, AVolumeThatNamesAClaimMustSuitIt) {
  SetClass("late", "kubernetes.io/no-provisioner");
  auto raw = Volume("1", "ns/a");
  raw->spec.is_block = true;
  Deliver(Resource::kPersistentVolume, nullptr, raw);
  auto shut = Volume("2", "ns/a");
  shut->spec.access_modes = {"ReadOnlyMany"};
  Deliver(Resource::kPersistentVolume, nullptr, shut);
  auto claim = Claim("a");
  claim->spec.access_modes = {"ReadWriteOnce"};
  Deliver(Resource::kPersistentVolumeClaim, nullptr, claim);
  EXPECT_THAT(RejectorsOf({.claims = {"a"}}), ElementsAre("VolumeBinding"));
  auto open = Volume("3", "ns/a");
  open->spec.access_modes = {"ReadOnlyMany", "ReadWriteOnce"};
  Deliver(Resource::kPersistentVolume, nullptr, open);
  EXPECT_NE(Place({.claims = {"a"}}), "");
  EXPECT_EQ(decision_.volumes->bindings.at(0).volume, "3");
}

TEST_F(VolumesTest, APromiseThatIsGivenBackIsFree) {
  SetClass("late", "kubernetes.io/no-provisioner");
  SetVolume("v2", OnlyOn("n2"));
  SetClaim("a");
  SetClaim("b");
  const auto pod = Pod({.claims = {"a"}});
  EXPECT_EQ(Place(pod), "n2");
  const Decision decision = decision_;
  cache_.Forget(*pod, decision, 0);
  const auto other = Pod({.claims = {"b"}});
  EXPECT_EQ(Place(other), "n2");
  // The first call was made: the cluster will say to whom the volume goes.
  cache_.Forget(*other, decision_, 1);
  EXPECT_THAT(RejectorsOf({.claims = {"a"}}), ElementsAre("VolumeBinding"));
  Deliver(Resource::kPersistentVolume, Volume("v2", "", OnlyOn("n2")),
          Volume("v2", "ns/b", OnlyOn("n2")));
  EXPECT_THAT(RejectorsOf({.claims = {"a"}}), ElementsAre("VolumeBinding"));
  EXPECT_EQ(Place({.claims = {"b"}}), "n2");
}

TEST_F(VolumesTest, AVolumeIsMadeWhereTheClassAllowsIt) {
  SetClass("late", "d", OnlyOn("n3"));
  SetClaim("a");
  SetClaim("b");
  const auto pod = Pod({.claims = {"a"}});
  EXPECT_EQ(Place(pod), "n3");
  EXPECT_THAT(decision_.volumes->to_provision, ElementsAre("ns/a"));
  SetClass("late", "d");
  EXPECT_EQ(Place({.claims = {"a"}}), "n3") << "its volume is for that node";
  SetLimit("n1", 0);
  SetLimit("n2", 0);
  SetLimit("n3", 1);
  EXPECT_THAT(RejectorsOf({.claims = {"b"}}), ElementsAre("NodeVolumeLimits"))
      << "a volume that is to be made counts";
}

TEST_F(VolumesTest, TheSmallestVolumesAreChosenAndEachOnce) {
  SetClass("late", "kubernetes.io/no-provisioner");
  for (const int64_t bytes : {5, 3, 4}) {
    auto volume = Volume("v" + std::to_string(bytes), "");
    volume->spec.bytes = bytes;
    Deliver(Resource::kPersistentVolume, nullptr, volume);
  }
  for (const int64_t bytes : {4, 1}) {
    auto claim = Claim("c" + std::to_string(bytes));
    claim->spec.bytes = bytes;
    Deliver(Resource::kPersistentVolumeClaim, nullptr, claim);
  }
  EXPECT_NE(Place({.claims = {"c4", "c1"}}), "");
  std::map<std::string, std::string> bound;
  for (const auto& [claim, volume] : decision_.volumes->bindings) bound[claim] = volume;
  EXPECT_EQ(bound, (std::map<std::string, std::string>{{"ns/c1", "v3"}, {"ns/c4", "v4"}}));
}

TEST_F(VolumesTest, AClaimThatIsMountedTwiceNeedsOneVolume) {
  SetClass("late", "kubernetes.io/no-provisioner");
  SetVolume("v");
  SetClaim("a");
  EXPECT_NE(Place({.claims = {"a", "a"}}), "");
  EXPECT_EQ(decision_.volumes->bindings.size(), 1u);
}

TEST_F(VolumesTest, AThreadThatWasBehindIsRefused) {
  SetBound("one", {}, {}, "ReadWriteOncePod");
  const auto first = Pod({.claims = {"one"}});
  const auto second = Pod({.claims = {"one"}});
  Decision of_first = Decide(first);
  Decision of_second = Decide(second);
  EXPECT_TRUE(cache_.Assume(first, &of_first));
  EXPECT_FALSE(cache_.Assume(second, &of_second));
  cache_.Forget(*first, of_first, 0);
  EXPECT_TRUE(cache_.Assume(second, &of_second)) << "the refusal has left nothing behind";
}

TEST_F(VolumesTest, PreemptionSeesWhatItsVictimsFree) {
  for (const char* node : {"n1", "n2", "n3"}) SetLimit(node, 1);
  for (const char* name : {"a", "b", "c", "d"}) SetBound(name);
  RunOn("n1", Pod({.claims = {"a"}}, 5));
  RunOn("n2", Pod({.claims = {"b"}}, 0));
  RunOn("n3", Pod({.claims = {"c"}}, 5));
  const Decision limited = Decide(Pod({.claims = {"d"}}, 3));
  ASSERT_NE(limited.post_filter, nullptr);
  EXPECT_EQ(limited.post_filter->node, "n2");
  EXPECT_EQ(limited.post_filter->victims.at(0)->name, "p2");
  SetBound("one", {}, {}, "ReadWriteOncePod");
  for (const char* node : {"n1", "n2", "n3"}) SetLimit(node, 9);
  RunOn("n3", Pod({.claims = {"one"}}, 1));
  const Decision alone = Decide(Pod({.claims = {"one"}}, 3));
  ASSERT_NE(alone.post_filter, nullptr);
  EXPECT_EQ(alone.post_filter->node, "n3");
  ASSERT_EQ(alone.post_filter->victims.size(), 1u);
  EXPECT_EQ(Decide(Pod({.claims = {"one"}}, 1)).post_filter, nullptr)
      << "nobody of a lower priority holds it";
  EXPECT_EQ(Decide(Pod({.claims = {"missing"}}, 9)).post_filter, nullptr);
}

// Volumes 0 to 5 of two drivers, mounted and let go on 70 nodes with limits that change.
TEST(Attachments, CountAsAModelDoes) {
  Random random(7);
  Attachments attachments;
  std::map<std::pair<uint32_t, std::string>, int64_t> mounted;  // Pods by slot and volume.
  std::map<std::pair<uint32_t, std::string>, int64_t> limits;   // By slot and driver.
  const auto driver = [](uint64_t volume) { return volume % 2 == 0 ? "even" : "odd"; };
  const auto name = [](uint64_t volume) { return std::to_string(volume); };
  constexpr uint32_t kSlots = 70;
  for (int step = 0; step < 2000; ++step) {
    const auto slot = static_cast<uint32_t>(random.Below(kSlots));
    const uint64_t volume = random.Below(6);
    int64_t& pods = mounted[{slot, name(volume)}];
    const int64_t sign = pods > 0 && random.Below(2) == 0 ? -1 : 1;
    attachments.Mount(attachments.VolumeOf(driver(volume), name(volume)), slot, sign);
    pods += sign;
    if (random.Below(4) == 0) {
      const auto limit = static_cast<int64_t>(random.Below(4));
      attachments.SetLimits(slot, {{"even", limit}});
      limits[{slot, "even"}] = limit;
    }
    const uint64_t one = random.Below(6);
    const uint64_t other = random.Below(6);
    std::vector<AttachedVolume> wanted = {attachments.VolumeOf(driver(one), name(one))};
    if (other != one) wanted.push_back(attachments.VolumeOf(driver(other), name(other)));
    const auto fits = [&](uint32_t at) {
      const auto limit = limits.find({at, "even"});
      if (limit == limits.end()) return true;
      int64_t attached = 0;
      int64_t further = 0;
      for (const uint64_t each : {0, 2, 4}) {
        const bool is_there = mounted[{at, name(each)}] > 0;
        attached += is_there ? 1 : 0;
        further += !is_there && (each == one || each == other) ? 1 : 0;
      }
      return further == 0 || attached + further <= limit->second;
    };
    for (const size_t block : {size_t{0}, size_t{1}}) {
      const uint64_t passed = attachments.WithRoom(wanted, block, ~uint64_t{0});
      for (uint32_t i = 0; i < kNodesPerBlock && block * kNodesPerBlock + i < kSlots; ++i) {
        const auto at = static_cast<uint32_t>(block * kNodesPerBlock + i);
        ASSERT_EQ((passed >> i & 1) != 0, fits(at)) << "step " << step << ", slot " << at;
        ASSERT_EQ(attachments.HasRoom(wanted, at), fits(at));
      }
    }
  }
}

}  // namespace
}  // namespace schedq
