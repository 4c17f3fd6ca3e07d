// Pods that wait at Permit: each has a node, and waits until plugins let it go there.
//
// Purpose: kube-scheduler's waiting pods. A plugin that said Wait allows the pod later, or rejects
// it, or its time runs out, which rejects it too. A pod goes on once all plugins that it waits for
// have allowed it; the first rejection ends its wait.
// A pod is known here from before its Permit plugins are asked, so that what another thread says of
// it meanwhile is not lost.
// Threads: any. `then` runs once for a wait, on the thread that ended it, outside of the lock; that
// may be the clock's.
// Memory: a record a pod that waits.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"

namespace schedq {

// Upstream's longest wait.
inline constexpr Duration kPermitWaitMax = std::chrono::minutes(15);

class WaitingPods {
 public:
  // Told of the plugin that rejected; kAllowed: none did.
  static constexpr size_t kAllowed = SIZE_MAX;
  static constexpr size_t kRemoved = SIZE_MAX - 1;  // The pod was deleted; no plugin rejected.
  using Then = std::function<void(size_t rejector)>;

  struct Wait {
    size_t plugin = 0;  // By its number in the framework.
    Duration timeout{};
  };

  // `clock` outlives it.
  explicit WaitingPods(Clock* clock) : clock_(*clock) {}
  // No `then` runs any more.
  ~WaitingPods() { Clear(); }
  WaitingPods(const WaitingPods&) = delete;
  WaitingPods& operator=(const WaitingPods&) = delete;

  // The pod's Permit plugins are about to be asked.
  void Open(const PodRef& pod);
  // They let it pass, or rejected it.
  void Drop(const Pod& pod);
  // They said that it is to wait for these. `then` may run at once.
  void Begin(const Pod& pod, const std::vector<Wait>& waits, Then then);

  // By the pod's uid; nothing happens where it does not wait for the plugin.
  void Allow(const std::string& uid, size_t plugin);
  // Whatever the pod waits for.
  void Reject(const std::string& uid, size_t plugin);

  // The pods that wait, also those that are opened.
  std::vector<PodRef> List() const;
  size_t size() const { return count_.load(); }
  // Forgets all. No `then` runs any more.
  void Clear();

 private:
  struct Record {
    PodRef pod;
    bool waits = false;           // Begin was called.
    std::vector<size_t> awaited;  // Plugins that have not allowed it yet.
    std::vector<size_t> allowed;  // Before Begin.
    size_t rejector = kAllowed;   // Before Begin.
    std::vector<TimerId> timers;
    Then then;
  };
  using RecordRef = std::shared_ptr<Record>;

  // The record is out of the map. Outside of the lock.
  void End(const RecordRef& record, size_t rejector);
  void OnTimeout(const std::string& uid, size_t plugin);

  Clock& clock_;
  mutable std::mutex mutex_;  // Guards the records and the map.
  std::unordered_map<std::string, RecordRef> by_uid_;
  std::atomic<size_t> count_{0};  // Of the records; written under the lock.
};

}  // namespace schedq
