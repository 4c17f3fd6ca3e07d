#include "bench/lab/profile/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "bench/allocation_meter.h"
#include "bench/interrupt.h"
#include "bench/lab/profile/time_sampler.h"
#include "engine/base/random.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

// A subject and what is known of it so far.
class Course {
 public:
  explicit Course(const ProfileSubject& subject) : subject_(subject) {
    series_.name = subject.name;
    series_.operation = subject.operation;
  }

  bool is_stopped() const { return !series_.stopped.empty(); }
  const std::string& name() const { return subject_.name; }

  // Decides whether this size is worth it.
  void Begin(uint64_t size, double seconds_max) {
    if (is_stopped()) return;
    const double forecast = ForecastSeconds(seconds_, static_cast<double>(size));
    if (forecast > seconds_max) {
      series_.stopped = fmt::format("{} would take about {} a run, beyond the limit of {:g} s",
                                    CountText(size), DurationText(forecast * 1e9), seconds_max);
      return;
    }
    series_.points.emplace_back().size = size;
    run_seconds_.clear();
  }

  void RunOnce(std::vector<std::string>* faults) {
    ProfilePoint& point = series_.points.back();
    const MeasuredPathRef path = subject_.prepare(point.size, 0);
    const AllocationMeter meter;
    const auto started = std::chrono::steady_clock::now();
    path->Run();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    const std::optional<Allocations> taken = meter.SinceStart();
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

  void End() {
    if (series_.points.empty()) return;
    if (run_seconds_.empty()) {
      series_.points.pop_back();
    } else {
      seconds_.emplace_back(series_.points.back().size, Median(run_seconds_));
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

  ProfileSeries Take() {
    series_.fits = FitSeries(series_);
    return std::move(series_);
  }

 private:
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
  ProfileSeries series_;
  std::vector<std::pair<double, double>> seconds_;  // Of a run, by size.
  std::vector<double> run_seconds_;                 // Of the size under way.
};

void MeasureSize(std::vector<Course>& courses, uint64_t size, const ProfilerOptions& options,
                 Random& order, const ProfilerProgress& progress, ProfilerResult& result) {
  std::vector<Course*> turns;
  for (Course& course : courses) {
    course.Begin(size, options.run_seconds_max);
    if (!course.is_stopped()) turns.push_back(&course);
  }
  for (uint64_t round = 1; round <= options.rounds; ++round) {
    order.Shuffle(turns);
    for (Course* course : turns) {
      if (Interrupted()) break;
      progress(course->name(), size, round);
      course->RunOnce(&result.faults);
    }
  }
  for (Course* course : turns) course->End();
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

ProfilerResult Profile(const ProfileKind& kind, const ProfilerOptions& options,
                       const ProfilerProgress& progress) {
  ProfilerResult result;
  Random order(options.seed);
  std::vector<Course> courses;
  courses.reserve(kind.subjects.size());
  for (const ProfileSubject& subject : kind.subjects) courses.emplace_back(subject);
  for (const uint64_t size : options.sizes) {
    if (!Interrupted()) MeasureSize(courses, size, options, order, progress, result);
  }
  for (Course& course : courses) {
    if (options.samples_time && !Interrupted()) course.SampleTime();
    result.series.push_back(course.Take());
  }
  return result;
}

}  // namespace schedq
