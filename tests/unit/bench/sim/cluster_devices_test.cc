// Goal: the controller makes and cleans up claims, and the audit judges what claims hold.
// Method: a controller on a small cluster; faults that the audit must catch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/audit.h"
#include "bench/sim/cluster/claim_controller.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/device_driver.h"
#include "bench/sim/devices/allocation.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"
#include "tests/unit/bench/sim/device_test_objects.h"

namespace schedq {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A cluster with one node, a pod that needs a generated claim, and the controller.
class ClaimTest : public testing::Test {
 protected:
  ClaimTest() {
    Create(NodeObjectNamed("n"));
    Create(
        ObjectFrom("apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n"
                   "metadata: {name: t}\nspec: {spec: {devices: {requests: [{name: r, exactly: "
                   "{deviceClassName: gadget}}]}}}\n"));
    Create(PodObjectNamed("p", "1",
                          "  resourceClaims: [{name: device, resourceClaimTemplateName: t}]\n"));
  }
  void Create(const ApiObjectRef& object) { ASSERT_TRUE(cluster_.Create(object, "ns").ok()); }
  void Pass(int milliseconds) { clock_.AdvanceBy(std::chrono::milliseconds(milliseconds)); }
  std::vector<std::string> Audit() const {
    return AuditCluster(cluster_, {[](const ClusterPod&) { return true; }});
  }

  VirtualClock clock_{Instant()};
  Cluster cluster_{{&clock_, std::chrono::milliseconds(1), true}};
  ClaimController controller_{&cluster_, {1, [] { return std::chrono::milliseconds(10); }}};
  ChangeLog log_{&cluster_};
};

TEST_F(ClaimTest, AClaimIsMadeFromItsTemplateAndToldInTheStatus) {
  Pass(12);
  ASSERT_EQ(cluster_.claims().size(), 1u);
  EXPECT_THAT(cluster_.FindPod(1)->generated_claims, IsEmpty());
  Pass(12);
  ASSERT_EQ(cluster_.FindPod(1)->generated_claims.size(), 1u);
  const auto& [name, claim] = *cluster_.claims().begin();
  EXPECT_THAT(ClaimNamesOf(*cluster_.FindPod(1)), ElementsAre(name));
  EXPECT_EQ(claim->owner_pod, 1u);
  EXPECT_EQ(claim->spec.requests[0].alternatives[0].class_name, "gadget");
  EXPECT_THAT(log_.lines(),
              ElementsAre("Node+ n", "Pod+ ns/p", "ResourceClaim+ " + name, "Pod~ ns/p"));
}

// Also a group's: the template comes after what needs it.
TEST_F(ClaimTest, AClaimIsMadeWhenItsTemplateComes) {
  Cluster cluster{{.clock = &clock_,
                   .informer_delay = std::chrono::milliseconds(1),
                   .devices = {.workload_claims = true}}};
  const ClaimController controller{&cluster, {1, [] { return std::chrono::milliseconds(10); }}};
  const auto create = [&](const std::string& yaml) {
    ASSERT_TRUE(cluster.Create(ObjectFrom(yaml), "ns").ok());
  };
  const auto create_template = [&](const std::string& name) {
    create("apiVersion: v1\nkind: ResourceClaimTemplate\nmetadata: {name: " + name +
           "}\nspec: {spec: {devices: {}}}\n");
  };
  create(
      "apiVersion: v1\nkind: PodGroup\nmetadata: {name: g}\n"
      "spec: {schedulingPolicy: {basic: {}}, resourceClaims: [{name: device, "
      "resourceClaimTemplateName: late}]}\n");
  create_template("early");
  ASSERT_TRUE(
      cluster
          .Create(PodObjectNamed("p", "1",
                                 "  resourceClaims: [{name: a, resourceClaimTemplateName: early}, "
                                 "{name: b, resourceClaimTemplateName: late}]\n"),
                  "ns")
          .ok());
  Pass(1000);
  EXPECT_EQ(cluster.claims().size(), 1u) << "the early one is made once";
  EXPECT_THAT(cluster.FindPod(1)->generated_claims, IsEmpty());
  create_template("late");
  Pass(2000);
  EXPECT_EQ(cluster.claims().size(), 3u);
  EXPECT_EQ(cluster.FindPod(1)->generated_claims.size(), 2u);
  EXPECT_EQ(cluster.FindGroup({.namespace_name = "ns", .name = "g"})->generated_claims.size(), 1u);
}

// The pod goes after its claim was made and before it was told.
TEST_F(ClaimTest, AClaimOfAPodThatWentEarlyGoesToo) {
  Pass(12);
  ASSERT_EQ(cluster_.claims().size(), 1u);
  ASSERT_TRUE(cluster_.DeletePod(1));
  Pass(100);
  EXPECT_THAT(cluster_.claims(), IsEmpty());
}

TEST_F(ClaimTest, AGonePodsClaimGivesItsDevicesBackAndGoes) {
  Pass(30);
  const std::string name = cluster_.claims().begin()->first;
  cluster_.UpdateClaim(name, [](ClusterClaim* claim) {
    claim->allocation = AllocationOf({"g/n/0"}, "n");
    claim->reserved_for = {1};
  });
  EXPECT_TRUE(cluster_.FindClaim(name)->allocated);
  EXPECT_EQ(cluster_.devices().taken(), 1u);
  ASSERT_TRUE(cluster_.DeletePod(1));
  Pass(12);
  EXPECT_FALSE(cluster_.FindClaim(name)->allocated);
  EXPECT_EQ(cluster_.devices().taken(), 0u);
  Pass(12);
  EXPECT_THAT(cluster_.claims(), IsEmpty());
  EXPECT_EQ(log_.lines().back(), "ResourceClaim- " + name);
}

// As upstream's controller does by two calls; the collector deletes beside it.
TEST_F(ClaimTest, AClaimThatLosesItsDevicesLosesItsFinalizerByAnotherCall) {
  Pass(30);
  const std::string name = cluster_.claims().begin()->first;
  cluster_.UpdateClaim(name, [](ClusterClaim* claim) {
    claim->allocation = AllocationOf({"g/n/0"}, "n");
    claim->has_finalizer = true;
    claim->reserved_for = {1};
  });
  Pass(2);
  const size_t told_before = log_.lines().size();
  ASSERT_TRUE(cluster_.DeletePod(1));
  Pass(12);
  ASSERT_NE(cluster_.FindClaim(name), nullptr);
  EXPECT_FALSE(cluster_.FindClaim(name)->allocated);
  EXPECT_TRUE(cluster_.FindClaim(name)->has_finalizer);
  Pass(30);
  EXPECT_THAT(cluster_.claims(), IsEmpty());
  const std::string updated = "ResourceClaim~ " + name;
  EXPECT_THAT(std::vector<std::string>(log_.lines().begin() + static_cast<int64_t>(told_before),
                                       log_.lines().end()),
              ElementsAre("Pod- ns/p", updated, updated, "ResourceClaim- " + name));
}

// The collector comes first; the claim stays until the controller takes its finalizer.
TEST_F(ClaimTest, ADeletedClaimStaysForItsFinalizer) {
  Pass(30);
  const std::string name = cluster_.claims().begin()->first;
  cluster_.UpdateClaim(name, [](ClusterClaim* claim) { claim->has_finalizer = true; });
  ASSERT_TRUE(cluster_.DeletePod(1));
  Pass(22);
  ASSERT_NE(cluster_.FindClaim(name), nullptr);
  EXPECT_TRUE(cluster_.FindClaim(name)->deleting);
  Pass(12);
  EXPECT_THAT(cluster_.claims(), IsEmpty());
}

// A group's claim is made once, and its members are told of it, whoever comes first.
TEST_F(ClaimTest, AGroupsClaimIsMadeOnceForItsMembers) {
  Cluster cluster{{.clock = &clock_,
                   .informer_delay = std::chrono::milliseconds(1),
                   .devices = {.workload_claims = true}}};
  const ClaimController controller{&cluster, {1, [] { return std::chrono::milliseconds(10); }}};
  const auto create = [&](const ApiObjectRef& object) {
    ASSERT_TRUE(cluster.Create(object, "ns").ok());
  };
  create(
      ObjectFrom("apiVersion: v1\nkind: ResourceClaimTemplate\nmetadata: {name: t}\n"
                 "spec: {spec: {devices: {}}}\n"));
  create(
      ObjectFrom("apiVersion: v1\nkind: PodGroup\nmetadata: {name: g}\n"
                 "spec: {schedulingPolicy: {basic: {}}, resourceClaims: [{name: device, "
                 "resourceClaimTemplateName: t}]}\n"));
  for (const char* name : {"a", "b"}) {
    create(PodObjectNamed(name, "1",
                          "  schedulingGroup: {podGroupName: g}\n"
                          "  resourceClaims: [{name: device, resourceClaimTemplateName: t}, "
                          "{name: own, resourceClaimTemplateName: t}]\n"));
  }
  Pass(200);
  EXPECT_EQ(cluster.claims().size(), 3u) << "one of the group and one of each pod";
  const auto group_claims = GroupClaimNamesOf(*cluster.FindPod(1));
  ASSERT_EQ(group_claims.size(), 1u);
  EXPECT_EQ(group_claims, GroupClaimNamesOf(*cluster.FindPod(2)));
  EXPECT_EQ(cluster.FindClaim(group_claims[0])->owner_group, "ns/g");
  cluster.UpdateClaim(group_claims[0], [](ClusterClaim* claim) {
    claim->allocation = AllocationOf({"g/n/0"}, "n");
    claim->reserved_groups = {"ns/g"};
  });
  ASSERT_TRUE(cluster.DeletePod(1));
  ASSERT_TRUE(cluster.DeletePod(2));
  Pass(200);
  ASSERT_EQ(cluster.claims().size(), 1u);
  EXPECT_TRUE(cluster.FindClaim(group_claims[0])->allocated) << "the group holds it";
  ASSERT_TRUE(cluster.Delete({"PodGroup", "ns", "g"}));
  Pass(200);
  EXPECT_THAT(cluster.claims(), IsEmpty());
  EXPECT_EQ(cluster.devices().taken(), 0u);
}

// What a group has reserved is not idle, and a client that takes the status takes all of it.
TEST_F(ClaimTest, AClaimOfAGroupIsHeldUntilItsStatusIsReplaced) {
  const ApiObjectRef object = ObjectFrom(
      "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\n"
      "spec: {devices: {}}\n");
  Create(object);
  cluster_.UpdateClaim("ns/c", [](ClusterClaim* claim) {
    claim->allocation = AllocationOf({"g/n/0"}, "n");
    claim->reserved_groups = {"ns/g"};
  });
  cluster_.DeallocateIdleClaim("ns/c", 1);
  EXPECT_TRUE(cluster_.FindClaim("ns/c")->allocated);
  ASSERT_TRUE(cluster_.Update(*object, "ns", UpdatePart::kStatus).ok());
  EXPECT_FALSE(cluster_.FindClaim("ns/c")->allocated);
  EXPECT_THAT(cluster_.FindClaim("ns/c")->reserved_groups, IsEmpty());
  EXPECT_EQ(cluster_.devices().taken(), 0u);
}

TEST_F(ClaimTest, TheAuditCatchesAPodWithoutItsClaim) {
  Pass(30);
  EXPECT_THAT(Audit(), IsEmpty());
  ASSERT_TRUE(cluster_.BindPod(1, "n").ok());
  EXPECT_THAT(Audit(), ElementsAre(HasSubstr("is on n without its claim")));
}

TEST_F(ClaimTest, TheAuditCatchesADeviceGivenTwice) {
  for (const char* name : {"a", "b"}) {
    auto claim = std::make_shared<ClusterClaim>();
    claim->namespace_name = "ns";
    claim->name = name;
    claim->spec = ClaimFor("gadget");
    ASSERT_TRUE(cluster_.CreateClaim(std::move(claim)).ok());
    cluster_.UpdateClaim(QualifiedName("ns", name), [](ClusterClaim* after) {
      after->allocation = AllocationOf({"g/n/0"}, "n");
    });
  }
  EXPECT_THAT(Audit(), ElementsAre("device g/n/0 is given twice: to ns/a and ns/b",
                                   "device g/n/0 is given to ns/b while another claim has it"));
  // It was, whatever becomes of it.
  cluster_.UpdateClaim("ns/b", [](ClusterClaim* after) { after->allocation = nullptr; });
  EXPECT_THAT(Audit(), ElementsAre("device g/n/0 is given to ns/b while another claim has it"));
}

TEST_F(ClaimTest, TheAuditCatchesALostReservation) {
  Pass(30);
  const std::string name = ClaimNamesOf(*cluster_.FindPod(1)).front();
  cluster_.UpdateClaim(name, [](ClusterClaim* after) {
    after->allocation = AllocationOf({"g/n/0"}, "n");
    after->reserved_for = {1};
  });
  ASSERT_TRUE(cluster_.BindPod(1, "n").ok());
  EXPECT_THAT(Audit(), IsEmpty());
  cluster_.UpdateClaim(name, [](ClusterClaim* after) { after->reserved_for = {7}; });
  EXPECT_THAT(Audit(),
              ElementsAre("claim " + name + " is not reserved for pod ns/p, which is on n"));
  cluster_.DropReservations({name, "ns/absent"}, 7);
  EXPECT_THAT(cluster_.FindClaim(name)->reserved_for, IsEmpty());
  // A client that takes it away is no fault of a scheduler.
  cluster_.UpdateClaim(name, [](ClusterClaim* after) { after->was_cleared = true; });
  EXPECT_THAT(Audit(), IsEmpty());
}

// A finalizer is no part of the status, and nobody waits for it.
TEST_F(ClaimTest, OnlyAChangeOfTheStatusGivesItAnotherVersion) {
  Pass(30);
  const std::string name = ClaimNamesOf(*cluster_.FindPod(1)).front();
  const auto version = [&] { return cluster_.FindClaim(name)->status_version; };
  const auto change = [&](void (*how)(ClusterClaim*)) {
    const uint64_t before = version();
    cluster_.UpdateClaim(name, how);
    return version() != before;
  };
  EXPECT_FALSE(change([](ClusterClaim* after) { after->has_finalizer = true; }));
  EXPECT_TRUE(
      change([](ClusterClaim* after) { after->allocation = AllocationOf({"g/n/0"}, "n"); }));
  EXPECT_TRUE(change([](ClusterClaim* after) { after->reserved_for = {1}; }));
  EXPECT_TRUE(change([](ClusterClaim* after) {
    after->device_statuses.push_back({"g/n/0", {"ready"}});
  }));
  EXPECT_TRUE(change([](ClusterClaim* after) { after->allocation = nullptr; }));
  EXPECT_THAT(cluster_.FindClaim(name)->device_statuses, IsEmpty());
}

// --- Drivers.

constexpr const char* kConditionalSlice =
    "apiVersion: v1\nkind: ResourceSlice\nmetadata: {name: s, annotations: "
    "{schedq/binding-delay: 2s, schedq/binding-failures: '1'}}\n"
    "spec: {driver: g, nodeName: n, pool: {name: n}, devices: [{name: '0', "
    "bindingConditions: [up, wired], bindingFailureConditions: [burnt]}, {name: '1'}]}\n";

class DriverTest : public ClaimTest {
 protected:
  DriverTest() {
    Create(ObjectFrom(kConditionalSlice));
    auto claim = std::make_shared<ClusterClaim>();
    claim->namespace_name = "ns";
    claim->name = "c";
    EXPECT_TRUE(cluster_.CreateClaim(std::move(claim)).ok());
  }
  void Allocate() {
    DeviceAllocation allocation = *AllocationOf({"g/n/0", "g/n/1"}, "n");
    allocation.devices[0].binding_conditions = {"up", "wired"};
    allocation.devices[0].binding_failure_conditions = {"burnt"};
    cluster_.UpdateClaim("ns/c", [&](ClusterClaim* after) {
      after->allocation = std::make_shared<const DeviceAllocation>(allocation);
    });
  }
  void Deallocate() {
    cluster_.UpdateClaim("ns/c", [](ClusterClaim* after) { after->allocation = nullptr; });
  }
  std::vector<DeviceStatus> Statuses() { return cluster_.FindClaim("ns/c")->device_statuses; }

  DeviceDriver driver_{&cluster_, [] { return std::chrono::milliseconds(10); }};
};

TEST_F(DriverTest, SetsConditionsAfterItsDelayAndFailuresFirst) {
  Allocate();
  Pass(2000);
  EXPECT_THAT(Statuses(), IsEmpty());
  Pass(20);
  EXPECT_THAT(Statuses(), ElementsAre(DeviceStatus{"g/n/0", {"burnt"}}));
  Deallocate();
  Pass(10);
  Allocate();
  Pass(2020);
  EXPECT_THAT(Statuses(), ElementsAre(DeviceStatus{"g/n/0", {"up", "wired"}}));
}

TEST_F(DriverTest, SaysNothingOfAnAllocationThatIsOver) {
  Allocate();
  Pass(1000);
  Deallocate();
  Pass(10);
  Allocate();
  Pass(1500);
  EXPECT_THAT(Statuses(), IsEmpty()) << "the first allocation's answer is not the second's";
  Pass(1000);
  EXPECT_THAT(Statuses(), ElementsAre(DeviceStatus{"g/n/0", {"up", "wired"}}));
}

TEST_F(ClaimTest, TheAuditCatchesAnOvercommittedNodeAndALostPod) {
  Create(NodeObjectNamed("small", "1"));
  for (const char* name : {"a", "b"}) Create(PodObjectNamed(name, "600m"));
  ASSERT_TRUE(cluster_.BindPod(2, "small").ok());
  EXPECT_THAT(Audit(), IsEmpty());
  ASSERT_TRUE(cluster_.BindPod(3, "small").ok());
  EXPECT_THAT(Audit(), ElementsAre("node small is overcommitted: 1200 cpu in use of 1000"));
  EXPECT_THAT(AuditCluster(cluster_, {[](const ClusterPod&) { return false; }}),
              Contains("pod ns/p is lost: neither bound nor known to the scheduler"));
}

}  // namespace
}  // namespace schedq
