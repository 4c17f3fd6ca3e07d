// What holds waiting API calls, behind one face: the product's call queue, an own rendering of
// upstream's design, and an ordered map. All know one waiting call an object, overwrite by merging,
// and give out what is due.
//
//   void Reserve(objects)        once, before the first call
//   void Prefetch(object)        a call about the object is about to be made
//   void Add(call)               also overwrites; each stores it as its design has it
//   void Cancel(object)
//   void Sync(object, pod)
//   int64_t Drain()              everything comes due, starts and completes; how many started
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "dispatcher/call_queue.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/time/virtual_clock.h"

namespace schedq {

// Later than any delay of the workload.
inline constexpr Duration kPastAllDelays = std::chrono::hours(1);

class ProductCalls {
 public:
  static constexpr const char* kName = "schedq";
  static constexpr bool kCancelScans = false;

  void Reserve(int64_t) {}
  void Prefetch(ObjectId object) const { queue_.Prefetch(object); }
  void Add(ApiCall&& call) { queue_.Add(std::move(call)); }
  void Cancel(ObjectId object) { queue_.Cancel(object); }
  void Sync(ObjectId object, const PodRef& pod) { queue_.Sync(object, pod); }
  // The server refuses every call, so that an object is afterwards what it was before.
  int64_t Drain() {
    int64_t started = 0;
    clock_.AdvanceBy(kPastAllDelays);
    queue_.Dispatch(clock_.Now(), [&](const ApiCall& call) {
      ++started;
      queue_.Complete(call.object, refusal_);
    });
    return started;
  }

 private:
  const Status refusal_ = Error("refused");
  VirtualClock clock_{Instant(std::chrono::seconds(1))};
  MetricsRegistry metrics_;
  CallQueue<> queue_{
      CallQueueOptions{.clock = &clock_, .metrics = &metrics_, .calls_per_second = 0}};
};

// Upstream's design: one lock, a map of calls, a FIFO of objects without duplicates, and a
// cancellation that builds the FIFO anew.
class LockedFifoCalls {
 public:
  static constexpr const char* kName = "upstream's design";
  static constexpr bool kCancelScans = true;

  void Reserve(int64_t objects) { calls_.reserve(static_cast<size_t>(objects)); }
  void Prefetch(ObjectId) const {}  // Where its node is only the map knows.
  void Add(ApiCall&& call) {
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = calls_.try_emplace(call.object);
    if (is_new) {
      fifo_.push_back(call.object);
    } else {
      Merge(entry->second, &call);
    }
    entry->second = std::move(call);
    if (IsNoOp(entry->second)) Erase(entry);
  }
  void Cancel(ObjectId object) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(object);
    if (found != calls_.end()) Erase(found);
  }
  void Sync(ObjectId object, const PodRef& pod) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(object);
    if (found == calls_.end()) return;
    found->second.pod = pod;
    if (IsNoOp(found->second)) Erase(found);
  }
  int64_t Drain() {
    const std::lock_guard lock(mutex_);
    int64_t started = 0;
    for (; !fifo_.empty(); fifo_.pop_front()) started += calls_.erase(fifo_.front());
    return started;
  }

 private:
  using Calls = std::unordered_map<ObjectId, ApiCall>;

  void Erase(Calls::iterator entry) {
    std::deque<ObjectId> rebuilt;
    for (const ObjectId other : fifo_) {
      if (other != entry->first) rebuilt.push_back(other);
    }
    fifo_ = std::move(rebuilt);
    calls_.erase(entry);
  }

  std::mutex mutex_;
  Calls calls_;
  std::deque<ObjectId> fifo_;
};

// One lock, an ordered map from deadline to object, and a map of calls.
class LockedMultimapCalls {
 public:
  static constexpr const char* kName = "locked std::multimap";
  static constexpr bool kCancelScans = false;

  void Reserve(int64_t objects) { calls_.reserve(static_cast<size_t>(objects)); }
  void Prefetch(ObjectId) const {}
  void Add(ApiCall&& call) {
    const std::lock_guard lock(mutex_);
    const ObjectId object = call.object;
    const auto [entry, is_new] = calls_.try_emplace(object);
    if (is_new) {
      entry->second.due = deadlines_.emplace(clock_.Now() + call.delay, object);
    } else {
      Merge(entry->second.call, &call);
    }
    entry->second.call = std::move(call);
    if (IsNoOp(entry->second.call)) Erase(entry);
  }
  void Cancel(ObjectId object) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(object);
    if (found != calls_.end()) Erase(found);
  }
  void Sync(ObjectId object, const PodRef& pod) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(object);
    if (found == calls_.end()) return;
    found->second.call.pod = pod;
    if (IsNoOp(found->second.call)) Erase(found);
  }
  int64_t Drain() {
    const std::lock_guard lock(mutex_);
    clock_.AdvanceBy(kPastAllDelays);
    int64_t started = 0;
    while (!deadlines_.empty() && deadlines_.begin()->first <= clock_.Now()) {
      Erase(calls_.find(deadlines_.begin()->second));
      ++started;
    }
    return started;
  }

 private:
  using Deadlines = std::multimap<Instant, ObjectId>;
  struct Waiting {
    ApiCall call;
    Deadlines::iterator due;
  };
  using Calls = std::unordered_map<ObjectId, Waiting>;

  void Erase(Calls::iterator entry) {
    deadlines_.erase(entry->second.due);
    calls_.erase(entry);
  }

  VirtualClock clock_{Instant(std::chrono::seconds(1))};
  std::mutex mutex_;
  Calls calls_;
  Deadlines deadlines_;
};

}  // namespace schedq
