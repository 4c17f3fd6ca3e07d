#include "bench/lab/profile/instruction_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "bench/interrupt.h"
#include "bench/lab/profile/callgrind.h"
#include "perf/statistics/measurement.h"
#include "perf/statistics/summary.h"
#include "perf/text/pattern.h"

namespace schedq {
namespace {

// Counting is some fifty times slower than running, so a run of this length takes seconds.
constexpr double kCountedNanosecondsMax = 50e6;
constexpr double kCountedOperationsMin = 10;
// So many operations that the first one's work, which is done once, hardly counts.
constexpr double kCountedOperationsMax = 10'000;

const char* const kOperationsLabel = "operations: ";

const char* const kInstructions = "instructions";

std::optional<double> MedianOf(const char* name, const ProfilePoint& point) {
  for (const Measurement& one : point.measurements) {
    if (one.name == name) return Median(one.repetitions);
  }
  return std::nullopt;
}

const ProfileSeries* FindSeries(const std::string& name, const std::vector<ProfileSeries>& all) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ProfileSeries& series) { return series.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::optional<double> InstructionsAt(uint64_t size, const ProfileSeries& series) {
  for (const ProfilePoint& point : series.points) {
    if (point.size == size) return MedianOf(kInstructions, point);
  }
  return std::nullopt;
}

uint64_t OperationsToCount(const ProfilePoint& point) {
  const double fitting =
      kCountedNanosecondsMax / std::max(MedianOf("time", point).value_or(0), 1.0);
  return static_cast<uint64_t>(std::clamp(fitting, kCountedOperationsMin, kCountedOperationsMax));
}

}  // namespace

std::string RunOnceText(const PathOutcome& outcome) {
  return fmt::format("{}{}\npods judged: {}\nanswer: {}\n", kOperationsLabel, outcome.operations,
                     outcome.pods_judged, outcome.fault == nullptr ? "right" : outcome.fault);
}

Result<uint64_t> OperationsOf(const std::string& run_once_text) {
  unsigned long long operations = 0;
  const bool starts = run_once_text.starts_with(kOperationsLabel);
  const std::string number =
      starts ? run_once_text.substr(std::string(kOperationsLabel).size()) : std::string();
  if (std::sscanf(number.c_str(), "%llu\n", &operations) != 1 || operations == 0) {
    return Error(fmt::format("--run-once: expected '{}N' in '{}'", kOperationsLabel,
                             run_once_text.substr(0, 40)));
  }
  return uint64_t{operations};
}

Status AddInstructions(
    const std::string& kind, ProfilerResult* result,
    const std::function<void(const std::string& subject, uint64_t size)>& progress) {
  std::error_code ignored;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  for (ProfileSeries& series : result->series) {
    HotSpots spots;
    for (ProfilePoint& point : series.points) {
      if (Interrupted()) return Status::Ok();
      progress(series.name, point.size);
      std::string output;
      Result<InstructionCount> count =
          CountInstructions({program, "profile", kind, "--run-once", "--only",
                             PatternOfExactly(series.name), "--sizes", std::to_string(point.size),
                             "--operations", std::to_string(OperationsToCount(point))},
                            &output);
      if (!count.ok()) return Interrupted() ? Status::Ok() : Status(count.error());
      const Result<uint64_t> operations = OperationsOf(output);
      if (!operations.ok()) return operations.error();
      const double each =
          static_cast<double>(count->instructions) / static_cast<double>(*operations);
      point.measurements.push_back({.name = kInstructions,
                                    .about = fmt::format("Over {} operations.", *operations),
                                    .unit = "instructions",
                                    .parameters = {},
                                    .repetitions = {each}});
      spots = std::move(count->spots);
      spots.size = point.size;
    }
    if (!spots.functions.empty()) series.hot_spots.push_back(std::move(spots));
    series.fits = FitSeries(series);
  }
  return Status::Ok();
}

std::vector<PromiseVerdict> JudgeInstructions(const std::vector<InstructionPromise>& promises,
                                              const std::vector<ProfileSeries>& series) {
  std::vector<PromiseVerdict> verdicts;
  for (const InstructionPromise& promise : promises) {
    const ProfileSeries* const judged = FindSeries(promise.series, series);
    const bool is_own_base = promise.base.empty();
    const ProfileSeries* const base = is_own_base ? judged : FindSeries(promise.base, series);
    if (judged == nullptr || base == nullptr) continue;
    for (const ProfilePoint& point : judged->points) {
      const uint64_t base_size = is_own_base ? judged->points.front().size : point.size;
      const std::optional<double> cost = MedianOf(kInstructions, point);
      const std::optional<double> base_cost = InstructionsAt(base_size, *base);
      if (!cost || !base_cost || (is_own_base && point.size == base_size)) continue;
      const double cost_max = *base_cost * promise.factor_max + promise.extra_max;
      verdicts.push_back(
          {.proposal = promise.proposal,
           .holds = *cost <= cost_max,
           .line = fmt::format(
               "{} at {} takes {:.1f} instructions, {} at {} {:.1f}: at most {:.1f}",
               promise.series, point.size, *cost, base->name, base_size, *base_cost, cost_max)});
    }
  }
  return verdicts;
}

}  // namespace schedq
