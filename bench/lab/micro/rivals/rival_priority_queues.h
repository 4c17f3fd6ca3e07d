// The rivals of the active queue: other people's strict concurrent priority queues behind one face.
//
// A contestant has `Push(const QueueKey&)` and `bool TryPop(QueueKey&)`, both for any thread, and
// `kName`, the name that tables and anchors.json use.
#pragma once

#include <cds/container/fcpriority_queue.h>
#include <cds/init.h>
#include <folly/concurrency/container/FlatCombiningPriorityQueue.h>
#include <folly/concurrency/container/RelaxedConcurrentPriorityQueue.h>
#include <tbb/concurrent_priority_queue.h>

#include <mutex>
#include <queue>

#include "bench/lab/micro/rivals/octonary_heap.h"
#include "bench/lab/micro/rivals/queue_key.h"

namespace schedq {

// A sequential heap under one lock.
template <typename Heap>
class LockedHeap {
 public:
  void Push(const QueueKey& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    heap_.push(key);
  }

  bool TryPop(QueueKey& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (heap_.empty()) return false;
    key = heap_.top();
    heap_.pop();
    return true;
  }

 private:
  std::mutex mutex_;
  Heap heap_;
};

class LockedBinaryHeap : public LockedHeap<std::priority_queue<QueueKey>> {
 public:
  static constexpr const char* kName = "mutex+std::priority_queue";
};

class LockedOctonaryHeap : public LockedHeap<OctonaryHeap<QueueKey>> {
 public:
  static constexpr const char* kName = "mutex+8-ary heap";
};

class TbbPriorityQueue {
 public:
  static constexpr const char* kName = "tbb::concurrent_priority_queue";

  void Push(const QueueKey& key) { queue_.push(key); }
  bool TryPop(QueueKey& key) { return queue_.try_pop(key); }

 private:
  tbb::concurrent_priority_queue<QueueKey> queue_;
};

// folly's queue either lends every requester the role of combiner or keeps a thread for it.
template <bool kHasCombinerThread>
class FollyCombiningQueue {
 public:
  void Push(const QueueKey& key) { queue_.push(key); }
  bool TryPop(QueueKey& key) { return queue_.try_pop(key); }

 private:
  folly::FlatCombiningPriorityQueue<QueueKey> queue_{0, kHasCombinerThread};
};

// The default of folly's constructor, and what anchors.json has.
class FollyFlatCombiningQueue : public FollyCombiningQueue<true> {
 public:
  static constexpr const char* kName = "folly::FlatCombiningPriorityQueue";
};

class FollyLendingCombiningQueue : public FollyCombiningQueue<false> {
 public:
  static constexpr const char* kName = "folly::FlatCombiningPriorityQueue undedicated";
};

// PopBatch 0: every pop returns the greatest key.
class FollyStrictMound {
 public:
  static constexpr const char* kName = "folly::RelaxedConcurrentPriorityQueue strict";

  void Push(const QueueKey& key) { queue_.push(key); }
  // Its pop waits while the queue is empty: only for workloads in which no pop meets an empty one
  // while others pop too.
  bool TryPop(QueueKey& key) {
    if (queue_.empty()) return false;
    queue_.pop(key);
    return true;
  }

 private:
  folly::RelaxedConcurrentPriorityQueue<QueueKey, false, false, 0> queue_;
};

class CdsFlatCombiningQueue {
 public:
  static constexpr const char* kName = "cds::FCPriorityQueue";

  void Push(const QueueKey& key) { queue_.push(key); }
  bool TryPop(QueueKey& key) { return queue_.pop(key); }

 private:
  // libcds wants its library started before its first structure, once a process.
  struct Library {
    Library() {
      static const bool kIsStarted = [] {
        cds::Initialize();
        return true;
      }();
      static_cast<void>(kIsStarted);
    }
  };

  Library library_;
  cds::container::FCPriorityQueue<QueueKey> queue_;
};

}  // namespace schedq
