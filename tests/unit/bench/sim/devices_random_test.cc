// Goal: the allocator finds the answer that trying everything finds first, and none where there is
// none.
// Method: small random problems with every kind of rule, against exhaustive_allocator.h. A failure
// prints the seed. The long form: --gtest_also_run_disabled_tests with SCHEDQ_PROBLEMS=1000000.
// A judge that forgets a rule must be caught by the same comparison.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/device_inventory.h"
#include "engine/base/random.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "tests/unit/bench/sim/device_test_objects.h"
#include "tests/unit/bench/sim/exhaustive_allocator.h"

namespace schedq {
namespace {

struct Problem {
  SmallWorld world;
  std::vector<ClaimSpec> claims;
};

// The kinds of rules that meet in one problem. Some are kept apart, because kube-scheduler counts
// an administrator's device against counters once more, and ends with an error where a constraint
// forbids one of all devices.
class ProblemMaker {
 public:
  explicit ProblemMaker(uint64_t seed) : random_(seed) {
    has_admin_ = random_.Below(6) == 0;
    has_counters_ = !has_admin_ && random_.Below(2) == 0;
    has_all_ = random_.Below(6) == 0;
    has_shares_ = random_.Below(3) == 0;
  }

  Problem Make() {
    Problem problem;
    problem.world.classes = {{"a", "d0"}, {"b", "d1"}, {"any", ""}};
    const uint64_t pools = 1 + random_.Below(2);
    for (uint64_t pool = 0; pool < pools; ++pool) AddPool(pool, &problem.world);
    const uint64_t claims = 1 + random_.Below(2);
    for (uint64_t i = 0; i < claims; ++i) problem.claims.push_back(MakeClaim());
    return problem;
  }

 private:
  void AddPool(uint64_t pool, SmallWorld* world) {
    const std::string driver = "d" + std::to_string(pool);
    ResourceSliceObject slice = SliceOf("n", driver, "p", {});
    if (has_counters_) {
      ResourceSliceObject counters = slice;
      counters.slice_count = slice.slice_count = 2;
      counters.shared_counters.push_back(
          {"s", {{"x", Quantity::Of(1 + Draw(4))}, {"y", Quantity::Of(1 + Draw(4))}}});
      // Sets and devices of the pool are in slices of their own.
      counters.pool = slice.pool = driver;
      world->slices.push_back(counters);
    }
    const uint64_t devices = 1 + random_.Below(pool == 0 ? 5 : 2);
    for (uint64_t i = 0; i < devices; ++i) slice.devices.push_back(MakeDevice(i));
    for (const SliceDevice& device : slice.devices) {
      if (device.is_shared || random_.Below(6) != 0 || has_counters_) continue;
      world->held.push_back({.device = driver + '/' + slice.pool + '/' + device.name});
    }
    world->slices.push_back(slice);
  }

  SliceDevice MakeDevice(uint64_t number) {
    SliceDevice device{.name = std::to_string(number)};
    for (const char* name : {"q/u", "q/v"}) {
      if (random_.Below(8) == 0) continue;
      SliceAttribute attribute{.name = name, .is_list = random_.Below(3) == 0};
      const uint64_t values = attribute.is_list ? 1 + random_.Below(2) : 1;
      for (uint64_t i = 0; i < values; ++i) {
        attribute.texts.push_back(std::string(1, static_cast<char>('a' + Draw(3))));
      }
      device.attributes.push_back(attribute);
    }
    if (random_.Below(6) == 0) device.taints.push_back({"t", "", "NoSchedule"});
    if (has_counters_ && random_.Below(4) != 0) {
      CounterUse use{.counter_set = "s"};
      use.counters = {{"x", Quantity::Of(Draw(3))}, {"y", Quantity::Of(Draw(3))}};
      for (const char* group : {"g", "h"}) {
        if (random_.Below(3) == 0) use.compatibility_groups.push_back(group);
      }
      device.counter_uses.push_back(use);
    }
    if (has_shares_ && random_.Below(3) != 0) {
      device.is_shared = true;
      SliceCapacity capacity{.name = "c", .amount = Quantity::Of(2 + Draw(6))};
      capacity.policy.emplace();
      capacity.policy->default_amount = Quantity::Of(1);
      capacity.policy->range =
          RequestPolicy::Range{Quantity::Of(1), Quantity::Of(5), Quantity::Of(2)};
      device.capacity.push_back(capacity);
    }
    return device;
  }

  ExactRequest MakeWish(const std::string& name) {
    ExactRequest wish{.name = name};
    wish.class_name = std::vector<std::string>{"a", "b", "any", "any"}[random_.Below(4)];
    wish.count = 1 + Draw(2);
    wish.wants_all = has_all_ && random_.Below(3) == 0;
    if (random_.Below(4) == 0) {
      Toleration toleration;
      toleration.key = "t";
      toleration.exists = true;
      wish.tolerations.push_back(toleration);
    }
    if (has_shares_ && random_.Below(4) == 0) wish.capacity = {{"c", Quantity::Of(1 + Draw(5))}};
    return wish;
  }

  ClaimSpec MakeClaim() {
    ClaimSpec claim;
    const uint64_t requests = 1 + random_.Below(2);
    for (uint64_t i = 0; i < requests; ++i) {
      DeviceRequest request;
      request.name = "r" + std::to_string(i);
      request.is_list = random_.Below(4) == 0;
      const uint64_t alternatives = request.is_list ? 1 + random_.Below(2) : 1;
      for (uint64_t j = 0; j < alternatives; ++j) {
        request.alternatives.push_back(
            MakeWish(request.is_list ? "s" + std::to_string(j) : request.name));
      }
      if (!request.is_list) {
        request.alternatives[0].has_admin_access = has_admin_ && random_.Below(2) == 0;
      }
      claim.requests.push_back(request);
    }
    for (const char* attribute : {"q/u", "q/v"}) {
      if (has_all_ || random_.Below(3) != 0) continue;
      DeviceConstraint constraint{.requests = {}, .attribute = attribute};
      constraint.wants_distinct = random_.Below(2) == 0;
      if (random_.Below(3) == 0) constraint.requests.push_back("r0");
      claim.constraints.push_back(constraint);
    }
    return claim;
  }

  int64_t Draw(uint64_t bound) { return static_cast<int64_t>(random_.Below(bound)); }

  Random random_;
  bool has_admin_ = false;
  bool has_counters_ = false;
  bool has_all_ = false;
  bool has_shares_ = false;
};

AllocationOutcome Allocate(const Problem& problem) {
  DeviceInventory inventory({.list_attributes = true, .compatibility_groups = true});
  for (const auto& [name, driver] : problem.world.classes) {
    inventory.SetClass(name, ClassOf(driver));
  }
  for (size_t i = 0; i < problem.world.slices.size(); ++i) {
    inventory.SetSlice(std::to_string(i), Shared(problem.world.slices[i]));
  }
  DeviceAllocation held;
  held.devices = problem.world.held;
  inventory.Take(held);
  std::vector<const ClaimSpec*> specs;
  for (const ClaimSpec& claim : problem.claims) specs.push_back(&claim);
  ObjectView node;
  node.name = "n";
  AllocationOutcome outcome = inventory.Allocate(inventory.Prepare(specs), node);
  // What is found can be taken as a whole.
  for (const DeviceAllocation& each : outcome.allocations) {
    EXPECT_TRUE(inventory.TakeIfFree(each));
  }
  return outcome;
}

std::vector<std::pair<std::string, std::string>> GivenOf(const DeviceAllocation& allocation) {
  std::vector<std::pair<std::string, std::string>> given;
  for (const AllocatedDevice& each : allocation.devices) {
    given.emplace_back(each.request, each.device);
  }
  return given;
}

// Whether allocator and judge agree; `*found` says whether there was an answer.
bool Agree(const Problem& problem, const Problem& judged, bool* found) {
  const AllocationOutcome outcome = Allocate(problem);
  const auto expected = ExhaustiveAllocator(judged.world, judged.claims).Find();
  *found = expected.has_value();
  if (outcome.found() != expected.has_value()) return false;
  if (!expected) return outcome.kind == AllocationOutcome::Kind::kNone;
  for (size_t i = 0; i < expected->size(); ++i) {
    if (GivenOf(outcome.allocations[i]) != GivenOf((*expected)[i])) return false;
  }
  return true;
}

uint64_t Compare(uint64_t problems) {
  uint64_t solved = 0;
  for (uint64_t seed = 0; seed < problems; ++seed) {
    const Problem problem = ProblemMaker(seed).Make();
    bool found = false;
    EXPECT_TRUE(Agree(problem, problem, &found)) << "seed " << seed;
    solved += found ? 1 : 0;
    if (testing::Test::HasFailure()) break;
  }
  return solved;
}

TEST(RandomAllocations, AreThoseOfTryingEverything) {
  constexpr uint64_t kProblems = 1000;
  const uint64_t solved = Compare(kProblems);
  EXPECT_GT(solved, kProblems / 4) << "there are answers to compare";
  EXPECT_LT(solved, kProblems - kProblems / 10) << "and problems without one";
}

TEST(RandomAllocations, DISABLED_AreThoseOfTryingEverythingAtLength) {
  const char* const problems = std::getenv("SCHEDQ_PROBLEMS");
  Compare(problems == nullptr ? 1'000'000 : std::strtoull(problems, nullptr, 10));
}

// An allocator that did not know a rule would be the judge of another problem.
TEST(RandomAllocations, AForgottenRuleIsCaught) {
  const std::vector<void (*)(Problem*)> faults = {
      [](Problem* problem) { problem->world.held.clear(); },
      [](Problem* problem) {
        for (ClaimSpec& claim : problem->claims) claim.constraints.clear();
      },
      [](Problem* problem) {
        for (ResourceSliceObject& slice : problem->world.slices) {
          for (SliceDevice& device : slice.devices) device.taints.clear();
        }
      },
      [](Problem* problem) {
        for (ResourceSliceObject& slice : problem->world.slices) slice.shared_counters.clear();
      },
      [](Problem* problem) {
        for (ResourceSliceObject& slice : problem->world.slices) {
          for (SliceDevice& device : slice.devices) {
            for (CounterUse& use : device.counter_uses) use.compatibility_groups.clear();
          }
        }
      },
      [](Problem* problem) {
        for (ResourceSliceObject& slice : problem->world.slices) {
          for (SliceDevice& device : slice.devices) {
            for (SliceCapacity& each : device.capacity) each.amount = Quantity::Of(1000);
          }
        }
      },
  };
  for (size_t i = 0; i < faults.size(); ++i) {
    bool is_caught = false;
    for (uint64_t seed = 0; seed < 300 && !is_caught; ++seed) {
      const Problem problem = ProblemMaker(seed).Make();
      Problem faulty = problem;
      faults[i](&faulty);
      bool found = false;
      is_caught = !Agree(faulty, problem, &found);
    }
    EXPECT_TRUE(is_caught) << "fault " << i;
  }
}

}  // namespace
}  // namespace schedq
