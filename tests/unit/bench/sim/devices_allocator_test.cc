// Goal: each rule of the allocator: what a claim gets, of which devices, in which order.
// Method: a small inventory of one node, one rule a test, and the refusal beside what is allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/format/objects/quantity.h"
#include "bench/format/workload/device_features.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/capacity_policy.h"
#include "bench/sim/devices/device_inventory.h"
#include "bench/sim/devices/prepared_claims.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"
#include "tests/unit/bench/sim/device_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = AllocationOutcome::Kind;

ObjectView NodeNamed(const std::string& name, const Labels& labels = {}) {
  ObjectView node;
  node.name = name;
  node.labels = labels;
  return node;
}

Quantity Amount(const std::string& text) { return *Quantity::Parse(text); }

class AllocatorTest : public testing::Test {
 protected:
  explicit AllocatorTest(const DeviceFeatures& features = {},
                         uint64_t steps_max = Allocator::kStepsMax)
      : inventory_(features, steps_max) {
    inventory_.SetClass("gadget", ClassOf("g"));
    inventory_.SetClass("any", ClassOf(""));
  }

  void Publish(const std::string& name, const ResourceSliceObject& slice) {
    inventory_.SetSlice(name, Shared(slice));
  }
  AllocationOutcome Try(const std::vector<ClaimSpec>& claims, const ObjectView& node) {
    std::vector<const ClaimSpec*> specs;
    for (const ClaimSpec& claim : claims) specs.push_back(&claim);
    return inventory_.Allocate(inventory_.Prepare(specs), node);
  }
  // The devices of the first claim; none: it cannot be allocated.
  std::vector<DeviceName> Get(const ClaimSpec& claim, const std::string& node = "n") {
    const AllocationOutcome outcome = Try({claim}, NodeNamed(node));
    EXPECT_NE(outcome.kind, Kind::kError) << outcome.message;
    return outcome.found() ? NamesOf(outcome.allocations[0]) : std::vector<DeviceName>();
  }
  std::vector<DeviceName> TakeOne(const ClaimSpec& claim) {
    AllocationOutcome outcome = Try({claim}, NodeNamed("n"));
    if (!outcome.found()) return {};
    EXPECT_TRUE(inventory_.TakeIfFree(outcome.allocations[0]));
    held_.push_back(std::move(outcome.allocations[0]));
    return NamesOf(held_.back());
  }

  DeviceInventory inventory_;
  std::vector<DeviceAllocation> held_;
};

TEST_F(AllocatorTest, CountsAndClassesDecide) {
  Publish("a", SliceOf("n", "g", "p", {"0", "1"}));
  Publish("b", SliceOf("n", "other", "p", {"x"}));
  EXPECT_THAT(Get(ClaimFor("gadget", 2)), ElementsAre("g/p/0", "g/p/1"));
  EXPECT_THAT(Get(ClaimFor("gadget", 3)), IsEmpty());
  EXPECT_THAT(Get(ClaimFor("gadget"), "m"), IsEmpty());
  EXPECT_THAT(Get(ClaimFor("any", 3)), ElementsAre("g/p/0", "g/p/1", "other/p/x"));
  EXPECT_EQ(Try({ClaimFor("unknown")}, NodeNamed("n")).kind, Kind::kError);
  EXPECT_FALSE(Try({ClaimFor("gadget"), ClaimFor("gadget", 2)}, NodeNamed("n")).found());
}

// The first claim's request for anything leaves the second one the devices that only it can use.
TEST_F(AllocatorTest, AnEarlierRequestGivesWay) {
  Publish("a", SliceOf("n", "g", "p", {"0", "1"}));
  Publish("b", SliceOf("n", "other", "p", {"x"}));
  const auto outcome = Try({ClaimFor("any"), ClaimFor("gadget", 2)}, NodeNamed("n"));
  ASSERT_TRUE(outcome.found());
  EXPECT_THAT(NamesOf(outcome.allocations[0]), ElementsAre("other/p/x"));
  EXPECT_THAT(NamesOf(outcome.allocations[1]), ElementsAre("g/p/0", "g/p/1"));
}

TEST_F(AllocatorTest, PoolsSlicesAndDevicesAreTriedInTheirOrder) {
  ResourceSliceObject conditional = SliceOf("n", "a", "p", {"c"});
  conditional.devices[0].binding_conditions = {"ready"};
  Publish("0", conditional);
  Publish("3", SliceOf("n", "g", "q", {"z"}));
  for (const char* name : {"2", "1"}) {
    ResourceSliceObject half = SliceOf("n", "g", "p", {std::string("y") + name, name});
    half.slice_count = 2;
    Publish(name, half);
  }
  EXPECT_THAT(Get(ClaimFor("any", 6)),
              ElementsAre("g/p/y1", "g/p/1", "g/p/y2", "g/p/2", "g/q/z", "a/p/c"));
}

TEST_F(AllocatorTest, ADeviceIsTakenOnce) {
  Publish("a", SliceOf("n", "g", "p", {"0", "1"}));
  EXPECT_THAT(TakeOne(ClaimFor("gadget")), ElementsAre("g/p/0"));
  EXPECT_THAT(TakeOne(ClaimFor("gadget")), ElementsAre("g/p/1"));
  EXPECT_THAT(Get(ClaimFor("gadget")), IsEmpty());
  EXPECT_FALSE(inventory_.TakeIfFree(held_[0])) << "somebody has it";
  EXPECT_EQ(inventory_.taken(), 2u);
  inventory_.Release(held_[0]);
  EXPECT_THAT(Get(ClaimFor("gadget")), ElementsAre("g/p/0"));
}

TEST_F(AllocatorTest, ATakenDeviceIsTakenAlsoAfterItsSliceHasGoneAndComeBack) {
  Publish("a", SliceOf("n", "g", "p", {"0", "1"}));
  TakeOne(ClaimFor("gadget"));
  inventory_.RemoveSlice("a");
  EXPECT_EQ(inventory_.taken(), 1u);
  EXPECT_THAT(Get(ClaimFor("gadget")), IsEmpty());
  Publish("a", SliceOf("n", "g", "p", {"0", "1"}));
  EXPECT_THAT(Get(ClaimFor("gadget")), ElementsAre("g/p/1"));
  inventory_.Release(held_[0]);
  inventory_.Release(held_[0]);
  EXPECT_EQ(inventory_.taken(), 0u);
}

TEST_F(AllocatorTest, OnlyCompletePoolsOfTheNewestGenerationGive) {
  ResourceSliceObject slice = SliceOf("n", "g", "p", {"0"});
  slice.slice_count = 2;
  Publish("a", slice);
  EXPECT_THAT(Get(ClaimFor("gadget")), IsEmpty()) << "a slice is missing";
  ResourceSliceObject elsewhere = SliceOf("m", "g", "p", {"1"});
  elsewhere.slice_count = 2;
  Publish("b", elsewhere);
  EXPECT_THAT(Get(ClaimFor("gadget")), ElementsAre("g/p/0"));
  elsewhere.generation = 1;
  Publish("b", elsewhere);
  EXPECT_THAT(Get(ClaimFor("gadget")), IsEmpty()) << "what the node sees is outdated";
  slice.generation = 1;
  slice.devices[0].name = "2";
  Publish("c", slice);
  EXPECT_THAT(Get(ClaimFor("gadget")), ElementsAre("g/p/2"));
}

TEST_F(AllocatorTest, APoolThatListsADeviceTwiceGivesNothing) {
  for (const char* name : {"a", "b"}) {
    ResourceSliceObject slice = SliceOf("n", "g", "p", {"0"});
    slice.slice_count = 2;
    Publish(name, slice);
  }
  const auto outcome = Try({ClaimFor("gadget")}, NodeNamed("n"));
  EXPECT_EQ(outcome.kind, Kind::kNone);
  EXPECT_THAT(outcome.message, HasSubstr("invalid resource pools"));
}

TEST_F(AllocatorTest, AllMeansAllThatTheNodeSees) {
  Publish("a", SliceOf("n", "g", "p", {"0", "1"}));
  ClaimSpec all = ClaimFor("gadget");
  all.requests[0].alternatives[0].wants_all = true;
  EXPECT_THAT(Get(all), ElementsAre("g/p/0", "g/p/1"));
  EXPECT_THAT(Get(all, "m"), IsEmpty()) << "none is not all";
  TakeOne(ClaimFor("gadget"));
  EXPECT_THAT(Get(all), IsEmpty()) << "one is in use";
  ResourceSliceObject half = SliceOf("n", "g", "q", {"2"});
  half.slice_count = 2;
  Publish("b", half);
  EXPECT_THAT(Try({all}, NodeNamed("n")).message, HasSubstr("g/q is being updated"));
}

TEST_F(AllocatorTest, AClaimHoldsSoManyDevices) {
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back(std::to_string(100 + i));
  Publish("a", SliceOf("n", "g", "p", names));
  EXPECT_EQ(Get(ClaimFor("gadget", 32)).size(), 32u);
  EXPECT_THAT(Try({ClaimFor("gadget", 33)}, NodeNamed("n")).message,
              HasSubstr("33 exceeds the claim limit of 32"));
  // The first alternative is too many beside the other request.
  ClaimSpec list = ClaimFor("gadget", 30);
  DeviceRequest request;
  request.name = "list";
  request.is_list = true;
  request.alternatives.push_back({.name = "many", .class_name = "gadget", .count = 3});
  request.alternatives.push_back({.name = "few", .class_name = "gadget", .count = 2});
  list.requests.push_back(request);
  EXPECT_EQ(Get(list).size(), 32u);
}

TEST_F(AllocatorTest, AlternativesAreTriedInTheirOrder) {
  Publish("a", SliceOf("n", "g", "p", {"0"}));
  Publish("b", SliceOf("n", "other", "p", {"x"}));
  ClaimSpec claim;
  DeviceRequest request;
  request.name = "r";
  request.is_list = true;
  request.alternatives.push_back({.name = "two", .class_name = "gadget", .count = 2});
  request.alternatives.push_back({.name = "one", .class_name = "gadget"});
  request.alternatives.push_back({.name = "any", .class_name = "any"});
  claim.requests.push_back(request);
  const auto outcome = Try({claim}, NodeNamed("n"));
  ASSERT_TRUE(outcome.found());
  EXPECT_EQ(outcome.allocations[0].devices[0].request, "r/one");
  TakeOne(ClaimFor("gadget"));
  EXPECT_THAT(Get(claim), ElementsAre("other/p/x"));
}

TEST_F(AllocatorTest, DevicesMatchInAnAttributeOrDiffer) {
  ResourceSliceObject slice = SliceOf("n", "g", "p", {"0", "1", "2", "3"});
  for (size_t i = 0; i < 4; ++i) {
    slice.devices[i].attributes.push_back(
        {.name = "root", .texts = {i == 0 || i == 3 ? "a" : "b"}});
  }
  slice.devices[3].attributes[0].name = "g/root";
  Publish("a", slice);
  ClaimSpec claim = ClaimFor("gadget", 2);
  claim.constraints.push_back({.requests = {}, .attribute = "g/root"});
  EXPECT_THAT(Get(claim), ElementsAre("g/p/0", "g/p/3"));
  claim.constraints[0].wants_distinct = true;
  EXPECT_THAT(Get(claim), ElementsAre("g/p/0", "g/p/1"));
  claim.requests[0].alternatives[0].count = 3;
  EXPECT_THAT(Get(claim), IsEmpty());
  claim.constraints[0].attribute = "h/root";
  EXPECT_THAT(Get(ClaimFor("gadget", 3)).size(), 3u);
  EXPECT_THAT(Get(claim), IsEmpty()) << "no device has the attribute";
  claim.constraints[0].requests = {"another"};
  EXPECT_THAT(Get(claim).size(), 3u) << "the constraint is not on this request";
}

TEST_F(AllocatorTest, ValuesOfDifferentTypesDiffer) {
  ResourceSliceObject slice = SliceOf("n", "g", "p", {"0", "1"});
  slice.devices[0].attributes.push_back({.name = "x", .texts = {"1"}});
  slice.devices[1].attributes.push_back(
      {.name = "x", .type = SliceAttribute::Type::kInt, .numbers = {1}});
  Publish("a", slice);
  ClaimSpec claim = ClaimFor("gadget", 2);
  claim.constraints.push_back({.requests = {}, .attribute = "g/x"});
  EXPECT_THAT(Get(claim), IsEmpty());
  claim.constraints[0].wants_distinct = true;
  EXPECT_EQ(Get(claim).size(), 2u);
}

class ListTest : public AllocatorTest {
 protected:
  explicit ListTest(bool has_lists = true) : AllocatorTest({.list_attributes = has_lists}) {
    ResourceSliceObject slice = SliceOf("n", "g", "p", {"0", "1", "2"});
    const std::vector<std::vector<std::string>> values = {{"a", "b"}, {"b", "c"}, {"c", "d"}};
    for (size_t i = 0; i < 3; ++i) {
      slice.devices[i].attributes.push_back({.name = "x", .is_list = true, .texts = values[i]});
    }
    Publish("a", slice);
    claim_.constraints.push_back({.requests = {}, .attribute = "g/x"});
  }

  ClaimSpec claim_ = ClaimFor("gadget", 2);
};
class NoListTest : public ListTest {
 protected:
  NoListTest() : ListTest(false) {}
};

TEST_F(ListTest, DevicesHaveAValueInCommonOrNone) {
  EXPECT_THAT(Get(claim_), ElementsAre("g/p/0", "g/p/1"));
  claim_.requests[0].alternatives[0].count = 3;
  EXPECT_THAT(Get(claim_), IsEmpty()) << "two by two is not enough";
  claim_.requests[0].alternatives[0].count = 2;
  claim_.constraints[0].wants_distinct = true;
  EXPECT_THAT(Get(claim_), ElementsAre("g/p/0", "g/p/2"));
}

TEST_F(NoListTest, ListsAreNoValuesWithoutTheirGate) { EXPECT_THAT(Get(claim_), IsEmpty()); }

TEST_F(AllocatorTest, TaintsKeepAwayWhoDoesNotTolerateThem) {
  ResourceSliceObject slice = SliceOf("n", "g", "p", {"0", "1"});
  slice.devices[0].taints.push_back({"k", "v", "NoSchedule"});
  slice.devices[1].taints.push_back({"k", "v", "None"});
  Publish("a", slice);
  ClaimSpec claim = ClaimFor("gadget");
  EXPECT_THAT(Get(claim), ElementsAre("g/p/1"));
  inventory_.SetTaintRule("rule", {"", "", "1", {"k", "w", "NoExecute"}});
  EXPECT_THAT(Get(claim), IsEmpty());
  Toleration toleration;
  toleration.key = "k";
  toleration.value = "w";
  claim.requests[0].alternatives[0].tolerations = {toleration};
  EXPECT_THAT(Get(claim), ElementsAre("g/p/1"));
  claim.requests[0].alternatives[0].tolerations[0].exists = true;
  EXPECT_THAT(Get(claim), ElementsAre("g/p/0"));
  inventory_.RemoveTaintRule("rule");
  EXPECT_THAT(Get(ClaimFor("gadget")), ElementsAre("g/p/1"));
}

TEST_F(AllocatorTest, AdministratorsGetWhatIsInUseAndUseUpNothing) {
  Publish("a", SliceOf("n", "g", "p", {"0"}));
  TakeOne(ClaimFor("gadget"));
  ClaimSpec admin = ClaimFor("gadget");
  admin.requests[0].alternatives[0].has_admin_access = true;
  EXPECT_THAT(TakeOne(admin), ElementsAre("g/p/0"));
  EXPECT_EQ(inventory_.taken(), 1u);
  inventory_.Release(held_[0]);
  EXPECT_THAT(Get(ClaimFor("gadget")), ElementsAre("g/p/0"));
  admin.requests.push_back(admin.requests[0]);
  admin.requests[1].name = "s";
  EXPECT_THAT(Get(admin), IsEmpty()) << "one claim gets it once";
}

ResourceSliceObject SharedDevices(const std::string& capacity) {
  ResourceSliceObject slice = SliceOf("n", "g", "p", {"0", "1"});
  for (SliceDevice& device : slice.devices) {
    device.is_shared = true;
    SliceCapacity bandwidth{.name = "bandwidth", .amount = Amount(capacity)};
    bandwidth.policy.emplace();
    bandwidth.policy->default_amount = Amount("1");
    bandwidth.policy->range = RequestPolicy::Range{Amount("1"), Amount("6"), Amount("2")};
    device.capacity.push_back(bandwidth);
  }
  return slice;
}

TEST_F(AllocatorTest, SharesTakeOfADevicesCapacity) {
  Publish("a", SharedDevices("10"));
  ClaimSpec claim = ClaimFor("gadget");
  auto& wanted = claim.requests[0].alternatives[0].capacity;
  wanted = {{"bandwidth", Amount("4")}};
  EXPECT_THAT(TakeOne(claim), ElementsAre("g/p/0"));
  EXPECT_EQ(held_[0].devices[0].consumed, NamedAmounts({{"bandwidth", Amount("5")}}))
      << "rounded up: 1 and twice 2";
  EXPECT_THAT(TakeOne(claim), ElementsAre("g/p/0"));
  EXPECT_THAT(TakeOne(claim), ElementsAre("g/p/1"));
  EXPECT_THAT(TakeOne(ClaimFor("gadget")), ElementsAre("g/p/1")) << "the default is 1";
  EXPECT_THAT(Get(claim), IsEmpty());
  inventory_.Release(held_[1]);
  EXPECT_THAT(Get(claim), ElementsAre("g/p/0"));
  wanted[0].second = Amount("6");
  EXPECT_THAT(Get(claim), IsEmpty()) << "7 is beyond the policy";
  wanted[0].first = "other";
  EXPECT_THAT(Get(claim), IsEmpty()) << "no device has such a capacity";
}

TEST_F(AllocatorTest, OneRequestTakesOneShareOfADevice) {
  Publish("a", SharedDevices("10"));
  EXPECT_THAT(Get(ClaimFor("gadget", 2)), ElementsAre("g/p/0", "g/p/1"));
  EXPECT_THAT(Get(ClaimFor("gadget", 3)), IsEmpty());
  ClaimSpec two = ClaimFor("gadget");
  two.requests.push_back(RequestFor("s", "gadget"));
  EXPECT_THAT(Get(two), ElementsAre("g/p/0", "g/p/0"));
}

TEST_F(AllocatorTest, AmountsBeyond64BitsAreAnError) {
  ResourceSliceObject slice = SharedDevices("10");
  slice.devices[0].capacity[0].policy->range->step = Amount("7E");
  Publish("a", slice);
  ClaimSpec claim = ClaimFor("gadget");
  claim.requests[0].alternatives[0].capacity = {{"bandwidth", Amount("9E")}};
  EXPECT_THAT(Try({claim}, NodeNamed("n")).message, HasSubstr("beyond 64 bits"));
}

TEST_F(AllocatorTest, FractionsOfAStepCountInThousandths) {
  ResourceSliceObject slice = SharedDevices("10");
  slice.devices[0].capacity[0].policy->range =
      RequestPolicy::Range{Amount("500m"), std::nullopt, Amount("250m")};
  Publish("a", slice);
  ClaimSpec claim = ClaimFor("gadget");
  claim.requests[0].alternatives[0].capacity = {{"bandwidth", Amount("600m")}};
  TakeOne(claim);
  EXPECT_EQ(held_[0].devices[0].consumed[0].second, Amount("750m"));
}

// Two partitions of one device cannot be in use together with the whole.
class PartitionTest : public AllocatorTest {
 protected:
  explicit PartitionTest(bool has_groups = false)
      : AllocatorTest({.compatibility_groups = has_groups}) {
    ResourceSliceObject counters = SliceOf("n", "g", "p", {});
    counters.slice_count = 2;
    counters.shared_counters.push_back({"set", {{"memory", Amount("4")}}});
    Publish("counters", counters);
  }
  void PublishParts(const std::vector<std::pair<std::string, std::string>>& memory,
                    const std::vector<std::vector<std::string>>& groups = {}) {
    ResourceSliceObject slice = SliceOf("n", "g", "p", {});
    slice.slice_count = 2;
    for (const auto& [name, amount] : memory) {
      SliceDevice device{.name = name};
      device.counter_uses.push_back({"set", {{"memory", Amount(amount)}}, {}});
      if (!groups.empty()) {
        device.counter_uses[0].compatibility_groups = groups[slice.devices.size()];
      }
      slice.devices.push_back(device);
    }
    Publish("devices", slice);
  }
};
class GroupsTest : public PartitionTest {
 protected:
  GroupsTest() : PartitionTest(true) {}
};

TEST_F(PartitionTest, CountersAreNotOverdrawn) {
  PublishParts({{"whole", "4"}, {"half0", "2"}, {"half1", "2"}});
  EXPECT_THAT(Get(ClaimFor("gadget", 2)), ElementsAre("g/p/half0", "g/p/half1"));
  EXPECT_THAT(Get(ClaimFor("gadget", 3)), IsEmpty());
  EXPECT_THAT(TakeOne(ClaimFor("gadget")), ElementsAre("g/p/whole"));
  EXPECT_THAT(Get(ClaimFor("gadget")), IsEmpty());
  inventory_.Release(held_[0]);
  const auto half = AllocationOf({"g/p/half1"}, "n");
  ASSERT_TRUE(inventory_.TakeIfFree(*half));
  EXPECT_FALSE(inventory_.TakeIfFree(held_[0])) << "another thread was ahead";
  EXPECT_THAT(Get(ClaimFor("gadget")), ElementsAre("g/p/half0"));
}

TEST_F(PartitionTest, APoolWhoseCountersAreUnknownGivesNothing) {
  PublishParts({{"whole", "4"}});
  ResourceSliceObject counters = SliceOf("n", "g", "p", {});
  counters.slice_count = 2;
  counters.shared_counters.push_back({"other", {{"memory", Amount("4")}}});
  Publish("counters", counters);
  EXPECT_THAT(Try({ClaimFor("gadget")}, NodeNamed("n")).message, HasSubstr("invalid"));
}

TEST_F(PartitionTest, SlicesWithGroupsAreAsIfMissingWithoutTheirGate) {
  PublishParts({{"whole", "4"}}, {{"mig"}});
  EXPECT_THAT(Get(ClaimFor("gadget")), IsEmpty());
}

TEST_F(GroupsTest, DevicesOfOneSetHaveAGroupInCommon) {
  PublishParts({{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}},
               {{"x", "y"}, {"y", "z"}, {"x"}, {}});
  EXPECT_THAT(Get(ClaimFor("gadget", 2)), ElementsAre("g/p/a", "g/p/b"));
  EXPECT_THAT(Get(ClaimFor("gadget", 3)), IsEmpty());
  ASSERT_TRUE(inventory_.TakeIfFree(*AllocationOf({"g/p/c"}, "n")));
  EXPECT_THAT(Get(ClaimFor("gadget")), ElementsAre("g/p/a"));
  EXPECT_FALSE(inventory_.TakeIfFree(*AllocationOf({"g/p/b"}, "n")));
}

// Another node sees a newer generation of the pool, in which the device would not be given.
class SkewTest : public AllocatorTest, public testing::WithParamInterface<bool> {
 protected:
  SkewTest() : AllocatorTest({.partitionable_devices = GetParam()}) {}
};
INSTANTIATE_TEST_SUITE_P(PartitionableDevices, SkewTest, testing::Bool());

TEST_P(SkewTest, ADeviceIsJudgedByTheGenerationThatGaveIt) {
  ResourceSliceObject older = SliceOf("n", "g", "p", {"d"});
  older.devices[0].is_shared = true;
  older.devices[0].capacity.push_back({.name = "bandwidth", .amount = Amount("10")});
  ResourceSliceObject newer = older;
  newer.reach.node_name = "m";
  newer.generation = 2;
  newer.devices[0].capacity[0].amount = Amount("1");
  newer.devices[0].counter_uses.push_back({"missing", {{"memory", Amount("1")}}, {}});
  Publish("older", older);
  Publish("newer", newer);
  EXPECT_THAT(TakeOne(ClaimFor("gadget")), ElementsAre("g/p/d"));
  EXPECT_TRUE(inventory_.TakeIfFree(*AllocationOf({"g/p/other"}, "m"))) << "not listed at all";
  EXPECT_THAT(Get(ClaimFor("gadget"), "m"), IsEmpty());
}

// A slice of a generation that is invalid has no counters to judge by.
TEST_P(SkewTest, WhatAnInvalidPoolGaveIsNotCounted) {
  ResourceSliceObject slice = SliceOf("n", "g", "p", {"d"});
  slice.devices[0].counter_uses.push_back({"missing", {{"memory", Amount("1")}}, {}});
  Publish("s", slice);
  EXPECT_TRUE(inventory_.TakeIfFree(*AllocationOf({"g/p/d"}, "n")));
  EXPECT_FALSE(inventory_.TakeIfFree(*AllocationOf({"g/p/d"}, "n")));
}

TEST_F(AllocatorTest, DevicesOutsideOneNodeReachTheNodesOfTheirSelector) {
  ResourceSliceObject slice = SliceOf("", "g", "p", {"0"});
  NodeRequirement requirement;
  requirement.key = "zone";
  requirement.op = LabelRequirement::Operator::kIn;
  requirement.values = {"a"};
  slice.reach.terms = {{requirement}};
  Publish("a", slice);
  const ObjectView inside = NodeNamed("n", {{"zone", "a"}});
  const ObjectView outside = NodeNamed("m", {{"zone", "b"}});
  auto outcome = Try({ClaimFor("gadget")}, inside);
  ASSERT_TRUE(outcome.found());
  EXPECT_EQ(outcome.allocations[0].node_name, "");
  EXPECT_TRUE(IsAvailableOn(outcome.allocations[0], inside));
  EXPECT_FALSE(IsAvailableOn(outcome.allocations[0], outside));
  EXPECT_FALSE(Try({ClaimFor("gadget")}, outside).found());
  EXPECT_TRUE(Try({ClaimFor("gadget")}, NodeNamed("m", {{"zone", "a"}})).found())
      << "the node has other labels now";
  slice.devices[0].binds_to_node = true;
  Publish("a", slice);
  outcome = Try({ClaimFor("gadget")}, inside);
  ASSERT_TRUE(outcome.found());
  EXPECT_EQ(outcome.allocations[0].node_name, "n");
  slice.reach = {};
  slice.reach.is_everywhere = true;
  Publish("a", slice);
  EXPECT_TRUE(Try({ClaimFor("gadget")}, outside).found());
}

TEST_F(AllocatorTest, ASliceMayLeaveTheNodesToItsDevices) {
  ResourceSliceObject slice = SliceOf("", "g", "p", {"0", "1"});
  slice.per_device = true;
  slice.devices[0].reach.node_name = "n";
  slice.devices[1].reach.is_everywhere = true;
  Publish("a", slice);
  EXPECT_THAT(Get(ClaimFor("gadget", 2)), ElementsAre("g/p/0", "g/p/1"));
  EXPECT_THAT(Get(ClaimFor("gadget"), "m"), ElementsAre("g/p/1"));
}

TEST_F(AllocatorTest, ASelectorThatCannotBeEvaluatedIsAnErrorOnlyWhereItIsAsked) {
  Publish("a", SliceOf("n", "g", "p", {"0", "1"}));
  Publish("b", SliceOf("n", "other", "p", {"x"}));
  ClaimSpec claim = ClaimFor("gadget", 2);
  claim.requests[0].alternatives[0].selectors = {"device.attributes[\"g\"].absent == 1"};
  EXPECT_EQ(Try({claim}, NodeNamed("n")).kind, Kind::kError);
  EXPECT_EQ(Try({claim}, NodeNamed("m")).kind, Kind::kNone);
}

TEST_F(AllocatorTest, AnswersOfSelectorsAreKept) {
  Publish("a", SliceOf("n", "g", "p", {"0", "1", "2"}));
  const ClaimSpec claim = ClaimFor("gadget", 2);
  Get(claim);
  EXPECT_EQ(inventory_.matches().evaluations(), 2u) << "the third was not looked at";
  for (int i = 0; i < 10; ++i) Get(claim);
  EXPECT_EQ(inventory_.matches().evaluations(), 2u);
  Publish("a", SliceOf("n", "g", "p", {"0", "1", "2"}));
  Get(claim);
  EXPECT_EQ(inventory_.matches().evaluations(), 4u) << "the slice is a new one";
}

// A hopeless search would try all subsets: what is left is counted instead.
TEST_F(AllocatorTest, TooFewDevicesAreSeenAtOnce) {
  std::vector<std::string> names;
  for (int i = 0; i < 31; ++i) names.push_back(std::to_string(i));
  Publish("a", SliceOf("n", "g", "p", names));
  EXPECT_THAT(Get(ClaimFor("gadget", 32)), IsEmpty());
  EXPECT_LT(inventory_.allocator().steps(), 100u);
}

class BoundTest : public AllocatorTest {
 protected:
  BoundTest() : AllocatorTest({}, 1000) {}
};

// Each way to satisfy the first request fails at the second one.
TEST_F(BoundTest, ASearchEndsAtItsBound) {
  ResourceSliceObject slice = SliceOf("n", "g", "p", {});
  for (int i = 0; i < 64; ++i) {
    SliceDevice device{.name = std::to_string(i)};
    device.attributes.push_back({.name = "x", .texts = {std::to_string(i)}});
    slice.devices.push_back(device);
  }
  Publish("a", slice);
  Publish("b", SliceOf("n", "other", "p", {"0"}));
  ClaimSpec claim = ClaimFor("gadget", 16);
  claim.constraints.push_back({.requests = {}, .attribute = "g/x", .wants_distinct = true});
  claim.requests.push_back(RequestFor("impossible", "any", 2));
  claim.requests[1].alternatives[0].selectors = {"device.driver == \"other\""};
  EXPECT_THAT(Try({claim}, NodeNamed("n")).message, HasSubstr("timed out"));
}

// Of each pair the second device is refused: nothing is given that would count.
TEST_F(BoundTest, WhatCannotBeGivenCountsToo) {
  ResourceSliceObject slice = SliceOf("n", "g", "p", {});
  for (int i = 0; i < 64; ++i) {
    SliceDevice device{.name = std::to_string(i)};
    device.attributes.push_back({.name = "x", .texts = {"same"}});
    slice.devices.push_back(device);
  }
  Publish("a", slice);
  ClaimSpec claim = ClaimFor("gadget", 2);
  claim.constraints.push_back({.requests = {}, .attribute = "g/x", .wants_distinct = true});
  EXPECT_THAT(Try({claim}, NodeNamed("n")).message, HasSubstr("timed out"));
}

TEST_F(BoundTest, SoManyClaimsAreAllocatedAtOnce) {
  Publish("a", SliceOf("n", "g", "p", {"0"}));
  const std::vector<ClaimSpec> most(64, ClaimFor("gadget"));
  EXPECT_EQ(Try(most, NodeNamed("n")).kind, Kind::kNone);
  const std::vector<ClaimSpec> too_many(65, ClaimFor("gadget"));
  EXPECT_THAT(Try(too_many, NodeNamed("n")).message, HasSubstr("expected at most 64"));
}

// --- Nodes that a selector decides on.

class DecisiveTest : public testing::Test {
 protected:
  // Nodes n0 to n99 have a device of driver g each, that of n7 the attribute.
  DecisiveTest() {
    inventory_.SetClass("gadget", ClassOf("g"));
    for (int i = 0; i < 100; ++i) Publish(i, i == 7);
  }
  void Publish(int number, bool is_rare) {
    const std::string node = "n" + std::to_string(number);
    ResourceSliceObject slice = SliceOf(node, "g", node, {"0"});
    if (is_rare) slice.devices[0].attributes.push_back({.name = "rare", .texts = {"yes"}});
    inventory_.SetSlice(node, Shared(slice));
  }
  static ClaimSpec Rare(const std::string& expression = "has(device.attributes['g'].rare)") {
    ClaimSpec claim = ClaimFor("gadget");
    claim.requests[0].alternatives[0].selectors = {expression};
    return claim;
  }
  // nullopt: any node may have devices.
  std::optional<std::vector<std::string>> NodesFor(const ClaimSpec& claim) {
    const ClaimSpec* const specs[] = {&claim};
    const PreparedClaims prepared = inventory_.Prepare(specs);
    for (int i = 0; i < 3; ++i) inventory_.NodesFor(prepared);
    const auto* const nodes = inventory_.NodesFor(prepared);
    if (nodes == nullptr) return std::nullopt;
    for (int i = 0; i < 101; ++i) {
      const std::string name = "n" + std::to_string(i);
      const bool is_named = std::find(nodes->begin(), nodes->end(), name) != nodes->end();
      ObjectView node;
      node.name = name;
      EXPECT_LE(inventory_.Allocate(prepared, node).found(), is_named) << name;
    }
    return *nodes;
  }

  DeviceInventory inventory_;
};

TEST_F(DecisiveTest, AreThoseWhoseDevicesItChooses) {
  EXPECT_EQ(NodesFor(Rare()), std::vector<std::string>{"n7"});
  Publish(50, true);
  EXPECT_EQ(NodesFor(Rare()), (std::vector<std::string>{"n50", "n7"}));
  inventory_.RemoveSlice("n7");
  Publish(50, false);
  EXPECT_EQ(NodesFor(Rare()), std::vector<std::string>());
}

TEST_F(DecisiveTest, NeedEveryRequestAndNoError) {
  EXPECT_EQ(NodesFor(ClaimFor("gadget")), std::nullopt) << "too many nodes";
  EXPECT_EQ(NodesFor(Rare("device.attributes['g'].rare == 'yes'")), std::nullopt) << "errors";
  ClaimSpec claim = Rare();
  claim.requests.push_back(ClaimFor("gadget").requests[0]);
  EXPECT_EQ(NodesFor(claim), std::vector<std::string>{"n7"});
  claim.requests[0].is_list = true;
  EXPECT_EQ(NodesFor(claim), std::nullopt) << "another alternative may do";
  claim.requests[0].is_list = false;
  claim.requests[1].alternatives[0].wants_all = true;
  EXPECT_EQ(NodesFor(claim), std::nullopt);
  claim.requests[1].alternatives[0].wants_all = false;
  claim.requests[1].alternatives[0].count = 32;
  EXPECT_EQ(NodesFor(claim), std::nullopt) << "too many devices are an error on any node";
}

TEST_F(DecisiveTest, ADeviceThatSeveralNodesReachDecidesNothing) {
  ResourceSliceObject slice = SliceOf("", "g", "far", {"0"});
  slice.devices[0].attributes.push_back({.name = "rare", .texts = {"yes"}});
  slice.reach.is_everywhere = true;
  inventory_.SetSlice("far", Shared(slice));
  EXPECT_EQ(NodesFor(Rare()), std::nullopt);
}

}  // namespace
}  // namespace schedq
