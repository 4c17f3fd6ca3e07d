#include "bench/sim/measure/real_section.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "bench/sim/measure/section.h"
#include "bench/sim/real/real_scheduler.h"
#include "bench/sim/real/wall_pace.h"

namespace schedq {
namespace {

constexpr const char* kOthers = "others";

}  // namespace

RealSection::RealSection(Simulation* simulation)
    : simulation_(simulation),
      before_(UsagesNow()),
      process_before_(CpuSeconds(CLOCK_PROCESS_CPUTIME_ID)),
      conflicts_before_(simulation->real_scheduler()->conflicts()) {
  // Those of pods before the section.
  static_cast<void>(simulation_->real_scheduler()->TakePopLatencies());
  static_cast<void>(simulation_->real_scheduler()->TakeRequeueLatencies());
  static_cast<void>(simulation_->real_scheduler()->TakeAddLatencies());
}

RealSection::Usages RealSection::UsagesNow() const {
  Usages usages = simulation_->real_scheduler()->Usage();
  const WallPace& pace = *simulation_->pace();
  usages["cluster"] = pace.usage();
  return usages;
}

RealFigures RealSection::Finish(SectionLatencies* latencies) const {
  RealScheduler& scheduler = *simulation_->real_scheduler();
  latencies->popped.Merge(scheduler.TakePopLatencies());
  latencies->requeued.Merge(scheduler.TakeRequeueLatencies());
  latencies->added.Merge(scheduler.TakeAddLatencies());
  RealFigures figures;
  figures.conflicts = scheduler.conflicts() - conflicts_before_;
  double known = 0;
  double allocated_bytes = 0;
  for (const auto& [thread, usage] : UsagesNow()) {
    const auto before = before_.find(thread);
    const ThreadUsage since = usage.Since(before == before_.end() ? ThreadUsage() : before->second);
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
