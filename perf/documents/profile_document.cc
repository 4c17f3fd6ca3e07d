#include "perf/documents/profile_document.h"

#include <cmath>

namespace schedq {
namespace {

struct Cloud {
  std::vector<double> sizes;
  std::vector<double> costs;
  uint64_t size_count = 0;
};

Cloud CloudOf(const ProfileSeries& series, const std::string& measurement) {
  Cloud cloud;
  for (const ProfilePoint& point : series.points) {
    for (const Measurement& one : point.measurements) {
      if (one.name != measurement || one.repetitions.empty()) continue;
      ++cloud.size_count;
      for (const double cost : one.repetitions) {
        cloud.sizes.push_back(static_cast<double>(point.size));
        cloud.costs.push_back(cost);
      }
    }
  }
  return cloud;
}

}  // namespace

std::vector<ProfileFit> FitSeries(const ProfileSeries& series) {
  std::vector<ProfileFit> fits;
  if (series.points.empty()) return fits;
  for (const Measurement& first : series.points.front().measurements) {
    const Cloud cloud = CloudOf(series, first.name);
    if (cloud.size_count < 3) continue;
    const Result<LineFit> line = FitLogLog(cloud.sizes, cloud.costs);
    if (!line.ok()) continue;
    ProfileFit fit;
    fit.measurement = first.name;
    fit.size_min = static_cast<uint64_t>(cloud.sizes.front());
    fit.size_max = static_cast<uint64_t>(cloud.sizes.back());
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
