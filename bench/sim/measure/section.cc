#include "bench/sim/measure/section.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "bench/format/workload/metrics_catalog.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/queue/queue_watch.h"
#include "engine/base/metrics/metrics_text.h"

namespace schedq {
namespace {

// This family is left out: the engine measures it by the machine's clock, and the loop has it in
// virtual time.
constexpr char kTimedByEngine[] = "scheduler_event_handling_duration_seconds";
constexpr char kListenerKey[] = "section";

}  // namespace

MetricValues ReadMetrics(const SchedulerLoop& scheduler) {
  MetricValues values;
  values.Read(scheduler.queue().registry(), kTimedByEngine);
  values.Read(scheduler.metrics().registry());
  return values;
}

std::string MetricsTextOf(const SchedulerLoop& scheduler) {
  std::vector<prometheus::MetricFamily> families =
      MetricsCollectable(&scheduler.queue().registry()).Collect();
  families.erase(std::remove_if(families.begin(), families.end(),
                                [](const auto& each) { return each.name == kTimedByEngine; }),
                 families.end());
  for (auto& family : MetricsCollectable(&scheduler.metrics().registry()).Collect()) {
    families.push_back(std::move(family));
  }
  std::sort(families.begin(), families.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return prometheus::TextSerializer().Serialize(families);
}

Section::Section(Simulation* simulation, std::string name, PodSelection pods)
    : simulation_(simulation),
      name_(std::move(name)),
      selection_(std::move(pods)),
      start_(simulation->clock().Now()),
      before_(ReadMetrics(simulation->scheduler())),
      throughput_(start_),
      inversions_before_(simulation->scheduler().watch().inversions()),
      idle_before_(simulation->scheduler().watch().idle()) {
  simulation_->pods().ListenToScheduled(kListenerKey, [this](const ClusterPod& pod) {
    if (!selection_.Has(pod)) return;
    const Instant now = simulation_->clock().Now();
    throughput_.CountPod(now);
    latencies_.scheduled.Record(static_cast<uint64_t>((now - pod.created).count()));
  });
  simulation_->scheduler().watch().ListenToWaits(
      [this](Duration waited) { latencies_.waits.Record(static_cast<uint64_t>(waited.count())); });
  ticker_ = simulation_->clock().Every(start_ + kSecond, kSecond,
                                       [this] { throughput_.Sample(simulation_->clock().Now()); });
}

Section::~Section() {
  simulation_->clock().Cancel(ticker_);
  simulation_->pods().StopListening(kListenerKey);
  simulation_->scheduler().watch().ListenToWaits({});
}

SectionResult Section::Finish(const MetricsConfig& config, const std::string& workload_name,
                              SectionLatencies* latencies) const {
  SectionResult result;
  result.duration = simulation_->clock().Now() - start_;
  result.pods = throughput_.pods();
  latencies->Merge(latencies_);
  const MetricValues values = ReadMetrics(simulation_->scheduler()).Since(before_);
  DataItem throughput = throughput_.Item();
  throughput.labels["Metric"] = std::string(kThroughputMetric);
  result.items.push_back(std::move(throughput));
  for (DataItem& item : values.Items(config)) result.items.push_back(std::move(item));
  for (DataItem& item : result.items) item.labels["Name"] = workload_name + "/" + name_;
  result.counters = values.Counters();
  const QueueWatch& watch = simulation_->scheduler().watch();
  result.counters[kInversions] = watch.inversions() - inversions_before_;
  result.counters[kIdleMicroseconds] = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(watch.idle() - idle_before_).count());
  return result;
}

}  // namespace schedq
