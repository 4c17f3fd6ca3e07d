// The product's active queue with the interface of a contestant.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/lab/micro/rivals/queue_key.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"

namespace schedq {

class ActiveQueueContestant {
 public:
  static constexpr const char* kName = "schedq::ActiveQueue";

  void Push(const QueueKey& key) {
    queue_.Push({key.priority, static_cast<int64_t>(key.timestamp), key.identity});
  }
  bool TryPop(QueueKey& key) {
    const std::optional<ActiveEntry> entry = queue_.TryPop();
    if (!entry) return false;
    key = {entry->priority, static_cast<uint64_t>(entry->timestamp_ns), entry->ticket};
    return true;
  }

 private:
  ActiveQueue<> queue_;
};

}  // namespace schedq
