// Goal: the audit of devices catches each fault, and nothing where there is none.
// Method: a cluster with two claims that are as they should be, and one fault a test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/sim/cluster/audit_devices.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/devices/allocation.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"
#include "tests/unit/bench/sim/device_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DevicesAuditTest : public testing::Test {
 protected:
  DevicesAuditTest() {
    Create(
        "apiVersion: v1\nkind: DeviceClass\nmetadata: {name: c}\n"
        "spec: {selectors: [{cel: {expression: 'device.driver == \"d\"'}}]}\n");
    Create(
        "apiVersion: v1\nkind: ResourceSlice\nmetadata: {name: counters}\nspec: {driver: d, "
        "nodeName: n, pool: {name: p, resourceSliceCount: 2}, sharedCounters: [{name: s, "
        "counters: {x: {value: 2}}}]}\n");
    Create(
        "apiVersion: v1\nkind: ResourceSlice\nmetadata: {name: devices}\nspec: {driver: d, "
        "nodeName: n, pool: {name: p, resourceSliceCount: 2}, devices: [\n"
        "  {name: a, attributes: {r: {string: '1'}}, consumesCounters: [{counterSet: s, counters: "
        "{x: {value: 1}}, compatibilityGroups: [g]}]},\n"
        "  {name: b, attributes: {r: {string: '1'}}, consumesCounters: [{counterSet: s, counters: "
        "{x: {value: 1}}, compatibilityGroups: [g]}]},\n"
        "  {name: big, consumesCounters: [{counterSet: s, counters: {x: {value: 2}}, "
        "compatibilityGroups: [g]}]},\n"
        "  {name: alone, consumesCounters: [{counterSet: s, counters: {x: {value: 0}}}]},\n"
        "  {name: e, attributes: {r: {string: '2'}}},\n"
        "  {name: shared, allowMultipleAllocations: true, capacity: {m: {value: 4}}}]}\n");
    Create(
        "apiVersion: v1\nkind: ResourceSlice\nmetadata: {name: other}\nspec: {driver: o, "
        "nodeName: n, pool: {name: p}, devices: [{name: z}]}\n");
    ClaimSpec two = ClaimFor("c", 2);
    two.constraints.push_back({.requests = {}, .attribute = "d/r"});
    Hold("two", two, {"d/p/a", "d/p/b"});
    Hold("one", ClaimFor("c"), {"d/p/e"});
  }

  void Create(const std::string& yaml) {
    ASSERT_TRUE(cluster_.Create(ObjectFrom(yaml), "ns").ok());
  }
  void Hold(const std::string& name, const ClaimSpec& spec,
            const std::vector<DeviceName>& devices) {
    auto claim = std::make_shared<ClusterClaim>();
    claim->namespace_name = "ns";
    claim->name = name;
    claim->spec = spec;
    ASSERT_TRUE(cluster_.CreateClaim(std::move(claim)).ok());
    Change(name, [&](DeviceAllocation* after) { *after = *AllocationOf(devices, "n"); });
  }
  void Change(const std::string& name, const std::function<void(DeviceAllocation*)>& change) {
    cluster_.UpdateClaim("ns/" + name, [&](ClusterClaim* claim) {
      DeviceAllocation after;
      if (claim->allocation != nullptr) after = *claim->allocation;
      change(&after);
      claim->allocation = std::make_shared<const DeviceAllocation>(after);
    });
  }
  std::vector<std::string> Audit() const {
    std::vector<std::string> faults;
    AuditDevices(cluster_, &faults);
    return faults;
  }

  VirtualClock clock_{Instant()};
  Cluster cluster_{{&clock_, std::chrono::milliseconds(1), true}};
};

TEST_F(DevicesAuditTest, FindsNothingWhereAllIsRight) { EXPECT_THAT(Audit(), IsEmpty()); }

TEST_F(DevicesAuditTest, CatchesADeviceGivenTwice) {
  Change("one", [](DeviceAllocation* after) { after->devices[0].device = "d/p/a"; });
  EXPECT_THAT(Audit(), ElementsAre("device d/p/a is given twice: to ns/one and ns/two"));
}

// Another node sees a newer generation, in which the devices are not what they were given as.
TEST_F(DevicesAuditTest, JudgesByTheGenerationOfTheNode) {
  const std::string slice =
      "apiVersion: v1\nkind: ResourceSlice\nmetadata: {name: newer}\nspec: {driver: d, "
      "pool: {name: p, generation: 9}, devices: [{name: e, consumesCounters: [{counterSet: "
      "missing, counters: {x: {value: 1}}}]}], nodeName: ";
  Create(slice + "m}\n");
  EXPECT_THAT(Audit(), IsEmpty());
  Change("one", [](DeviceAllocation* after) { after->node_name = "m"; });
  EXPECT_THAT(Audit(), ElementsAre("counter x of d/p/missing is overdrawn"));
}

TEST_F(DevicesAuditTest, CatchesSharesBeyondTheCapacity) {
  for (const char* name : {"x", "y"}) {
    Hold(name, ClaimFor("c"), {"d/p/shared"});
    Change(name, [](DeviceAllocation* after) {
      after->devices[0].is_share = true;
      after->devices[0].consumed = {{"m", Quantity::Of(2)}};
    });
  }
  EXPECT_THAT(Audit(), IsEmpty());
  Change("y", [](DeviceAllocation* after) {
    after->devices[0].consumed = {{"m", Quantity::Of(3)}};
  });
  EXPECT_THAT(Audit(), ElementsAre("device d/p/shared is given beyond its capacity of m"));
  Change("x", [](DeviceAllocation* after) { after->devices[0].is_share = false; });
  EXPECT_THAT(Audit(), ElementsAre(HasSubstr("d/p/shared is given twice")));
}

TEST_F(DevicesAuditTest, CatchesCountersAndGroups) {
  Change("one", [](DeviceAllocation* after) { after->devices[0].device = "d/p/big"; });
  EXPECT_THAT(Audit(), ElementsAre("counter x of d/p/s is overdrawn"));
  Change("one", [](DeviceAllocation* after) { after->devices[0].device = "d/p/alone"; });
  EXPECT_THAT(Audit(), ElementsAre(HasSubstr("do not go with each other")));
}

TEST_F(DevicesAuditTest, CatchesWhatNobodyAskedFor) {
  Change("one", [](DeviceAllocation* after) { after->devices[0].device = "o/p/z"; });
  EXPECT_THAT(Audit(), ElementsAre(HasSubstr("request r does not select")));
  Change("one",
         [](DeviceAllocation* after) { after->devices[0] = {.device = "d/p/e", .request = "s"}; });
  EXPECT_THAT(Audit(), ElementsAre(HasSubstr("0 alternatives of request r"),
                                   HasSubstr("d/p/e for no request")));
  Change("one", [](DeviceAllocation* after) {
    after->devices = {{.device = "d/p/e", .request = "r"},
                      {.device = "d/p/shared", .request = "r"}};
  });
  EXPECT_THAT(Audit(), ElementsAre("claim ns/one has 2 devices for request r, expected 1"));
}

TEST_F(DevicesAuditTest, CatchesReservationsThatMustNotBe) {
  const auto reserve = [&](std::vector<uint64_t> pods) {
    cluster_.UpdateClaim("ns/one", [&](ClusterClaim* claim) { claim->reserved_for = pods; });
  };
  reserve({1, 2});
  EXPECT_THAT(Audit(), IsEmpty());
  reserve({1, 2, 1});
  EXPECT_THAT(Audit(), ElementsAre("claim ns/one is reserved twice for one user"));
  std::vector<uint64_t> many(kReservationsMax);
  std::iota(many.begin(), many.end(), 1);
  reserve(many);
  EXPECT_THAT(Audit(), IsEmpty());
  many.push_back(0);
  reserve(many);
  EXPECT_THAT(Audit(), ElementsAre("claim ns/one is reserved for 257 users, expected at most 256"));
  reserve({1});
  cluster_.UpdateClaim("ns/one", [](ClusterClaim* claim) { claim->allocation = nullptr; });
  EXPECT_THAT(Audit(), ElementsAre("claim ns/one is reserved and has no devices"));
}

TEST_F(DevicesAuditTest, CatchesABrokenConstraint) {
  Change("one", [](DeviceAllocation* after) { after->devices.clear(); });
  Change("two", [](DeviceAllocation* after) { after->devices[1].device = "d/p/e"; });
  EXPECT_THAT(Audit(), testing::Contains("claim ns/two breaks its constraint on d/r"));
}

}  // namespace
}  // namespace schedq
