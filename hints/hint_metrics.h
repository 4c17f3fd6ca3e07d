// The metrics of hints: how often each was asked with which answer, how long that took, and how
// often PreQueueingHints narrowed.
//
// Purpose: scheduler_queueing_hint_execution_duration_seconds{plugin,event,hint} and
// scheduler_pre_queueing_hint_evaluations_total{plugin,result}. Counts are exact; a batch of
// judgements is timed as a whole, and each of its evaluations counts as the mean.
// Threads: any, concurrently; wait-free, no allocation.
// Memory: one series a plugin, answer and event that the plugin is registered for. Only those of
// events that occurred are read, and touch memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/plugin.h"
#include "hints/plugin.h"
#include "hints/registry.h"

namespace schedq {

// How often each matching registration gave each answer, in one batch.
class HintTally {
 public:
  explicit HintTally(size_t registration_count) : used_(registration_count) {
    for (size_t i = 0; i < used_; ++i) counts_[i].fill(0);
  }

  void Count(int registration, Hint answer) { ++counts_[registration][static_cast<int>(answer)]; }
  uint32_t At(size_t registration, Hint answer) const {
    return counts_[registration][static_cast<int>(answer)];
  }
  uint64_t Total() const;

 private:
  const size_t used_;
  std::array<std::array<uint32_t, kHintCount>, kMatchCountMax> counts_;  // The first used_ are set.
};

class HintMetrics {
 public:
  // Both must outlive this. `metrics` may be null: nothing is counted.
  HintMetrics(const PluginRegistry& plugins, MetricsRegistry* metrics);

  bool enabled() const { return durations_ != nullptr; }

  void CountNarrowing(PluginId plugin, bool all_pods) const;
  // `duration` is that of the whole batch. Only for events that are no wildcards.
  void CountBatch(const ClusterEvent& event, const HintTally& tally, Duration duration) const;

 private:
  // The series of one event: a histogram for each matching registration and answer. Registrations
  // of one plugin share theirs.
  struct EventSeries {
    // Set once, by each thread that counts the event's first batch.
    std::atomic<bool> are_shown{false};
    std::vector<HistogramFamily::Reserved> histograms;  // By registration, then by answer.
  };

  void ReserveSeries(const PluginRegistry& plugins);
  EventSeries& SeriesOf(const ClusterEvent& event) const;

  HistogramFamily* durations_ = nullptr;
  DenseCounterFamily* narrowings_ = nullptr;
  const std::unique_ptr<EventSeries[]> series_;  // By label.
};

}  // namespace schedq
