#include "bench/sim/measure/memory_samples.h"

#include <algorithm>
#include <chrono>
#include <ratio>
#include <utility>

#include "bench/sim/measure/throughput.h"

namespace schedq {

void MemorySamples::Sample(Instant now) {
  constexpr double kMegabyte = 1 << 20;
  if (megabytes_.empty()) first_ = now;
  last_ = now;
  megabytes_.push_back(static_cast<double>(guard_.BytesInUse()) / kMegabyte);
}

std::vector<DataItem> MemorySamples::Items() const {
  DataItem usage = ItemOfSamples(megabytes_, "MB");
  usage.data["Max"] = *std::max_element(megabytes_.begin(), megabytes_.end());
  usage.labels["Metric"] = "heap_memory_usage";
  const double minutes = std::chrono::duration<double, std::ratio<60>>(last_ - first_).count();
  const double grown = megabytes_.back() - megabytes_.front();
  return {std::move(usage),
          {{{"GrowthRate", minutes > 0 ? grown / minutes : 0}},
           "MB/min",
           {{"Metric", "memory_growth_rate"}}}};
}

}  // namespace schedq
