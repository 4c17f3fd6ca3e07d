#include "hints/hint_metrics.h"

#include <cstddef>
#include <string>

#include "engine/base/atom.h"
#include "engine/event.h"
#include "engine/plugin.h"

namespace schedq {
namespace {

constexpr std::array<const char*, kHintCount> kHintLabels = {"Queue", "QueueSkip", "Error"};
enum NarrowingResult : int { kAllPodsResult, kNarrowedResult };

}  // namespace

uint64_t HintTally::Total() const {
  uint64_t total = 0;
  for (size_t i = 0; i < used_; ++i) {
    for (const uint32_t count : counts_[i]) total += count;
  }
  return total;
}

HintMetrics::HintMetrics(const PluginRegistry& plugins, MetricsRegistry* metrics)
    : series_(std::make_unique<EventSeries[]>(kEventLabelCount)) {
  if (metrics == nullptr) return;
  durations_ = &metrics->Histograms({"scheduler_queueing_hint_execution_duration_seconds",
                                     "How long QueueingHints take, by plugin, event and answer.",
                                     {"plugin", "event", "hint"}},
                                    ExponentialBounds(1e-5, 1.5, 20));
  ReserveSeries(plugins);
  if (plugins.size() == 0) return;
  narrowings_ = &metrics->DenseCounters(
      {"scheduler_pre_queueing_hint_evaluations_total",
       "How many PreQueueingHints were asked, by plugin and whether they narrowed the event.",
       {"plugin", "result"}},
      {plugins.Names(), {"all_pods", "narrowed"}});
}

void HintMetrics::CountNarrowing(PluginId plugin, bool all_pods) const {
  if (narrowings_ == nullptr) return;
  narrowings_->At(plugin, all_pods ? kAllPodsResult : kNarrowedResult).Add();
}

void HintMetrics::CountBatch(const ClusterEvent& event, const HintTally& tally,
                             Duration duration) const {
  const uint64_t total = tally.Total();
  if (!enabled() || total == 0) return;
  const Duration mean = duration / static_cast<int64_t>(total);
  const EventSeries& series = SeriesOf(event);
  for (size_t i = 0; i < series.histograms.size(); ++i) {
    const uint32_t count = tally.At(i / kHintCount, static_cast<Hint>(i % kHintCount));
    if (count > 0) series.histograms[i].handle().Observe(mean, count);
  }
}

HintMetrics::EventSeries& HintMetrics::SeriesOf(const ClusterEvent& event) const {
  EventSeries& series = series_[event.label];
  // Relaxed, both: to show a series twice does no harm.
  if (!LoadRelaxed(series.are_shown)) {
    for (const HistogramFamily::Reserved& histogram : series.histograms) histogram.Show();
    StoreRelaxed(series.are_shown, true);
  }
  return series;
}

void HintMetrics::ReserveSeries(const PluginRegistry& plugins) {
  std::vector<LabelValues> values;
  std::vector<EventLabel> labels;
  plugins.ForEachEvent([&](EventLabel label, const EventMatches& matches) {
    for (const MatchingRegistration& match : matches.registrations) {
      for (const char* answer : kHintLabels) {
        values.push_back(
            {plugins.plugin(match.plugin).name, std::string(LabelText(label)), answer});
        labels.push_back(label);
      }
    }
  });
  const std::vector<HistogramFamily::Reserved> reserved = durations_->Reserve(values);
  for (size_t i = 0; i < reserved.size(); ++i) {
    series_[labels[i]].histograms.push_back(reserved[i]);
  }
}

}  // namespace schedq
