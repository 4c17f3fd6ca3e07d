// Pods a second, sampled as scheduler_perf samples it.
//
// The rule: once a second since the start, the pods scheduled since the last sample over the time
// since then. Nothing is sampled before the first pod; the first sample is dropped, because it
// began at another time than the pods; a second without any pod is made up for by counting the next
// sample once more. A run too short for a sample has its count over the time from its start to the
// last pod.
// Threads: one.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/time/time.h"
#include "perf/documents/data_items.h"

namespace schedq {

class Throughput {
 public:
  explicit Throughput(Instant start) : start_(start), last_sample_(start), last_pod_(start) {}

  void CountPod(Instant now) {
    ++pods_;
    last_pod_ = now;
  }
  // Every second.
  void Sample(Instant now);

  uint64_t pods() const { return pods_; }
  // Average, Perc50, Perc90, Perc95, Perc99 in pods/s. Labels are the caller's.
  DataItem Item() const;

 private:
  const Instant start_;
  Instant last_sample_;
  Instant last_pod_;
  uint64_t pods_ = 0;
  uint64_t pods_at_sample_ = 0;
  int skipped_ = 0;
  bool has_begun_ = false;
  std::vector<double> samples_;
};

}  // namespace schedq
