// Goal: the cluster's controller binds claims to volumes as Kubernetes' does, and the audit finds
// each volume that is where it must not be.
// Method: clusters with objects written as YAML, on a clock that is advanced; the canaries of the
// audit are pods that are bound by hand where they must not be.
#include "bench/sim/cluster/cluster_storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/storage_objects.h"
#include "bench/sim/cluster/audit_volumes.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/volume_controller.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StorageTest : public testing::Test {
 protected:
  void Create(const std::string& kind, const std::string& metadata, const std::string& rest) {
    const auto object = ObjectFrom("apiVersion: v1\nkind: " + kind + "\nmetadata: {" + metadata +
                                   "}\n" + rest + "\n");
    const auto created = cluster_.Create(object, "ns");
    ASSERT_TRUE(created.ok()) << created.error().message();
  }
  void CreateClass(const std::string& name, const std::string& rest) {
    Create("StorageClass", "name: " + name, rest);
  }
  void CreateClaim(const std::string& name, const std::string& rest = "") {
    Create("PersistentVolumeClaim", "name: " + name,
           "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2}}" + rest + "}");
  }
  void CreateVolume(const std::string& name, const std::string& rest = "", int bytes = 2) {
    Create("PersistentVolume", "name: " + name,
           "spec: {accessModes: [ReadWriteOnce], csi: {driver: d, volumeHandle: " + name +
               "}, capacity: {storage: " + std::to_string(bytes) + "}" + rest + "}");
  }
  // The volume to which the claim is bound; empty: none.
  std::string VolumeOf(const std::string& claim) {
    clock_.AdvanceTo(clock_.Now() + std::chrono::seconds(1));
    const ClusterVolumeClaimRef found = cluster_.storage().FindClaim("ns/" + claim);
    return found != nullptr && found->is_bound ? found->spec.volume_name : "";
  }

  VirtualClock clock_{Instant()};
  Cluster cluster_{{.clock = &clock_}};
  VolumeController controller_{&cluster_, 2, [] { return std::chrono::milliseconds(1); }};
};

TEST_F(StorageTest, AClaimGetsTheSmallestVolumeThatSuitsIt) {
  CreateVolume("large", "", 9);
  CreateVolume("small", "", 1);
  CreateVolume("of-class", ", storageClassName: c");
  CreateVolume("block", ", volumeMode: Block");
  CreateVolume("fits", "", 3);
  CreateClaim("a");
  CreateClaim("b");
  EXPECT_EQ(VolumeOf("a"), "fits");
  EXPECT_EQ(VolumeOf("b"), "large");
  EXPECT_EQ(cluster_.storage().FindVolume("large")->spec.claim, "ns/b");
  CreateClaim("waits");
  EXPECT_EQ(VolumeOf("waits"), "");
  CreateVolume("later");
  EXPECT_EQ(VolumeOf("waits"), "later");
}

TEST_F(StorageTest, AVolumeAndAClaimThatNameEachOtherAreBound) {
  CreateVolume("of-a", ", claimRef: {namespace: ns, name: a}");
  CreateVolume("small-enough");
  CreateClaim("a");
  CreateClaim("b", ", volumeName: of-a");
  EXPECT_EQ(VolumeOf("a"), "of-a");
  EXPECT_EQ(VolumeOf("b"), "") << "the volume is another claim's";
  CreateClaim("c", ", volumeName: small-enough");
  EXPECT_EQ(VolumeOf("c"), "small-enough");
}

TEST_F(StorageTest, AVolumeIsMadeForAClaimThatHasNone) {
  CreateClass("now", "provisioner: d");
  CreateClass("none", "provisioner: kubernetes.io/no-provisioner");
  CreateClaim("a", ", storageClassName: now");
  CreateClaim("b", ", storageClassName: none");
  CreateClaim("c", ", storageClassName: later");
  const std::string made = VolumeOf("a");
  ASSERT_NE(made, "");
  EXPECT_EQ(cluster_.storage().FindVolume(made)->spec.driver, "d");
  EXPECT_EQ(VolumeOf("b"), "");
  EXPECT_EQ(VolumeOf("c"), "");
  CreateClass("later", "provisioner: kubernetes.io/aws-ebs");
  EXPECT_EQ(cluster_.storage().FindVolume(VolumeOf("c"))->spec.driver, "ebs.csi.aws.com");
  ASSERT_TRUE(cluster_.Delete({"PersistentVolumeClaim", "ns", "a"}));
  EXPECT_EQ(VolumeOf("a"), "");
  EXPECT_EQ(cluster_.storage().FindVolume(made), nullptr) << "it goes with its claim";
}

TEST_F(StorageTest, AClaimThatWaitsForAPodGetsNoVolumeBefore) {
  CreateClass("late", "provisioner: d\nvolumeBindingMode: WaitForFirstConsumer");
  CreateVolume("v", ", storageClassName: late");
  CreateClaim("a", ", storageClassName: late");
  CreateClaim("b", ", storageClassName: late");
  EXPECT_EQ(VolumeOf("a"), "");
  cluster_.storage().UpdateVolume("v", [](ClusterVolume* after) { after->spec.claim = "ns/a"; });
  EXPECT_EQ(VolumeOf("a"), "v") << "a scheduler has chosen it";
  EXPECT_EQ(VolumeOf("b"), "");
  cluster_.storage().UpdateClaim("ns/b",
                                 [](ClusterVolumeClaim* after) { after->selected_node = "n"; });
  EXPECT_NE(VolumeOf("b"), "") << "it was made for the node";
}

TEST_F(StorageTest, AVolumeThatNamesAClaimMustSuitIt) {
  CreateVolume("little", ", claimRef: {namespace: ns, name: a}", 1);
  CreateVolume("raw", ", volumeMode: Block, claimRef: {namespace: ns, name: a}");
  CreateVolume("free", "", 7);
  CreateClaim("a");
  EXPECT_EQ(VolumeOf("a"), "free");
  CreateVolume("1", ", claimRef: {namespace: ns, name: b}", 1);
  CreateVolume("2", ", storageClassName: other, claimRef: {namespace: ns, name: b}");
  CreateClaim("b");
  EXPECT_EQ(VolumeOf("b"), "2") << "its class does not matter, as in Kubernetes' controller";
  CreateVolume("named", ", storageClassName: other");
  CreateClaim("c", ", volumeName: named");
  EXPECT_EQ(VolumeOf("c"), "") << "a volume that the claim names must be of its class";
}

TEST_F(StorageTest, OfVolumesThatSuitThoseWithTheFewestModesComeFirst) {
  const auto create = [&](const std::string& name, const std::string& modes, int bytes) {
    Create("PersistentVolume", "name: " + name,
           "spec: {accessModes: [" + modes + "], csi: {driver: d, volumeHandle: " + name +
               "}, capacity: {storage: " + std::to_string(bytes) + "}}");
  };
  create("many", "ReadWriteOnce, ReadOnlyMany, ReadWriteMany", 2);
  create("two", "ReadWriteMany, ReadWriteOnce", 5);
  create("another", "ReadOnlyMany", 2);
  create("also-two", "ReadOnlyMany, ReadWriteOnce", 4);
  for (const char* claim : {"a", "b", "c", "d"}) CreateClaim(claim);
  EXPECT_EQ(VolumeOf("a"), "also-two");
  EXPECT_EQ(VolumeOf("b"), "two");
  EXPECT_EQ(VolumeOf("c"), "many");
  EXPECT_EQ(VolumeOf("d"), "");
}

// The first claim is offered the large volume, and takes the small one, which comes before the
// claim's turn.
TEST_F(StorageTest, AVolumeThatIsNotTakenIsOfferedToTheNextClaim) {
  CreateClaim("a");
  Create("PersistentVolumeClaim", "name: large",
         "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 8}}}");
  EXPECT_EQ(VolumeOf("a"), "");
  CreateVolume("nine", "", 9);
  CreateVolume("two", "", 2);
  EXPECT_EQ(VolumeOf("a"), "two");
  EXPECT_EQ(VolumeOf("large"), "nine");
}

TEST_F(StorageTest, AClaimWithoutAVolumeTakesOneThatComesToSuitIt) {
  CreateVolume("v", ", claimRef: {namespace: ns, name: gone}");
  CreateClaim("a");
  EXPECT_EQ(VolumeOf("a"), "");
  cluster_.storage().UpdateVolume("v", [](ClusterVolume* after) { after->spec.claim.clear(); });
  EXPECT_EQ(VolumeOf("a"), "v");
}

// Claims and volumes of one class. Each claim asks for more than the one before.
class ControllerCost {
 public:
  void CreateClaim() {
    auto claim = std::make_shared<ApiObject>();
    claim->kind = "PersistentVolumeClaim";
    claim->metadata.name = "c" + std::to_string(++claims_);
    PersistentVolumeClaimObject body;
    body.bytes = claims_;
    claim->body = body;
    ASSERT_TRUE(cluster_.Create(claim, "ns").ok());
  }
  void CreateVolume(int64_t bytes) {
    auto volume = std::make_shared<ApiObject>();
    volume->kind = "PersistentVolume";
    volume->metadata.name = "v" + std::to_string(++volumes_);
    PersistentVolumeObject body;
    body.bytes = bytes;
    volume->body = body;
    ASSERT_TRUE(cluster_.Create(volume, "").ok());
  }
  void Pass(Duration time) { clock_.AdvanceTo(clock_.Now() + time); }
  // Claims and volumes that were looked at, and calls.
  uint64_t Work() const { return controller_.steps() + calls_; }
  int64_t Bound() const {
    const auto& claims = cluster_.storage().claims();
    return std::count_if(claims.begin(), claims.end(),
                         [](const auto& claim) { return claim.second->is_bound; });
  }

 private:
  int claims_ = 0;
  int volumes_ = 0;
  uint64_t calls_ = 0;
  VirtualClock clock_{Instant()};
  Cluster cluster_{{.clock = &clock_}};
  VolumeController controller_{&cluster_, 2, [this] {
                                 ++calls_;
                                 return std::chrono::milliseconds(1);
                               }};
};

TEST(VolumeController, WorkGrowsWithClaimsAndVolumesAndNotWithTheirProduct) {
  static constexpr auto kEnough = std::chrono::hours(1);
  using Scene = std::function<void(ControllerCost*, int)>;
  const std::map<std::string, Scene> scenes = {
      {"claims first",
       [](ControllerCost* cost, int count) {
         for (int i = 0; i < count; ++i) cost->CreateClaim();
         cost->Pass(kEnough);
         for (int i = 0; i < count; ++i) cost->CreateVolume(count - i);
       }},
      {"volumes first",
       [](ControllerCost* cost, int count) {
         for (int i = 0; i < count; ++i) cost->CreateVolume(count - i);
         cost->Pass(kEnough);
         for (int i = 0; i < count; ++i) cost->CreateClaim();
       }},
      {"together",
       [](ControllerCost* cost, int count) {
         for (int i = 0; i < count; ++i) cost->CreateClaim();
         for (int i = 0; i < count; ++i) cost->CreateVolume(count - i);
       }},
      {"in turns, with pauses", [](ControllerCost* cost, int count) {
         for (int i = 0; i < count; ++i) {
           cost->CreateClaim();
           cost->CreateVolume(i + 1);
           cost->Pass(std::chrono::milliseconds(i % 4));
         }
       }}};
  for (const auto& [name, play] : scenes) {
    for (const int count : {500, 1000, 2000, 4000}) {
      ControllerCost cost;
      play(&cost, count);
      cost.Pass(kEnough);
      EXPECT_EQ(cost.Bound(), count) << name;
      EXPECT_LE(cost.Work(), static_cast<uint64_t>(count) * 40) << name << ", " << count;
      RecordProperty(name + " " + std::to_string(count), std::to_string(cost.Work()));
    }
  }
}

// Nodes "n1" in zone a and "n2" in zone b, each with two volumes of d at most.
class AuditVolumesTest : public StorageTest {
 protected:
  AuditVolumesTest() {
    for (const char* zone : {"a", "b"}) {
      const std::string name = zone[0] == 'a' ? "n1" : "n2";
      Create("Node", "name: " + name + ", labels: {topology.kubernetes.io/zone: " + zone + "}",
             "status: {capacity: {pods: '9', cpu: '4'}}");
      Create("CSINode", "name: " + name, "spec: {drivers: [{name: d, allocatable: {count: 2}}]}");
    }
  }
  void CreateBound(const std::string& name, const std::string& rest = "",
                   const std::string& labels = "", const char* mode = "ReadWriteOnce") {
    Create("PersistentVolume", "name: " + name + ", labels: {" + labels + "}",
           "spec: {csi: {driver: d, volumeHandle: " + name +
               "}, claimRef: {namespace: ns, name: " + name + "}" + rest + "}");
    Create("PersistentVolumeClaim",
           "name: " + name + ", annotations: {pv.kubernetes.io/bind-completed: 'yes'}",
           "spec: {volumeName: " + name + ", accessModes: [" + mode + "]}");
  }
  void Put(const std::string& node, const std::string& volumes, bool by_hand = false) {
    Create("Pod", "name: p" + std::to_string(++last_pod_),
           "spec: {containers: [{name: c}], volumes: [" + volumes + "]" +
               (by_hand ? ", nodeName: " + node : "") + "}");
    if (!by_hand) {
      ASSERT_TRUE(cluster_.BindPod(last_pod_, node).ok());
    }
  }
  static std::string Claim(const std::string& name) {
    return "{name: " + name + ", persistentVolumeClaim: {claimName: " + name + "}}";
  }
  std::vector<std::string> Faults() {
    std::vector<std::string> faults;
    AuditVolumes(cluster_, &faults);
    return faults;
  }

  uint64_t last_pod_ = 0;
};

TEST_F(AuditVolumesTest, FindsTooManyVolumesOnANode) {
  for (const char* name : {"a", "b", "c"}) CreateBound(name);
  Put("n1", Claim("a"));
  Put("n1", Claim("b"));
  Put("n1", Claim("b"));
  EXPECT_THAT(Faults(), IsEmpty()) << "a volume counts once";
  Put("n1", Claim("c"));
  EXPECT_THAT(Faults(), ElementsAre("node n1 has 3 volumes of d, and takes 2"));
  cluster_.storage().UpdateCsiNode("n1", [](CsiNodeObject* after) { after->limits[0].second = 1; });
  EXPECT_THAT(Faults(), IsEmpty()) << "the limit was lowered since";
}

TEST_F(AuditVolumesTest, LimitsThatComeAfterAPodDoNotSpeakOfIt) {
  for (const char* name : {"a", "b", "c"}) CreateBound(name);
  Create("Node", "name: late", "status: {capacity: {pods: '9', cpu: '4'}}");
  Put("late", Claim("a"));
  const std::string limits = "spec: {drivers: [{name: d, allocatable: {count: 0}}]}";
  Create("CSINode", "name: late", limits);
  EXPECT_THAT(Faults(), IsEmpty()) << "the node had no limits";
  ASSERT_TRUE(cluster_.Delete({"CSINode", "", "n1"}));
  Put("n1", Claim("b"));
  Create("CSINode", "name: n1", limits);
  EXPECT_THAT(Faults(), IsEmpty());
  Create("Node", "name: early", "status: {capacity: {pods: '9', cpu: '4'}}");
  Create("CSINode", "name: early", limits);
  Put("early", Claim("c"));
  EXPECT_THAT(Faults(), ElementsAre("node early has 1 volumes of d, and takes 0"));
}

TEST_F(AuditVolumesTest, FindsVolumesThatTheNodeDoesNotReach) {
  CreateBound("there",
              ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
              "topology.kubernetes.io/zone, operator: In, values: [b]}]}]}}");
  CreateBound("zoned", "", "topology.kubernetes.io/zone: b");
  Put("n2", Claim("there") + ", " + Claim("zoned"));
  EXPECT_THAT(Faults(), IsEmpty());
  Put("n1", Claim("there"), true);
  EXPECT_THAT(Faults(), IsEmpty()) << "no scheduler placed it";
  Put("n1", Claim("there"));
  Put("n1", Claim("zoned"));
  EXPECT_THAT(Faults(), ElementsAre(HasSubstr("does not reach its volume there"),
                                    HasSubstr("outside of the zones of its volume zoned")));
}

TEST_F(AuditVolumesTest, FindsClaimsThatTwoPodsMountOrThatAreNotBound) {
  CreateBound("one", "", "", "ReadWriteOncePod");
  Put("n1", Claim("one"));
  EXPECT_THAT(Faults(), IsEmpty());
  Put("n2", Claim("one"));
  EXPECT_THAT(Faults(), ElementsAre("pod ns/p2 is on n2 with claim ns/one, as ns/p1"));
  CreateClaim("waits");
  Put("n2", Claim("waits"));
  EXPECT_THAT(Faults().back(), HasSubstr("its claim ns/waits is not bound"));
}

TEST_F(AuditVolumesTest, FindsDisksThatConflict) {
  const auto disk = [](bool read_only) {
    return std::string("{name: v, gcePersistentDisk: {pdName: x, readOnly: ") +
           (read_only ? "true" : "false") + "}}";
  };
  Put("n1", disk(true));
  Put("n1", disk(true));
  Put("n2", disk(false));
  EXPECT_THAT(Faults(), IsEmpty());
  Put("n2", disk(true));
  EXPECT_THAT(Faults(), ElementsAre("pod ns/p4 is on n2 with disk x, as ns/p3"));
}

TEST_F(AuditVolumesTest, FindsVolumesAndClaimsThatDisagree) {
  CreateBound("a");
  CreateBound("b");
  EXPECT_THAT(Faults(), IsEmpty());
  cluster_.storage().UpdateClaim("ns/a",
                                 [](ClusterVolumeClaim* after) { after->spec.volume_name = "b"; });
  EXPECT_THAT(Faults(), ElementsAre("claim ns/a is bound to volume b, which is ns/b's",
                                    "volume a is given to claim ns/a, which is bound to b"));
}

}  // namespace
}  // namespace schedq
