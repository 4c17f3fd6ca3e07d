#include "perf/documents/profile_document.h"

#include <cmath>
#include <utility>

#include "engine/base/result.h"
#include "perf/statistics/fit.h"

namespace schedq {
namespace {

struct FitPoints {
  std::vector<double> sizes;
  std::vector<double> costs;
  uint64_t size_count = 0;
};

FitPoints PointsOf(const ProfileSeries& series, const std::string& measurement) {
  FitPoints points;
  for (const ProfilePoint& point : series.points) {
    for (const Measurement& one : point.measurements) {
      if (one.name != measurement || one.repetitions.empty()) continue;
      ++points.size_count;
      for (const double cost : one.repetitions) {
        points.sizes.push_back(static_cast<double>(point.size));
        points.costs.push_back(cost);
      }
    }
  }
  return points;
}

}  // namespace

std::vector<ProfileFit> FitSeries(const ProfileSeries& series) {
  std::vector<ProfileFit> fits;
  if (series.points.empty()) return fits;
  for (const Measurement& first : series.points.front().measurements) {
    const FitPoints points = PointsOf(series, first.name);
    if (points.size_count < 3) continue;
    const Result<LineFit> line = FitLogLog(points.sizes, points.costs);
    if (!line.ok()) continue;
    ProfileFit fit;
    fit.measurement = first.name;
    fit.size_min = static_cast<uint64_t>(points.sizes.front());
    fit.size_max = static_cast<uint64_t>(points.sizes.back());
    fit.points = line->points;
    fit.exponent = line->slope;
    fit.exponent_low = line->slope_interval.low;
    fit.exponent_high = line->slope_interval.high;
    fit.confidence = line->confidence;
    fit.factor = std::exp(line->intercept);
    fit.r_squared = line->r_squared;
    fits.push_back(std::move(fit));
  }
  return fits;
}

}  // namespace schedq
