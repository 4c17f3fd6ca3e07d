// Goal: a version of a persistent array keeps its values whatever later versions change.
// Method: random changes by many owners, each version compared with a map that was copied.
#include "engine/lockfree/groups/persistent_array.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/random.h"

namespace schedq {
namespace {

using Map = std::map<uint32_t, int>;

Map Content(const PersistentArray<int>& array) {
  Map content;
  array.ForEach([&](uint32_t index, int value) { content[index] = value; });
  return content;
}

TEST(PersistentArray, IsEmptyAtFirst) {
  const PersistentArray<int> array;
  EXPECT_EQ(array.Get(0), nullptr);
  EXPECT_EQ(array.Get(~uint32_t{0}), nullptr);
  EXPECT_EQ(Content(array), Map());
}

TEST(PersistentArray, GrowsToTheLargestNumber) {
  PersistentArray<int> array;
  array.Set(3, std::make_shared<const int>(1), 1);
  array.Set(~uint32_t{0}, std::make_shared<const int>(2), 1);
  EXPECT_EQ(*array.Get(3), 1);
  EXPECT_EQ(*array.Get(~uint32_t{0}), 2);
  EXPECT_EQ(array.Get(4), nullptr);
  array.Set(3, nullptr, 1);
  EXPECT_EQ(Content(array), (Map{{~uint32_t{0}, 2}}));
}

TEST(PersistentArray, EarlierVersionsStayAsTheyWere) {
  Random random(7);
  PersistentArray<int> array;
  Map content;
  std::vector<std::pair<PersistentArray<int>, Map>> versions;
  for (uint64_t owner = 1; owner <= 200; ++owner) {
    for (int change = 0; change < 5; ++change) {
      const auto index = static_cast<uint32_t>(random.Below(owner < 100 ? 40 : 5000));
      if (random.Below(4) == 0) {
        array.Set(index, nullptr, owner);
        content.erase(index);
      } else {
        const int value = static_cast<int>(random.Below(1'000'000));
        array.Set(index, std::make_shared<const int>(value), owner);
        content[index] = value;
      }
    }
    versions.emplace_back(array, content);
  }
  for (const auto& [version, expected] : versions) EXPECT_EQ(Content(version), expected);
}

// One owner's changes copy each node once.
TEST(PersistentArray, ValuesThatDoNotChangeAreShared) {
  PersistentArray<int> first;
  for (uint32_t i = 0; i < 1000; ++i) first.Set(i, std::make_shared<const int>(0), 1);
  PersistentArray<int> second = first;
  second.Set(500, std::make_shared<const int>(1), 2);
  EXPECT_EQ(*first.Get(500), 0);
  for (uint32_t i = 0; i < 1000; ++i) {
    if (i == 500) continue;
    EXPECT_EQ(first.Get(i), second.Get(i));
  }
}

}  // namespace
}  // namespace schedq
