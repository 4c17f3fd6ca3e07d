// The rivals of the active queue: strict concurrent priority queues of other libraries, with one
// interface.
//
// A contestant has `Push(const QueueKey&)` and `bool TryPop(QueueKey&)`, which any thread may call,
// and `kName`, the name in tables and in anchors.json.
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

// folly's queue either makes the requesting threads combiners in turn or has a combiner thread.
template <bool kHasCombinerThread>
class FollyCombiningQueue {
 public:
  void Push(const QueueKey& key) { queue_.push(key); }
  bool TryPop(QueueKey& key) { return queue_.try_pop(key); }

 private:
  folly::FlatCombiningPriorityQueue<QueueKey> queue_{0, kHasCombinerThread};
};

// The default of folly's constructor, which anchors.json has too.
class FollyFlatCombiningQueue : public FollyCombiningQueue<true> {
 public:
  static constexpr const char* kName = "folly::FlatCombiningPriorityQueue";
};

class FollyUndedicatedCombiningQueue : public FollyCombiningQueue<false> {
 public:
  static constexpr const char* kName = "folly::FlatCombiningPriorityQueue undedicated";
};

// PopBatch is 0, so that every pop returns the greatest key.
class FollyStrictMound {
 public:
  static constexpr const char* kName = "folly::RelaxedConcurrentPriorityQueue strict";

  void Push(const QueueKey& key) { queue_.push(key); }
  // pop waits while the queue is empty. The workload must therefore never pop from an empty queue
  // while other threads pop too.
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
  // libcds must be initialized once a process, before its first structure.
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
