// Goal: a version of a list of pods keeps its pods whatever later versions change.
// Method: random changes by many owners, each version compared with a vector that was copied.
#include "engine/lockfree/groups/member_list.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/pod_key.h"

namespace schedq {
namespace {

using Pods = std::vector<PodId>;

Pods Content(const MemberList& list) { return Pods(list.begin(), list.end()); }

// What RemoveAt does, to a vector.
void RemoveAt(Pods* pods, size_t position) {
  (*pods)[position] = pods->back();
  pods->pop_back();
}

TEST(MemberList, IsEmptyAtFirst) {
  const MemberList list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(Content(list), Pods());
}

TEST(MemberList, EarlierVersionsStayAsTheyWere) {
  Random random(5);
  MemberList list;
  Pods content;
  std::vector<std::pair<MemberList, Pods>> versions;
  // Long and short again, so that blocks come and go.
  for (uint64_t owner = 1; owner <= 600; ++owner) {
    const bool grows = owner / 150 % 2 == 0;
    for (int change = 0; change < 5; ++change) {
      if (random.Below(4) == 0 ? grows : !grows) {
        if (content.empty()) continue;
        const auto position = static_cast<uint32_t>(random.Below(content.size()));
        list.RemoveAt(position, owner);
        RemoveAt(&content, position);
      } else {
        const auto pod = static_cast<PodId>(random.Below(1'000'000));
        list.Add(pod, owner);
        content.push_back(pod);
      }
    }
    ASSERT_EQ(list.size(), content.size());
    versions.emplace_back(list, content);
  }
  for (const auto& [version, expected] : versions) EXPECT_EQ(Content(version), expected);
}

TEST(MemberList, BecomesEmptyAndIsUsedAgain) {
  MemberList list;
  for (PodId pod = 0; pod < 130; ++pod) list.Add(pod, 1);
  for (uint64_t owner = 2; !list.empty(); ++owner) list.RemoveAt(0, owner);
  list.Add(7, 1000);
  EXPECT_EQ(Content(list), Pods{7});
}

}  // namespace
}  // namespace schedq
