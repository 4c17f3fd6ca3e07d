// The measured section of a workload: the measurements between two operations.
//
// Threads: one, the one that advances the clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/sim/measure/memory_samples.h"
#include "bench/sim/measure/metric_values.h"
#include "bench/sim/measure/pod_watch.h"
#include "bench/sim/measure/real_section.h"
#include "bench/sim/measure/step_times.h"
#include "bench/sim/measure/throughput.h"
#include "bench/sim/run/simulation.h"
#include "bench/sim/scheduler/scheduler.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "perf/documents/data_items.h"
#include "perf/documents/real_figures.h"
#include "perf/statistics/histogram.h"

namespace schedq {

// Counters of a section beside upstream's; QueueWatch defines them.
inline constexpr const char* kInversions = "schedq_priority_inversions_total";
inline constexpr const char* kIdleMicroseconds = "schedq_idle_with_backoff_microseconds_total";

// Pods that were bound while a section was open, whichever they are.
struct SectionActivity {
  uint64_t pods = 0;
  Instant first{};  // Where the first of them was created, or the section's start after that.
  Instant last{};   // Where the last of them was bound.

  void Count(Instant begun, Instant now) {
    first = pods == 0 ? begun : std::min(first, begun);
    last = now;
    ++pods;
  }
  Duration length() const { return last - first; }
};

// The measurements of a section.
struct SectionResult {
  Duration duration{};
  uint64_t pods = 0;
  SectionActivity activity;
  std::vector<DataItem> items;
  std::map<std::string, uint64_t> counters;  // Upstream's counters, and two of QueueWatch.
  std::optional<RealFigures> real;           // On the real clock.
  StepTimes steps;                           // On the real clock.
};

struct SectionLatencies {
  LatencyHistogram scheduled;  // From a pod's creation to the informers' report that it is bound.
  LatencyHistogram waits;      // As QueueWatch defines them; none on the real clock.
  LatencyHistogram popped;     // On the real clock: from a pod's creation to its first pop.
  LatencyHistogram added;      // On the real clock: of each call that adds a pod to the queue.
  LatencyHistogram requeued;   // On the real clock, as RequeueMeter defines it.

  void Merge(const SectionLatencies& more) {
    scheduled.Merge(more.scheduled);
    waits.Merge(more.waits);
    popped.Merge(more.popped);
    added.Merge(more.added);
    requeued.Merge(more.requeued);
  }
};

class Section {
 public:
  // `name` is the last part of the items' Name.
  Section(Simulation* simulation, std::string name, PodSelection pods);
  ~Section();
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  SectionResult Finish(const MetricsConfig& config, const std::string& workload_name,
                       SectionLatencies* latencies) const;

 private:
  Simulation* const simulation_;
  const std::string name_;
  const PodSelection selection_;
  const MetricValues before_;  // First, because it takes time.
  const Instant start_;
  Throughput throughput_;
  SectionActivity activity_;
  uint64_t inversions_before_ = 0;
  Duration idle_before_{};
  std::optional<RealSection> real_;      // On the real clock.
  std::optional<MemorySamples> memory_;  // On the real clock.
  SectionLatencies latencies_;
  TimerId ticker_;
  TimerId memory_ticker_{};
};

// All metrics; on the virtual clock only those that depend on nothing but the run.
MetricValues ReadMetrics(Scheduler* scheduler);
// The same in Prometheus' text form.
std::string MetricsTextOf(Scheduler* scheduler);

}  // namespace schedq
