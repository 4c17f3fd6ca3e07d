// Goal: whether a claim's devices are ready is decided as kube-scheduler decides it.
// Method: an allocation of three devices, two of them with conditions, and what drivers say.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/binding_conditions.h"
#include "engine/base/time/time.h"
#include "tests/unit/bench/sim/device_test_objects.h"

namespace schedq {
namespace {

DeviceAllocation Conditional() {
  DeviceAllocation allocation = *AllocationOf({"plain", "a", "b"}, "n");
  for (AllocatedDevice& device : allocation.devices) {
    if (device.device == "plain") continue;
    device.binding_conditions = {"up", "wired"};
    device.binding_failure_conditions = {"burnt", "lost"};
  }
  return allocation;
}

TEST(BindingConditions, AllOfAllDevicesMustBeTrue) {
  const DeviceAllocation allocation = Conditional();
  EXPECT_EQ(BindingStateOf(*AllocationOf({"plain"}, "n"), {}), BindingState::kReady);
  EXPECT_EQ(BindingStateOf(allocation, {}), BindingState::kWaiting);
  std::vector<DeviceStatus> said = {{"a", {"up", "wired"}}, {"b", {"up"}}};
  EXPECT_EQ(BindingStateOf(allocation, said), BindingState::kWaiting);
  said[1].conditions.push_back("wired");
  EXPECT_EQ(BindingStateOf(allocation, said), BindingState::kReady);
}

TEST(BindingConditions, AFailureCountsWhereEarlierDevicesAreReady) {
  const DeviceAllocation allocation = Conditional();
  std::vector<DeviceStatus> said = {{"b", {"up", "wired", "lost"}}};
  EXPECT_EQ(BindingStateOf(allocation, said), BindingState::kWaiting) << "nothing is said of a";
  said.push_back({"a", {"up", "wired"}});
  EXPECT_EQ(BindingStateOf(allocation, said), BindingState::kFailed);
  said[1].conditions.push_back("burnt");
  EXPECT_EQ(BindingStateOf(allocation, said), BindingState::kFailed);
}

TEST(BindingConditions, TimeIsOverAfterTenMinutesForDevicesWithConditions) {
  const Instant start{std::chrono::hours(1)};
  const Instant late = start + std::chrono::minutes(10) + std::chrono::nanoseconds(1);
  EXPECT_FALSE(HasBindingTimedOut(Conditional(), start, start + std::chrono::minutes(10)));
  EXPECT_TRUE(HasBindingTimedOut(Conditional(), start, late));
  EXPECT_FALSE(HasBindingTimedOut(Conditional(), Instant{}, late)) << "nobody noted the start";
  EXPECT_FALSE(HasBindingTimedOut(*AllocationOf({"plain"}, "n"), start, late));
}

}  // namespace
}  // namespace schedq
