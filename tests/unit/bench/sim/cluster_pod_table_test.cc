// Goal: a table of pods has what a map by number has, in the same order. Method: random changes
// against a map, with numbers that come and go in the order in which a cluster gives them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/pod_table.h"
#include "engine/base/random.h"

namespace schedq {
namespace {

ClusterPodRef PodOf(uint64_t number) {
  auto pod = std::make_shared<ClusterPod>();
  pod->number = number;
  return pod;
}

TEST(PodTable, IsAMapByNumber) {
  Random random(7);
  PodTable table;
  std::map<uint64_t, ClusterPodRef> model;
  uint64_t last = 0;
  for (int i = 0; i < 20'000; ++i) {
    const bool grows = i < 6'000 || (i > 12'000 && i < 14'000);
    if (grows || model.empty()) {
      const ClusterPodRef pod = PodOf(++last);
      table.Set(last, pod);
      model[last] = pod;
    } else {
      const uint64_t number = 1 + random.Below(last);
      if (random.Below(4) == 0 && model.count(number) != 0) {
        const ClusterPodRef newer = PodOf(number);
        table.Set(number, newer);
        model[number] = newer;
      } else {
        table.Erase(number);
        model.erase(number);
      }
    }
    ASSERT_EQ(table.size(), model.size());
    ASSERT_EQ(table.last(), model.empty() ? 0 : model.rbegin()->first);
  }
  std::vector<uint64_t> numbers;
  for (const auto& [number, pod] : table) {
    numbers.push_back(number);
    ASSERT_EQ(pod, model.at(number));
  }
  EXPECT_EQ(numbers.size(), model.size());
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  for (uint64_t number = 0; number < last + 2000; ++number) {
    const ClusterPodRef* const found = table.Find(number);
    ASSERT_EQ(found != nullptr, model.count(number) != 0) << number;
  }
  for (uint64_t number = 0; number <= last; ++number) table.Erase(number);
  EXPECT_TRUE(table.empty());
  EXPECT_FALSE(table.begin() != table.end());
}

}  // namespace
}  // namespace schedq
