// The measured section of a workload: what happened between two operations.
//
// Threads: one, that which advances the clock.
#pragma once

#include <optional>
#include <string>

#include "bench/run/metric_values.h"
#include "bench/run/pod_watch.h"
#include "bench/run/simulation.h"
#include "bench/run/throughput.h"
#include "bench/workload/metrics_catalog.h"
#include "perf/histogram.h"

namespace schedq {

// What a section measured.
struct SectionResult {
  Duration duration{};
  uint64_t pods = 0;
  std::vector<DataItem> items;
  std::map<std::string, uint64_t> counters;
};

class Section {
 public:
  // `name` is the last part of the items' Name.
  Section(Simulation* simulation, std::string name, PodSelection pods);
  ~Section();
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  // Latencies, from a pod's creation to the news that it is bound, go into `latencies`.
  SectionResult Finish(const MetricsConfig& config, const std::string& workload_name,
                       LatencyHistogram* latencies) const;

 private:
  Simulation* const simulation_;
  const std::string name_;
  const PodSelection selection_;
  const Instant start_;
  const MetricValues before_;
  Throughput throughput_;
  LatencyHistogram latencies_;
  TimerId ticker_;
};

// All metrics of the run that depend on it only.
MetricValues ReadMetrics(const SchedulerLoop& scheduler);
// The same in Prometheus' text form.
std::string MetricsTextOf(const SchedulerLoop& scheduler);

}  // namespace schedq
