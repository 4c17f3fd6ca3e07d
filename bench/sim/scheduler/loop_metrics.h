// The metrics of the simulated scheduler beside its queue: attempts, extension points, events.
//
// Purpose: upstream's names and buckets, filled with durations of the run's clock.
// Threads: CountAttempt and CountScheduled from any, without a lock, because each pod's binding
// comes by; the others lock when a series is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/sim/placing/decision.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/pod_group.h"
#include "engine/queue_metrics.h"

namespace schedq {

enum class AttemptResult : uint8_t { kScheduled, kUnschedulable, kError };

class LoopMetrics {
 public:
  // `profiles` are the names of the scheduler's profiles, by which attempts are counted apart.
  explicit LoopMetrics(std::vector<std::string> profiles = {std::string(kDefaultProfile)});

  const MetricsRegistry& registry() const { return registry_; }
  // The registry for further metrics of the loop's parts.
  MetricsRegistry* shared_registry() { return &registry_; }

  // Counts a whole attempt, with its binding if there was one.
  void CountAttempt(AttemptResult result, Duration duration, size_t profile = 0) const;
  void ObserveAlgorithm(Duration duration) const { algorithm_.Observe(duration); }
  void ObserveExtensionPoint(const std::string& point, bool success, Duration duration,
                             size_t profile = 0) const;
  void ObserveEventHandling(EventLabel label, Duration duration) const;
  // Counts that PostFilter was asked for a pod, and the victims that it chose; of these
  // `violations` are more than disruption budgets allow.
  void CountPostFilter(size_t victims, size_t violations) const;
  // The same of a group.
  void CountGroupPostFilter(bool success, size_t victims, size_t violations) const;
  // What searching for the members of a group took.
  void ObserveGroupAlgorithm(Duration duration) const;
  // Counts a whole cycle of a group.
  void CountGroupAttempt(GroupStatus status, bool waits_for_preemption, Duration duration) const;
  // Counts what became of a shared search; nothing where the pod shares none.
  void CountSharing(Sharing sharing, size_t profile = 0) const;
  // Counts a bound pod. `since_first` is the time since its first attempt could begin.
  void CountScheduled(uint32_t attempts, Duration since_first) const;

 private:
  const std::vector<std::string> profiles_;
  MetricsRegistry registry_;
  DenseCounterFamily* attempts_;
  DenseHistogramFamily* attempt_durations_;
  Histogram algorithm_;
  HistogramFamily* extension_points_;
  HistogramFamily* event_handling_;
  DenseHistogramFamily* since_first_;
  Histogram attempts_to_schedule_;
  CounterFamily* preemptions_;
  CounterFamily* sharings_;
  HistogramFamily* victims_;
  CounterFamily* budget_violations_;
  CounterFamily* group_preemptions_;
  HistogramFamily* group_victims_;
  CounterFamily* group_attempts_;
  HistogramFamily* group_durations_;
  HistogramFamily* group_algorithm_;
};

}  // namespace schedq
