// The lock-free queue's dimensions; models use smaller ones, to meet the borders sooner.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/lockfree/active/active_queue.h"
#include "engine/lockfree/backoff/backoff_windows.h"
#include "engine/lockfree/pods/pod_table.h"

namespace schedq {

struct LockfreeQueueShape {
  using Active = ActiveQueueShape;
  using Windows = BackoffWindowsShape;
  static constexpr uint32_t kFirstPodsBits = 10;
  static constexpr uint32_t kFirstMarksBits = 4;
  static constexpr uint32_t kFirstNominationsBits = 8;
  static constexpr uint32_t kFirstLogBits = 6;
  // Records of pods; half of them may be pods' (pod_record.h).
  static constexpr uint32_t kRecordsMax = PodTable<std::atomic>::kRecordsMax;
  // How many events are kept for pods in flight at most, and let go by one operation at most.
  static constexpr uint32_t kLogEventsMax = 65'536;
  static constexpr uint32_t kLogTrimMax = 64;
  // One event in so many clears marks of pods that have left the pool (rejector_index.h).
  static constexpr uint64_t kEventsPerClear = 8;
  // False: no observer may be given, and Add has no code for them.
  static constexpr bool kMayBeObserved = true;
  // How many pops ahead a record is prefetched, and half as many the pod; 0: never.
  static constexpr uint32_t kPrefetchAhead = 6;
  // When stale tickets are looked for (stale_watch.h).
  static constexpr uint64_t kSpareTickets = 4096;
  static constexpr uint64_t kTicketsPerPush = 4;
};

}  // namespace schedq
