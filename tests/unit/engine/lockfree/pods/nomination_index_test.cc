// Goal: a nomination costs as much amid many of its node as amid few, and leaves nothing behind
// when the change that carries it is given up.
// Method: so many nominations of one node that an operation which looked at all of them would not
// end in time; changes that are published and changes that are not; random operations beside a set.
#include "engine/lockfree/pods/nomination_index.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/lockfree/pods/pod_change.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/pod.h"
#include "engine/pod_key.h"

namespace schedq {
namespace {

using Index = NominationIndex<std::atomic>;

TEST(NominationIndex, NodeOfManyPodsCostsNoMore) {
  constexpr PodId kPods = 200'000;
  Index index(8);
  std::vector<Nomination> nominations;
  for (PodId pod = 0; pod < kPods; ++pod) nominations.push_back(*index.Begin(pod, "node"));
  for (PodId move = 0; move < 3 * kPods; ++move) {
    const PodId pod = move % kPods;
    const Nomination anew = *index.Begin(pod, "node");
    index.End(pod, nominations[pod]);
    nominations[pod] = anew;
  }
  EXPECT_LE(index.entries(), 2 * kPods + 2);
  EXPECT_EQ(index.On("node").size(), kPods);
  for (PodId pod = 0; pod < kPods; ++pod) index.End(pod, nominations[pod]);
  EXPECT_TRUE(index.On("node").empty());
}

TEST(NominationIndex, ChangeThatIsGivenUpLeavesNothing) {
  Index index(8);
  PodRecordPool<std::atomic> records(4);
  uint32_t slots_record = kNoRecord;
  const auto change_nomination = [&](bool is_published) {
    PodChange<std::atomic> change(&records, 0);
    change.StartFrom(std::make_shared<Pod>(), 1);
    const CarriedNomination nomination(&index, &change, 7, "node");
    EXPECT_EQ(index.On("node").size(), 1u);
    const Nomination carried = change.facts().nomination;
    if (is_published) {
      slots_record = change.own_record();
      change.Published();
    }
    return carried;
  };
  for (int i = 0; i < 100; ++i) change_nomination(false);
  EXPECT_TRUE(index.On("node").empty());
  EXPECT_LE(index.entries(), 2u);
  const Nomination published = change_nomination(true);
  EXPECT_EQ(index.On("node"), (std::vector<Index::Entry>{{7, published}}));
  EXPECT_EQ(index.NodeName(7, published), "node");
  index.End(7, published);
  EXPECT_EQ(index.NodeName(7, published), std::nullopt);
  records.Release(slots_record);
}

TEST(NominationIndex, FindsWhatASetHolds) {
  Random random(11);
  Index index(8);
  std::map<PodId, std::pair<std::string, Nomination>> held;
  for (int i = 0; i < 20'000; ++i) {
    const auto pod = static_cast<PodId>(random.Below(50));
    if (const auto found = held.find(pod); found != held.end()) {
      EXPECT_EQ(index.NodeName(pod, found->second.second), found->second.first);
      index.End(pod, found->second.second);
      held.erase(found);
    } else {
      const std::string node = "node-" + std::to_string(random.Below(5));
      held[pod] = {node, *index.Begin(pod, node)};
    }
    const std::string asked = "node-" + std::to_string(random.Below(5));
    size_t expected = 0;
    for (const auto& [id, of] : held) expected += of.first == asked ? 1 : 0;
    const std::vector<Index::Entry> there = index.On(asked);
    ASSERT_EQ(there.size(), expected);
    for (const Index::Entry& entry : there) {
      ASSERT_EQ(held.at(entry.pod).second, entry.nomination);
    }
  }
  EXPECT_LE(index.entries(), 110u);
}

}  // namespace
}  // namespace schedq
