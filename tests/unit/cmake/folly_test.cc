// Goal: the part of folly that the build compiles is complete, and links with our flags under every
// preset and compiler. Method: use each facility once, so that a missing object is a link error and
// a mismatched instruction set fails F14's own check.

#include <folly/concurrency/ConcurrentHashMap.h>
#include <folly/concurrency/container/FlatCombiningPriorityQueue.h>
#include <folly/concurrency/container/RelaxedConcurrentPriorityQueue.h>
#include <folly/container/F14Map.h>
#include <folly/synchronization/Hazptr.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

namespace schedq {
namespace {

TEST(Folly, F14MapFindsWhatWasInserted) {
  folly::F14FastMap<std::string, int> map;
  map.emplace("pod", 7);
  EXPECT_EQ(map.at("pod"), 7);
  EXPECT_EQ(map.count("node"), 0u);
}

struct Node : folly::hazptr_obj_base<Node> {
  int value = 3;
};

TEST(Folly, HazardPointerProtectsARetiredObject) {
  std::atomic<Node*> source{new Node};
  folly::hazptr_holder<> holder = folly::make_hazard_pointer<>();
  Node* node = holder.protect(source);
  source.exchange(nullptr)->retire();
  EXPECT_EQ(node->value, 3);
}

TEST(Folly, ConcurrentHashMapFindsWhatWasInserted) {
  folly::ConcurrentHashMap<int, int> map;
  map.insert(1, 2);
  EXPECT_EQ(map.at(1), 2);
}

TEST(Folly, FlatCombiningPriorityQueuePopsTheHighest) {
  folly::FlatCombiningPriorityQueue<int> queue;
  queue.push(1);
  queue.push(5);
  int highest = 0;
  queue.pop(highest);
  EXPECT_EQ(highest, 5);
}

TEST(Folly, RelaxedPriorityQueueWithoutRelaxationPopsTheHighest) {
  folly::RelaxedConcurrentPriorityQueue<int, /*MayBlock=*/false, /*SupportsSize=*/false,
                                        /*PopBatch=*/0>
      queue;
  queue.push(1);
  queue.push(5);
  int highest = 0;
  queue.pop(highest);
  EXPECT_EQ(highest, 5);
}

}  // namespace
}  // namespace schedq
