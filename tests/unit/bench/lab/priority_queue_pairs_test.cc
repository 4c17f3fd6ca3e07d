// Goal: the benchmark of priority queues checks its answers, and the 8-ary heap is a heap.
// Method: right queues must pass the check, and queues with a planted fault each (canaries) must
// not. The 8-ary heap runs against std::priority_queue on seeded random operations.

#include "bench/lab/micro/priority_queue_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <queue>
#include <random>
#include <string>

#include "bench/lab/micro/priority_queue_workload.h"
#include "bench/lab/micro/rivals/octonary_heap.h"
#include "bench/lab/micro/rivals/queue_key.h"

namespace schedq {
namespace {

using testing::HasSubstr;

class RightQueue {
 public:
  void Push(const QueueKey& key) { heap_.push(key); }
  bool TryPop(QueueKey& key) {
    if (heap_.empty()) return false;
    key = heap_.top();
    heap_.pop();
    return true;
  }

 protected:
  std::priority_queue<QueueKey> heap_;
};

// Drops every thousandth key.
class LosingQueue : public RightQueue {
 public:
  void Push(const QueueKey& key) {
    if (++pushes_ % 1000 != 0) RightQueue::Push(key);
  }

 private:
  int pushes_ = 0;
};

// Once returns a copy of a key in place of another key.
class DoublingQueue : public RightQueue {
 public:
  bool TryPop(QueueKey& key) {
    const bool popped = RightQueue::TryPop(key);
    if (++pops_ == 500) key = last_;
    last_ = key;
    return popped;
  }

 private:
  int pops_ = 0;
  QueueKey last_;
};

// Once, during the pairs, returns the second key before the first; what remains is in order.
class OnceSwappedQueue : public RightQueue {
 public:
  bool TryPop(QueueKey& key) {
    if (++pops_ != 500) return RightQueue::TryPop(key);
    QueueKey first;
    RightQueue::TryPop(first);
    const bool popped = RightQueue::TryPop(key);
    RightQueue::Push(first);
    return popped;
  }

 private:
  int pops_ = 0;
};

// Returns the oldest key first, whatever its priority.
class FifoQueue {
 public:
  void Push(const QueueKey& key) { queue_.push(key); }
  bool TryPop(QueueKey& key) {
    if (queue_.empty()) return false;
    key = queue_.front();
    queue_.pop();
    return true;
  }

 private:
  std::queue<QueueKey> queue_;
};

// Once reports that it is empty although it is not.
class OnceEmptyQueue : public RightQueue {
 public:
  bool TryPop(QueueKey& key) { return ++pops_ != 500 && RightQueue::TryPop(key); }

 private:
  int pops_ = 0;
};

// Runs the pairs on one thread, because these queues have no lock, and judges the outcome as if
// `threads` threads had run them.
template <typename Queue>
std::string Fault(int threads) {
  const PairsWorkload workload = {Priorities::kEight, 1000, threads, 2000};
  PairsWorkload run = workload;
  run.threads = 1;
  const PairsOutcome outcome = RunPairs<Queue>(run);
  const char* fault = FaultOf(workload, outcome);
  return fault == nullptr ? "" : fault;
}

TEST(PriorityQueuePairs, RightQueuesPass) {
  EXPECT_EQ(Fault<RightQueue>(1), "");
  EXPECT_EQ(Fault<RightQueue>(2), "");
}

TEST(PriorityQueuePairs, EveryPlantedFaultIsCaught) {
  EXPECT_THAT(Fault<LosingQueue>(1), HasSubstr("lost or doubled"));
  EXPECT_THAT(Fault<DoublingQueue>(1), HasSubstr("not those that went in"));
  EXPECT_THAT(Fault<OnceSwappedQueue>(1), HasSubstr("another order"));
  EXPECT_THAT(Fault<FifoQueue>(1), HasSubstr("out of order"));
  EXPECT_THAT(Fault<OnceEmptyQueue>(1), HasSubstr("found nothing"));
}

// With several threads only the sequence of pops is unknown; the rest of the answer is checked.
TEST(PriorityQueuePairs, SeveralThreadsStillCatchLossAndDisorder) {
  EXPECT_THAT(Fault<LosingQueue>(8), HasSubstr("lost or doubled"));
  EXPECT_THAT(Fault<DoublingQueue>(8), HasSubstr("not those that went in"));
  EXPECT_THAT(Fault<FifoQueue>(8), HasSubstr("out of order"));
}

TEST(OctonaryHeap, AgreesWithTheStandardHeap) {
  std::mt19937_64 random(7);
  OctonaryHeap<uint64_t> heap;
  std::priority_queue<uint64_t> model;
  for (int step = 0; step < 20'000; ++step) {
    if (model.empty() || random() % 5 < 3) {
      const uint64_t item = random() % 1000;
      heap.push(item);
      model.push(item);
    } else {
      heap.pop();
      model.pop();
    }
    ASSERT_EQ(heap.size(), model.size());
    ASSERT_EQ(heap.empty(), model.empty());
    if (!model.empty()) {
      ASSERT_EQ(heap.top(), model.top()) << "after step " << step;
    }
  }
}

}  // namespace
}  // namespace schedq
