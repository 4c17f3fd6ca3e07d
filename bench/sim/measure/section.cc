#include "bench/sim/measure/section.h"

#include <prometheus/metric_family.h>
#include <valgrind/callgrind.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "bench/format/workload/metrics_catalog.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/queue/queue_watch.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/metrics/metrics_text.h"

namespace schedq {
namespace {

// The engine measures this family by the machine's clock, and the virtual loop by its own. The
// run's clock decides which one counts.
constexpr char kTimedTwice[] = "scheduler_event_handling_duration_seconds";
constexpr char kListenerKey[] = "section";

}  // namespace

MetricValues ReadMetrics(Scheduler* scheduler) {
  const bool is_virtual = scheduler->watch() != nullptr;
  MetricValues values;
  values.Read(scheduler->queue_metrics(), is_virtual ? kTimedTwice : "");
  values.Read(scheduler->loop_metrics(), is_virtual ? "" : kTimedTwice);
  return values;
}

std::string MetricsTextOf(Scheduler* scheduler) {
  const bool is_virtual = scheduler->watch() != nullptr;
  const MetricsRegistry& without =
      is_virtual ? scheduler->queue_metrics() : scheduler->loop_metrics();
  std::vector<prometheus::MetricFamily> families = MetricsCollectable(&without).Collect();
  families.erase(std::remove_if(families.begin(), families.end(),
                                [](const auto& each) { return each.name == kTimedTwice; }),
                 families.end());
  const MetricsRegistry& whole =
      is_virtual ? scheduler->loop_metrics() : scheduler->queue_metrics();
  for (auto& family : MetricsCollectable(&whole).Collect()) families.push_back(std::move(family));
  std::sort(families.begin(), families.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return MetricsText(families);
}

Section::Section(Simulation* simulation, std::string name, PodSelection pods)
    : simulation_(simulation),
      name_(std::move(name)),
      selection_(std::move(pods)),
      before_(ReadMetrics(&simulation->scheduler())),
      start_(simulation->Now()),
      throughput_(start_) {
  if (const QueueWatch* watch = simulation->scheduler().watch()) {
    inversions_before_ = watch->inversions();
    idle_before_ = watch->idle();
  }
  if (simulation->real_scheduler() != nullptr) {
    real_.emplace(simulation);
    memory_.emplace(start_);
    memory_ticker_ =
        simulation_->clock().Every(start_ + MemorySamples::kInterval, MemorySamples::kInterval,
                                   [this] { memory_->Sample(simulation_->Now()); });
  }
  simulation_->pods().ListenToScheduled(kListenerKey, [this](const ClusterPod& pod) {
    const Instant now = simulation_->Now();
    activity_.Count(std::max(pod.created, start_), now);
    if (!selection_.Has(pod)) return;
    throughput_.CountPod(now);
    latencies_.scheduled.Record(static_cast<uint64_t>((now - pod.created).count()));
  });
  if (QueueWatch* watch = simulation_->scheduler().watch()) {
    watch->ListenToWaits([this](Duration waited) {
      latencies_.waits.Record(static_cast<uint64_t>(waited.count()));
    });
  }
  ticker_ = simulation_->clock().Every(start_ + kSecond, kSecond,
                                       [this] { throughput_.Sample(simulation_->Now()); });
  // Does nothing but under callgrind.
  CALLGRIND_START_INSTRUMENTATION;
}

Section::~Section() {
  simulation_->clock().Cancel(ticker_);
  if (memory_) simulation_->clock().Cancel(memory_ticker_);
  simulation_->pods().StopListening(kListenerKey);
  if (QueueWatch* watch = simulation_->scheduler().watch()) watch->ListenToWaits({});
}

SectionResult Section::Finish(const MetricsConfig& config, const std::string& workload_name,
                              SectionLatencies* latencies) const {
  CALLGRIND_STOP_INSTRUMENTATION;
  SectionResult result;
  result.duration = simulation_->Now() - start_;
  result.pods = throughput_.pods();
  result.activity = activity_;
  latencies->Merge(latencies_);
  const MetricValues values = ReadMetrics(&simulation_->scheduler()).Since(before_);
  DataItem throughput = throughput_.Item();
  throughput.labels["Metric"] = std::string(kThroughputMetric);
  result.items.push_back(std::move(throughput));
  for (DataItem& item : values.Items(config)) result.items.push_back(std::move(item));
  result.items.push_back({{{"Duration", std::chrono::duration<double>(result.duration).count()}},
                          "s",
                          {{"Metric", "SchedulingDuration"}}});
  if (memory_) {
    for (DataItem& item : memory_->Items()) result.items.push_back(std::move(item));
  }
  for (DataItem& item : result.items) item.labels["Name"] = workload_name + "/" + name_;
  result.counters = values.Counters();
  if (real_) result.real = real_->Finish(latencies, &result.steps);
  const QueueWatch* const watch = simulation_->scheduler().watch();
  if (watch == nullptr) return result;
  result.counters[kInversions] = watch->inversions() - inversions_before_;
  result.counters[kIdleMicroseconds] = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(watch->idle() - idle_before_).count());
  return result;
}

}  // namespace schedq
