// Which virtual thread has each cache line: the model of coherence behind `schedq scale`.
//
// Purpose: counts what an operation's accesses would cost between cores. A line of 64 bytes is held
// by no thread, by one that may have written it, or by several that only read it (MESI without the
// difference between exclusive and modified).
//   - A load of a line that the thread holds stays in its cache. Of a line that others hold it is a
//     *transfer*: afterwards all of them share the line.
//   - A store or an update of a line that the thread alone holds stays in its cache. Of a line that
//     others hold it is a transfer, and each of the others loses the line (an *invalidation*).
//   - A line that nobody has touched comes from memory, which is no transfer.
// An update (exchange, addition, sequentially consistent store) is *contended* if another thread
// was the last to write the line and did so since the updating thread's operation began: two
// operations that run at one time change the same line. What is handed over, such as a pod that one
// thread adds and another pops later, is a transfer and not contended.
// Not modelled: caches' sizes, store buffers, prefetches, distances between cores.
// Threads: one OS thread; virtual threads are numbers.
// Memory: about 100 bytes for each line that was ever touched.
#pragma once

#include <folly/container/F14Set.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace schedq::scale {

inline constexpr uint32_t kVirtualThreadsMax = 128;

// A load; a store that is not sequentially consistent; all that needs the line at once.
enum class Access : uint8_t { kLoad, kStore, kUpdate };

// Of all threads together.
struct LineCounts {
  uint64_t operations = 0;
  uint64_t accesses = 0;
  uint64_t updates = 0;
  uint64_t contended_updates = 0;
  uint64_t transfers = 0;
  uint64_t invalidations = 0;
  uint64_t retries = 0;            // Exchanges that failed.
  uint64_t lines = 0;              // Different lines in each operation, summed over operations.
  uint64_t hottest_transfers = 0;  // Of the line that moved most often.
};

class CacheLines {
 public:
  static constexpr size_t kLineBytes = 64;
  static constexpr uint32_t kNobody = ~uint32_t{0};

  // Counts from here on; lines stay where they are.
  void StartCounting();

  // `counts`: the operation is one of those by which counts are divided.
  void BeginOperation(uint32_t thread, bool counts = true);

  struct Line {
    std::bitset<kVirtualThreadsMax> holders;
    uint32_t writer = kNobody;  // The last one.
    uint64_t written_at = 0;    // In accesses of all threads.
    uint64_t transfers = 0;
    // For a caller that lets transfers queue up: the thread that got the line last, and until when
    // the line stays there.
    uint32_t taker = kNobody;
    uint64_t stays_until = 0;
  };
  // The line that holds `address`; it stays where it is.
  Line& At(uintptr_t address) { return lines_[address / kLineBytes]; }

  // Whether an access would have to wait for another core.
  static bool IsTransfer(uint32_t thread, const Line& line, Access access);
  // The access. Returns whether it was a transfer.
  bool Touch(uint32_t thread, Line& line, Access access);
  void CountRetry() { ++counts_.retries; }

  LineCounts counts() const;

 private:
  struct Thread {
    uint64_t began_at = 0;
    // In this operation: few, but for what fills a structure at its beginning.
    folly::F14FastSet<const Line*> touched;
  };

  void CountLine(Thread& thread, const Line& line);

  std::unordered_map<uintptr_t, Line> lines_;
  std::vector<Thread> threads_ = std::vector<Thread>(kVirtualThreadsMax);
  uint64_t now_ = 0;
  LineCounts counts_;
};

}  // namespace schedq::scale
