// Contestants that hold waiting API calls, with one interface: the product's call queue, a
// rendering of upstream's design, and an ordered map. All have at most one waiting call an object,
// merge a newer call into an older one, and start the calls that are due.
//
//   void Reserve(objects)        called once, before the first call
//   void Prefetch(object)        announces a call about the object
//   void Add(call)               adds a call, or overwrites the object's waiting one
//   void Cancel(object)
//   void Sync(object, pod)
//   int64_t Drain()              lets all calls become due, starts and completes them; returns
//                                their number
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"

namespace schedq {

// Longer than every delay of the workload.
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
  // The server refuses every call, so that objects keep their state.
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

// The calls of a design with one lock and a map of calls. `Waiting` holds an ApiCall `call`. The
// design says by Enqueue(entry) where a new call waits, and takes it away by Erase(entry).
template <typename Design, typename Waiting>
class LockedCalls {
 public:
  using Calls = std::unordered_map<ObjectId, Waiting>;

  void Reserve(int64_t objects) { calls_.reserve(static_cast<size_t>(objects)); }
  void Prefetch(ObjectId) const {}  // Only the map knows the place of the object's call.

  void Add(ApiCall&& call) {
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = calls_.try_emplace(call.object);
    ApiCall& waiting = entry->second.call;
    if (is_new) {
      design().Enqueue(entry, call);
    } else {
      Merge(waiting, &call);
    }
    waiting = std::move(call);
    if (IsNoOp(waiting)) design().Erase(entry);
  }
  void Cancel(ObjectId object) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(object);
    if (found != calls_.end()) design().Erase(found);
  }
  void Sync(ObjectId object, const PodRef& pod) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(object);
    if (found == calls_.end()) return;
    found->second.call.pod = pod;
    if (IsNoOp(found->second.call)) design().Erase(found);
  }

 protected:
  std::mutex mutex_;
  Calls calls_;

 private:
  Design& design() { return static_cast<Design&>(*this); }
};

struct FifoCall {
  ApiCall call;
};

// Upstream's design: one lock, a map of calls, a FIFO of objects without duplicates, and a
// cancellation that builds the FIFO anew.
class LockedFifoCalls : public LockedCalls<LockedFifoCalls, FifoCall> {
 public:
  static constexpr const char* kName = "upstream's design";
  static constexpr bool kCancelScans = true;

  int64_t Drain() {
    const std::lock_guard lock(mutex_);
    int64_t started = 0;
    for (; !fifo_.empty(); fifo_.pop_front()) started += calls_.erase(fifo_.front());
    return started;
  }

 private:
  friend LockedCalls<LockedFifoCalls, FifoCall>;

  void Enqueue(Calls::iterator, const ApiCall& call) { fifo_.push_back(call.object); }
  void Erase(Calls::iterator entry) {
    std::deque<ObjectId> rebuilt;
    for (const ObjectId other : fifo_) {
      if (other != entry->first) rebuilt.push_back(other);
    }
    fifo_ = std::move(rebuilt);
    calls_.erase(entry);
  }

  std::deque<ObjectId> fifo_;
};

using CallDeadlines = std::multimap<Instant, ObjectId>;
struct DeadlineCall {
  ApiCall call;
  CallDeadlines::iterator due;
};

// One lock, an ordered map from deadline to object, and a map of calls.
class LockedMultimapCalls : public LockedCalls<LockedMultimapCalls, DeadlineCall> {
 public:
  static constexpr const char* kName = "locked std::multimap";
  static constexpr bool kCancelScans = false;

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
  friend LockedCalls<LockedMultimapCalls, DeadlineCall>;

  void Enqueue(Calls::iterator entry, const ApiCall& call) {
    entry->second.due = deadlines_.emplace(clock_.Now() + call.delay, call.object);
  }
  void Erase(Calls::iterator entry) {
    deadlines_.erase(entry->second.due);
    calls_.erase(entry);
  }

  VirtualClock clock_{Instant(std::chrono::seconds(1))};
  CallDeadlines deadlines_;
};

}  // namespace schedq
