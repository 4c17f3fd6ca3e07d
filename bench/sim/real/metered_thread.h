// A thread with a clock for the parts of its work, which others may read while it runs.
//
// Threads: Start, Join and usage on the cluster's thread.
#pragma once

#include <atomic>
#include <thread>
#include <utility>

#include "bench/sim/real/part_clock.h"

namespace schedq {

class MeteredThread {
 public:
  // Runs `work(PartClock*)` on a thread of its own.
  template <typename Work>
  void Start(Work work) {
    thread_ = std::jthread([this, work = std::move(work)] {
      PartClock parts;
      parts_.store(&parts);
      work(&parts);
      parts_.store(nullptr);
    });
  }
  // The work must be about to end. Again: nothing.
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

  ThreadUsage usage() const {
    const PartClock* const parts = parts_.load();
    return parts != nullptr ? parts->Usage() : ThreadUsage();
  }

 private:
  std::atomic<const PartClock*> parts_{nullptr};  // Written by the thread; null before and after.
  std::jthread thread_;
};

}  // namespace schedq
