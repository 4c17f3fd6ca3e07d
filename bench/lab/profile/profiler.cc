#include "bench/lab/profile/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "bench/allocation_meter.h"
#include "bench/interrupt.h"
#include "bench/lab/paths/measured_path.h"
#include "bench/lab/profile/time_sampler.h"
#include "bench/memory_guard.h"
#include "engine/base/random.h"
#include "perf/statistics/measurement.h"
#include "perf/statistics/summary.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

// The measurement of one subject at growing sizes.
class SeriesMeasurement {
 public:
  SeriesMeasurement(const ProfileSubject& subject, const MemoryGuard* guard)
      : subject_(subject), guard_(guard) {
    series_.name = subject.name;
    series_.operation = subject.operation;
  }

  bool is_stopped() const { return !series_.stopped.empty(); }
  const std::string& name() const { return subject_.name; }

  // Starts a point of this size, or stops the series if a run would take too long.
  void BeginSize(uint64_t size, double seconds_max) {
    if (is_stopped()) return;
    const double forecast = ForecastSeconds(seconds_, static_cast<double>(size));
    if (forecast > seconds_max) {
      series_.stopped = fmt::format("{} would take about {} a run, beyond the limit of {:g} s",
                                    CountText(size), DurationText(forecast * 1e9), seconds_max);
      return;
    }
    const double bytes = ForecastBytes(bytes_, static_cast<double>(size));
    const uint64_t in_use = guard_->BytesInUse();
    const uint64_t left = guard_->bytes_max() - std::min(guard_->bytes_max(), in_use);
    if (bytes > static_cast<double>(left)) {
      series_.stopped =
          fmt::format("{} would take about {} of memory, beyond the {} left of {}", CountText(size),
                      BytesText(bytes), BytesText(static_cast<double>(left)),
                      BytesText(static_cast<double>(guard_->bytes_max())));
      return;
    }
    series_.points.emplace_back().size = size;
    run_seconds_.clear();
    run_bytes_ = 0;
  }

  void RunOnce(std::vector<std::string>* faults) {
    ProfilePoint& point = series_.points.back();
    const double bytes_before = LiveBytes();
    const MeasuredPathRef path = subject_.prepare(point.size, 0);
    const AllocationMeter meter;
    const auto started = std::chrono::steady_clock::now();
    path->Run();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    const std::optional<Allocations> taken = meter.SinceStart();
    run_bytes_ = std::max(run_bytes_, LiveBytes() - bytes_before);
    const PathOutcome outcome = path->Outcome();
    if (outcome.fault != nullptr) {
      faults->push_back(fmt::format("{} at {}: {}", name(), point.size, outcome.fault));
      return;
    }
    const auto each = static_cast<double>(outcome.operations);
    point.operations = outcome.operations;
    run_seconds_.push_back(elapsed.count());
    Record(point, "time", "ns", elapsed.count() * 1e9 / each);
    if (subject_.counts_judged_pods) {
      Record(point, "pods_judged", "pods", static_cast<double>(outcome.pods_judged) / each);
    }
    if (!taken) return;
    Record(point, "bytes", "bytes", taken->bytes / each);
    Record(point, "allocations", "allocations", taken->requests / each);
  }

  void StopWithoutMemory() {
    series_.stopped = fmt::format("memory ran out at {}", CountText(series_.points.back().size));
  }

  void EndSize() {
    if (series_.points.empty()) return;
    if (run_seconds_.empty()) {
      series_.points.pop_back();
    } else {
      seconds_.emplace_back(series_.points.back().size, Median(run_seconds_));
      bytes_.emplace_back(series_.points.back().size, run_bytes_);
    }
  }

  void SampleTime() {
    if (series_.points.empty()) return;
    const uint64_t size = series_.points.back().size;
    const MeasuredPathRef path = subject_.prepare(size, 0);
    TimeSampler sampler;
    path->Run();
    HotSpots spots = sampler.Finish();
    spots.size = size;
    if (!spots.functions.empty()) series_.hot_spots.push_back(std::move(spots));
  }

  // What ended, also amid a size.
  ProfileSeries Finished() const {
    ProfileSeries finished = series_;
    if (!finished.points.empty() && finished.points.back().measurements.empty()) {
      finished.points.pop_back();
    }
    return finished;
  }

  ProfileSeries Finish() {
    series_.fits = FitSeries(series_);
    return std::move(series_);
  }

 private:
  // What is allocated now and not freed. Resident memory would not do: the runs before leave pages
  // to the allocator, which the next size fills again, so that it seems to grow by nothing.
  double LiveBytes() const {
    return BytesInUse().value_or(static_cast<double>(guard_->BytesInUse()));
  }

  static void Record(ProfilePoint& point, const char* name, const char* unit, double value) {
    auto found = std::find_if(point.measurements.begin(), point.measurements.end(),
                              [name](const Measurement& one) { return one.name == name; });
    if (found == point.measurements.end()) {
      Measurement fresh;
      fresh.name = name;
      fresh.unit = unit;
      point.measurements.push_back(std::move(fresh));
      found = point.measurements.end() - 1;
    }
    found->repetitions.push_back(value);
  }

  const ProfileSubject& subject_;
  const MemoryGuard* const guard_;
  ProfileSeries series_;
  std::vector<std::pair<double, double>> seconds_;  // Each size with the median of its runs.
  std::vector<double> run_seconds_;                 // The runs of the current size.
  std::vector<std::pair<double, double>> bytes_;    // Each size with what its runs took at most.
  double run_bytes_ = 0;
};

void Keep(const std::vector<SeriesMeasurement>& all, const ProfilerOptions& options) {
  if (!options.keep) return;
  std::vector<ProfileSeries> finished;
  for (const SeriesMeasurement& series : all) finished.push_back(series.Finished());
  options.keep(std::move(finished));
}

void MeasureSize(std::vector<SeriesMeasurement>& all, uint64_t size, const ProfilerOptions& options,
                 Random& order, const ProfilerProgress& progress, ProfilerResult& result) {
  std::vector<SeriesMeasurement*> running;
  for (SeriesMeasurement& series : all) {
    series.BeginSize(size, options.run_seconds_max);
    if (!series.is_stopped()) running.push_back(&series);
  }
  for (uint64_t round = 1; round <= options.rounds; ++round) {
    order.Shuffle(running);
    for (SeriesMeasurement* series : running) {
      if (Interrupted()) break;
      progress(series->name(), size, round);
      if (series->is_stopped()) continue;
      try {
        series->RunOnce(&result.faults);
      } catch (const std::bad_alloc&) {
        series->StopWithoutMemory();
      }
      Keep(all, options);
    }
  }
  for (SeriesMeasurement* series : running) series->EndSize();
}

}  // namespace

double ForecastSeconds(const std::vector<std::pair<double, double>>& measured, double size) {
  if (measured.empty()) return 0;
  const auto [last_size, last_seconds] = measured.back();
  double exponent = 2;
  if (measured.size() >= 2) {
    const auto [size_before, seconds_before] = measured[measured.size() - 2];
    exponent = std::log(last_seconds / seconds_before) / std::log(last_size / size_before);
  }
  return last_seconds * std::pow(size / last_size, exponent);
}

double ForecastBytes(const std::vector<std::pair<double, double>>& measured, double size) {
  if (measured.size() < 2) return 0;
  const auto [last_size, last_bytes] = measured.back();
  const auto [size_before, bytes_before] = measured[measured.size() - 2];
  const double each = (last_bytes - bytes_before) / (last_size - size_before);
  return last_bytes + std::max(0.0, each) * (size - last_size);
}

ProfilerResult Profile(const ProfileKind& kind, const ProfilerOptions& options,
                       const ProfilerProgress& progress) {
  ProfilerResult result;
  Random order(options.seed);
  std::vector<SeriesMeasurement> all;
  all.reserve(kind.subjects.size());
  const MemoryGuard guard(options.memory_bytes_max);
  for (const ProfileSubject& subject : kind.subjects) all.emplace_back(subject, &guard);
  for (const uint64_t size : options.sizes) {
    if (!Interrupted()) MeasureSize(all, size, options, order, progress, result);
  }
  for (SeriesMeasurement& series : all) {
    if (options.samples_time && !Interrupted()) series.SampleTime();
    result.series.push_back(series.Finish());
  }
  return result;
}

}  // namespace schedq
