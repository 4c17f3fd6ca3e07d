// Goal: the book of claims gives no device twice and loses none, whoever allocates a claim that a
// pod was promised devices for.
// Method: changes as the informers deliver them, around a promise.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/decision.h"
#include "engine/event.h"
#include "engine/object.h"
#include "tests/unit/bench/sim/device_test_objects.h"

namespace schedq {
namespace {

// Two devices on one node, and two claims for one device each.
class ClaimBookTest : public testing::Test {
 protected:
  ClaimBookTest() {
    auto device_class = std::make_shared<ClusterDeviceClass>();
    device_class->name = "gadget";
    device_class->device_class = ClassOf("g");
    Deliver(Resource::kDeviceClass, nullptr, device_class);
    auto slice = std::make_shared<ClusterSlice>();
    slice->name = "s";
    slice->slice = Shared(SliceOf("n", "g", "n", {"0", "1"}));
    Deliver(Resource::kResourceSlice, nullptr, slice);
    for (const char* name : {"a", "b"}) Deliver(Resource::kResourceClaim, nullptr, Claim(name));
  }

  static std::shared_ptr<ClusterClaim> Claim(const std::string& name,
                                             const std::vector<DeviceName>& devices = {}) {
    auto claim = std::make_shared<ClusterClaim>();
    claim->namespace_name = "ns";
    claim->name = name;
    claim->spec = ClaimFor("gadget");
    claim->allocated = !devices.empty();
    if (!devices.empty()) claim->allocation = AllocationOf(devices, "n");
    return claim;
  }
  void Deliver(Resource resource, ObjectRef before, ObjectRef after) {
    ClusterChange change;
    change.resource = resource;
    change.objects = {std::move(before), std::move(after)};
    book_.Apply(change);
  }
  void Allocate(const std::string& name, const std::vector<DeviceName>& devices) {
    Deliver(Resource::kResourceClaim, Claim(name), Claim(name, devices));
  }
  // What a pod that needs the claim would get now; empty: nothing.
  std::vector<DeviceName> Free(const std::string& name) {
    auto pod = std::make_shared<ClusterPod>();
    pod->namespace_name = "ns";
    pod->claims = {name};
    const WantedClaimsRef wanted = book_.WantedBy(*pod);
    if (wanted == nullptr) return {};
    ObjectView node;
    node.name = "n";
    const auto picked = book_.Pick(wanted.get(), node);
    return picked ? NamesOf(*picked->front().allocation) : std::vector<DeviceName>();
  }
  static std::vector<ClaimDecision> Decision(const std::string& name, const DeviceName& device) {
    return {{"ns/" + name, false, AllocationOf({device}, "n")}};
  }

  ClaimBook book_;
};

TEST_F(ClaimBookTest, AnAllocationAsPromisedKeepsTheDevice) {
  const std::vector<ClaimDecision> promise = Decision("a", "g/n/0");
  ASSERT_TRUE(book_.Promise(promise));
  Allocate("a", {"g/n/0"});
  book_.Release(promise.front());
  EXPECT_EQ(Free("b"), std::vector<DeviceName>{"g/n/1"}) << "the cluster has the device";
}

// Somebody else allocates the claim, with another device than the promised one.
TEST_F(ClaimBookTest, AnAllocationBySomebodyElseEndsThePromise) {
  const std::vector<ClaimDecision> promise = Decision("a", "g/n/0");
  ASSERT_TRUE(book_.Promise(promise));
  EXPECT_EQ(Free("b"), std::vector<DeviceName>{"g/n/1"});
  Allocate("a", {"g/n/1"});
  EXPECT_EQ(Free("b"), std::vector<DeviceName>{"g/n/0"}) << "the promised one is free again";
  // The pod that had the promise gives it back, which must not free what is the other's.
  book_.Release(promise.front());
  ASSERT_TRUE(book_.Promise(Decision("b", "g/n/0")));
  EXPECT_EQ(book_.taken(), 2u);
  EXPECT_FALSE(book_.Promise(Decision("b", "g/n/1"))) << "b is promised already";
}

TEST_F(ClaimBookTest, AClaimThatSomebodyElseHasAllocatedIsNotPromised) {
  Allocate("a", {"g/n/1"});
  EXPECT_FALSE(book_.Promise(Decision("a", "g/n/0")));
  EXPECT_EQ(Free("b"), std::vector<DeviceName>{"g/n/0"}) << "a refusal takes nothing";
  std::vector<ClaimDecision> both = Decision("b", "g/n/0");
  both.push_back(Decision("a", "g/n/1").front());
  EXPECT_FALSE(book_.Promise(both));
  EXPECT_EQ(Free("b"), std::vector<DeviceName>{"g/n/0"}) << "half a promise is taken back";
}

// Members of one group share what one of them was promised for their group's claim.
TEST_F(ClaimBookTest, APromiseForAGroupEndsWithItsLastMember) {
  const DeviceAllocationRef allocation = AllocationOf({"g/n/0"}, "n");
  ClaimDecision first{"ns/a", false, allocation};
  first.group = "ns/g";
  ASSERT_TRUE(book_.Promise({&first, 1}));
  ASSERT_TRUE(book_.Promise({&first, 1}));
  ClaimDecision stranger = first;
  stranger.group.clear();
  EXPECT_FALSE(book_.Promise({&stranger, 1}));
  EXPECT_EQ(book_.taken(), 1u);
  book_.Release(first);
  EXPECT_EQ(book_.taken(), 1u);
  book_.Release(first);
  EXPECT_EQ(book_.taken(), 0u);
}

// A gang whose members use one claim, which is not their group's.
TEST_F(ClaimBookTest, MembersOfAGroupShareThePromiseForAnyClaim) {
  const uint64_t cycle = book_.BeginGroupCycle();
  const auto wanted_in = [&](uint64_t group_cycle, const std::string& group) {
    ClusterPod pod;
    pod.namespace_name = "ns";
    pod.group_name = group;
    pod.claims = {"a"};
    return book_.WantedBy(pod, group_cycle);
  };
  const auto wanted_by = [&](const std::string& group) { return wanted_in(cycle, group); };
  ObjectView node;
  node.name = "n";
  const auto first = book_.Pick(wanted_by("g").get(), node);
  ASSERT_TRUE(first && book_.Promise(*first));
  EXPECT_TRUE(first->front().group.empty()) << "the claim is reserved for each pod";
  const WantedClaimsRef second = wanted_by("g");
  ASSERT_NE(second, nullptr);
  ASSERT_TRUE(book_.Promise(*book_.Pick(second.get(), node)));
  EXPECT_EQ(book_.taken(), 1u);
  EXPECT_EQ(wanted_in(book_.BeginGroupCycle(), "g"), nullptr) << "another cycle's pods wait";
  EXPECT_EQ(wanted_in(0, "g"), nullptr) << "and so does a pod that is tried by itself";
  EXPECT_EQ(wanted_by("other"), nullptr);
  EXPECT_EQ(wanted_by(""), nullptr);
}

// Somebody took the devices from a claim that is still reserved for the group.
TEST_F(ClaimBookTest, AReservedClaimWithoutDevicesIsStoredAnew) {
  auto object = std::make_shared<ApiObject>();
  PodObject body;
  body.claims.push_back({.name = "d", .claim_name = "a", .template_name = ""});
  object->body = body;
  ClusterPod pod;
  pod.object = object;
  pod.namespace_name = "ns";
  pod.group_name = "g";
  pod.claims = {"a"};
  pod.group_claims = {"d"};
  auto reserved = Claim("a");
  reserved->reserved_groups = {"ns/g"};
  Deliver(Resource::kResourceClaim, Claim("a"), reserved);
  ObjectView node;
  node.name = "n";
  const auto picked = book_.Pick(book_.WantedBy(pod).get(), node);
  ASSERT_TRUE(picked);
  EXPECT_EQ(picked->front().group, "ns/g");
  EXPECT_GT(picked->front().steps(), 0u);
}

TEST_F(ClaimBookTest, AClaimThatGoesGivesItsDevicesBack) {
  Allocate("a", {"g/n/0"});
  Deliver(Resource::kResourceClaim, Claim("a", {"g/n/0"}), nullptr);
  EXPECT_EQ(Free("b"), std::vector<DeviceName>{"g/n/0"});
  EXPECT_FALSE(book_.Promise(Decision("a", "g/n/0"))) << "the claim is gone";
}

}  // namespace
}  // namespace schedq
