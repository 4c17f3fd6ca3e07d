#include "bench/sim/measure/throughput.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>

#include "perf/statistics/summary.h"

namespace schedq {
namespace {

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// The smallest sample that `percent` of all samples do not exceed.
double Percentile(const std::vector<double>& sorted, size_t percent) {
  const size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[rank - 1];
}

}  // namespace

void Throughput::Sample(Instant now) {
  if (pods_ == 0) return;
  const uint64_t pods = pods_ - pods_at_sample_;
  if (has_begun_ && pods == 0) {
    ++skipped_;
    return;
  }
  if (has_begun_) {
    const double rate = static_cast<double>(pods) / Seconds(now - last_sample_);
    samples_.insert(samples_.end(), static_cast<size_t>(skipped_) + 1, rate);
  }
  has_begun_ = true;
  skipped_ = 0;
  pods_at_sample_ = pods_;
  last_sample_ = now;
}

DataItem ItemOfSamples(std::vector<double> samples, const std::string& unit) {
  DataItem item;
  item.unit = unit;
  std::sort(samples.begin(), samples.end());
  item.data["Average"] = Mean(samples);
  item.data["Perc50"] = Percentile(samples, 50);
  item.data["Perc90"] = Percentile(samples, 90);
  item.data["Perc95"] = Percentile(samples, 95);
  item.data["Perc99"] = Percentile(samples, 99);
  return item;
}

DataItem Throughput::Item() const {
  std::vector<double> samples = samples_;
  if (samples.empty()) {
    const double seconds = Seconds(last_pod_ - start_);
    samples.push_back(seconds > 0 ? static_cast<double>(pods_) / seconds : 0);
  }
  return ItemOfSamples(std::move(samples), "pods/s");
}

}  // namespace schedq
