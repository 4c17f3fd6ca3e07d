#include "bench/sim/measure/real_section.h"

#include <sys/resource.h>

#include <cstddef>

#include "bench/sim/measure/section.h"
#include "bench/sim/real/real_scheduler.h"
#include "bench/sim/real/wall_pace.h"

namespace schedq {
namespace {

uint64_t PeakMemory() {
  rusage usage{};
  constexpr uint64_t kKibibyte = 1024;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) * kKibibyte
                                             : 0;
}

}  // namespace

RealSection::RealSection(Simulation* simulation)
    : simulation_(simulation),
      before_(UsagesNow()),
      conflicts_before_(simulation->real_scheduler()->conflicts()) {
  // Those of pods before the section.
  static_cast<void>(simulation_->real_scheduler()->TakePopLatencies());
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
  RealFigures figures;
  figures.conflicts = scheduler.conflicts() - conflicts_before_;
  figures.peak_memory_bytes = PeakMemory();
  for (const auto& [thread, usage] : UsagesNow()) {
    const auto before = before_.find(thread);
    const ThreadUsage since = before == before_.end() ? ThreadUsage() : before->second;
    figures.cpu_by_thread[thread] = usage.cpu - since.cpu;
    for (size_t i = 1; i < kParts; ++i) {
      const double seconds = usage.parts[i] - since.parts[i];
      if (seconds > 0) figures.cpu_by_part[std::string(PartName(static_cast<Part>(i)))] += seconds;
    }
  }
  return figures;
}

}  // namespace schedq
