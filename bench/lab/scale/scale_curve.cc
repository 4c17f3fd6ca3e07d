#include "bench/lab/scale/scale_curve.h"

#include <algorithm>
#include <utility>

#include "bench/interrupt.h"
#include "bench/lab/scale/cache_lines.h"
#include "perf/statistics/summary.h"

namespace schedq::scale {
namespace {

// The median of the measurement of this name, of the largest working set where there are several.
std::optional<double> MedianOf(const std::vector<Measurement>& floor, const std::string& name) {
  std::optional<double> median;
  uint64_t largest = 0;
  for (const Measurement& one : floor) {
    if (one.name != name || one.repetitions.empty()) continue;
    const auto bytes = one.parameters.find("bytes");
    const uint64_t size = bytes == one.parameters.end() ? 0 : bytes->second;
    if (median && size < largest) continue;
    largest = size;
    median = Summarize(one.repetitions).median;
  }
  return median;
}

double MeasureMedian(const ScaleContestant& contestant, const PathSize& size, uint32_t rounds) {
  std::vector<double> times;
  for (uint32_t round = 0; round < rounds && !Interrupted(); ++round) {
    times.push_back(contestant.measure(size));
  }
  return times.empty() ? 0 : Summarize(times).median;
}

}  // namespace

std::vector<ScaleContestant> AllContestants() {
  std::vector<ScaleContestant> contestants;
  AddPairsPath(&contestants);
  AddPodPaths(&contestants);
  AddClaimsPath(&contestants);
  AddCallsPath(&contestants);
  return contestants;
}

std::optional<UnitCosts> UnitCostsFrom(const std::vector<Measurement>& floor) {
  const std::optional<double> atomic = MedianOf(floor, "atomic_add_uncontended");
  const std::optional<double> miss = MedianOf(floor, "random_miss");
  const std::optional<double> transfer = MedianOf(floor, "line_transfer_one_way");
  if (!atomic || !miss || !transfer) return std::nullopt;
  return UnitCosts{*atomic, *miss, *transfer};
}

ScalePoint PointOf(uint32_t threads, const LineCounts& counts) {
  const auto operations = static_cast<double>(std::max<uint64_t>(counts.operations, 1));
  const auto each = [&](uint64_t count) { return static_cast<double>(count) / operations; };
  return {.threads = threads,
          .operations = counts.operations,
          .transfers = each(counts.transfers),
          .invalidations = each(counts.invalidations),
          .updates = each(counts.updates),
          .contended_updates = each(counts.contended_updates),
          .retries = each(counts.retries),
          .lines = each(counts.lines),
          .hottest_transfers = each(counts.hottest_transfers)};
}

ScaleTime Predict(const UnitCosts& costs, double alone_ns, bool is_serial,
                  const ScalePoint& point) {
  ScaleTime time;
  time.threads = point.threads;
  if (point.threads == 1) {
    time.predicted_ns = point.updates * costs.atomic_ns + point.lines * costs.miss_ns;
    return time;
  }
  const auto threads = static_cast<double>(point.threads);
  const double of_one_ns = alone_ns + point.transfers * costs.transfer_ns;
  time.serial_ns = point.hottest_transfers * costs.transfer_ns + (is_serial ? alone_ns : 0);
  time.predicted_ns = std::max(of_one_ns / threads, *time.serial_ns);
  return time;
}

DrawnCurve DrawCurve(const ScaleContestant& contestant, const CurveOptions& options,
                     const CurveProgress& progress) {
  constexpr uint32_t kMeasuredThreadsMax = 2;
  DrawnCurve curve{.counts = {.path = contestant.path,
                              .contestant = contestant.name,
                              .role = contestant.role,
                              .operation = contestant.operation,
                              .points = {}},
                   .times = {contestant.path, contestant.name, {}}};
  double alone_ns = 0;
  for (const uint32_t threads : kThreadCounts) {
    if (Interrupted()) break;
    progress(threads);
    const LineCounts counts = contestant.count({threads, options.operations, options.seed});
    curve.counts.points.push_back(PointOf(threads, counts));
    if (!options.costs) continue;
    std::optional<double> measured_ns;
    if (threads <= kMeasuredThreadsMax) {
      const PathSize size{threads, options.measured_operations, options.seed};
      measured_ns = MeasureMedian(contestant, size, options.rounds);
    }
    if (Interrupted()) break;
    if (threads == 1) alone_ns = *measured_ns;
    ScaleTime time =
        Predict(*options.costs, alone_ns, contestant.is_serial, curve.counts.points.back());
    time.measured_ns = measured_ns;
    if (measured_ns) time.error = time.predicted_ns / *measured_ns - 1;
    curve.times.points.push_back(time);
  }
  return curve;
}

}  // namespace schedq::scale
