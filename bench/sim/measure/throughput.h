// Pods a second, sampled as scheduler_perf samples them.
//
// Rules:
//  1. Once a second since the start, a sample is the pods scheduled since the last sample, divided
//     by the time since then.
//  2. No sample is taken before the first pod, and the first one is dropped, because it began at
//     another time than the pods.
//  3. For each second without a pod, the next sample counts once more.
//  4. A run too short for a sample reports its count divided by the time from the start to the last
//     pod.
// Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/time/time.h"
#include "perf/documents/data_items.h"

namespace schedq {

// Average, Perc50, Perc90, Perc95 and Perc99 of one or more samples, as scheduler_perf counts them.
DataItem ItemOfSamples(std::vector<double> samples, const std::string& unit);

class Throughput {
 public:
  explicit Throughput(Instant start) : start_(start), last_sample_(start), last_pod_(start) {}

  void CountPod(Instant now) {
    ++pods_;
    last_pod_ = now;
  }
  // Called every second.
  void Sample(Instant now);

  uint64_t pods() const { return pods_; }
  // Average, Perc50, Perc90, Perc95 and Perc99 in pods/s. The caller sets the labels.
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
