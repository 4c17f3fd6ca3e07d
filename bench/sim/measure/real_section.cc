#include "bench/sim/measure/real_section.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include "bench/sim/measure/section.h"
#include "bench/sim/real/real_scheduler.h"
#include "bench/sim/real/wall_pace.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/time/time.h"

namespace schedq {
namespace {

constexpr const char* kOthers = "others";
constexpr const char* kCluster = "cluster";

double SecondsOf(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Of all series of a family; of histograms the observations.
struct Sum {
  uint64_t count = 0;
  double seconds = 0;
};
Sum SumOf(const MetricsRegistry& registry, const char* family_name) {
  Sum sum;
  const MetricFamilyBase* const family = registry.Find(family_name);
  if (family == nullptr) return sum;
  for (const MetricSample& sample : family->Read()) {
    sum.count += static_cast<uint64_t>(sample.value);
    sum.seconds += sample.histogram.sum;
  }
  return sum;
}

}  // namespace

RealSection::RealSection(Simulation* simulation)
    : simulation_(simulation),
      before_(UsagesNow()),
      process_before_(CpuSeconds(CLOCK_PROCESS_CPUTIME_ID)),
      conflicts_before_(simulation->real_scheduler()->conflicts()),
      counts_before_(CountsNow()) {
  // Those of pods before the section.
  static_cast<void>(simulation_->real_scheduler()->TakePopLatencies());
  static_cast<void>(simulation_->real_scheduler()->TakeRequeueLatencies());
  static_cast<void>(simulation_->real_scheduler()->TakeAddLatencies());
}

RealSection::Usages RealSection::UsagesNow() const {
  Usages usages = simulation_->real_scheduler()->Usage();
  const WallPace& pace = *simulation_->pace();
  usages[kCluster] = pace.usage();
  return usages;
}

StepTimes RealSection::CountsNow() const {
  RealScheduler& scheduler = *simulation_->real_scheduler();
  StepTimes counts;
  counts.client_calls = simulation_->client().calls();
  counts.nodes_looked_at = scheduler.nodes_looked_at();
  const MetricsRegistry& queue = scheduler.queue_metrics();
  counts.attempts = SumOf(scheduler.loop_metrics(), "scheduler_schedule_attempts_total").count;
  counts.pods_told = scheduler.informers().pods_handled();
  counts.events_told = scheduler.informers().others_handled();
  const Sum hints = SumOf(queue, "scheduler_queueing_hint_execution_duration_seconds");
  counts.hints_asked = hints.count;
  counts.hints = hints.seconds;
  counts.busy = SecondsOf(simulation_->pace()->Now() - Instant() - simulation_->pace()->quiet());
  return counts;
}

void RealSection::AddTimes(const std::string& thread, const ThreadUsage& usage, StepTimes* steps) {
  const auto spent = [&usage](Part part) { return usage.spent[static_cast<size_t>(part)]; };
  const std::array<double, kParts> cpu = usage.CpuByPart();
  if (thread == kCluster) steps->server += spent(Part::kServer);
  if (thread.starts_with("scheduler")) {
    steps->popping += spent(Part::kQueue);
    steps->placing += spent(Part::kPlacing);
  }
  const double events = cpu[static_cast<size_t>(Part::kEvents)];
  if (thread == "informer of pods") {
    steps->adding += cpu[static_cast<size_t>(Part::kQueue)] + events;
  } else if (thread.starts_with("informer")) {
    steps->events += events;
  }
}

RealFigures RealSection::Finish(SectionLatencies* latencies, StepTimes* steps) const {
  RealScheduler& scheduler = *simulation_->real_scheduler();
  latencies->popped.Merge(scheduler.TakePopLatencies());
  latencies->requeued.Merge(scheduler.TakeRequeueLatencies());
  latencies->added.Merge(scheduler.TakeAddLatencies());
  RealFigures figures;
  figures.conflicts = scheduler.conflicts() - conflicts_before_;
  *steps = CountsNow();
  steps->client_calls -= counts_before_.client_calls;
  steps->nodes_looked_at -= counts_before_.nodes_looked_at;
  steps->attempts -= counts_before_.attempts;
  steps->pods_told -= counts_before_.pods_told;
  steps->events_told -= counts_before_.events_told;
  steps->hints_asked -= counts_before_.hints_asked;
  steps->hints -= counts_before_.hints;
  steps->busy -= counts_before_.busy;
  double known = 0;
  double allocated_bytes = 0;
  for (const auto& [thread, usage] : UsagesNow()) {
    const auto before = before_.find(thread);
    const ThreadUsage since = usage.Since(before == before_.end() ? ThreadUsage() : before->second);
    AddTimes(thread, since, steps);
    figures.cpu_by_thread[thread] = since.cpu;
    known += since.cpu;
    allocated_bytes += since.allocated_bytes;
    const std::array<double, kParts> parts = since.CpuByPart();
    for (size_t i = 1; i < kParts; ++i) {
      if (parts[i] > 0)
        figures.cpu_by_part[std::string(PartName(static_cast<Part>(i)))] += parts[i];
    }
  }
  // The dispatcher's thread, the queue's clock, and the helpers of its judge.
  const double others =
      std::max(0.0, CpuSeconds(CLOCK_PROCESS_CPUTIME_ID) - process_before_ - known);
  figures.cpu_by_thread[kOthers] = others;
  figures.cpu_by_part[kOthers] += others;
  if (const std::optional<Allocations> allocations = allocations_.SinceStart()) {
    figures.allocations = allocations->requests;
    figures.allocated_bytes = allocated_bytes;
  }
  return figures;
}

}  // namespace schedq
