#include "perf/statistics/fit.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "perf/statistics/distribution.h"
#include "perf/statistics/summary.h"

namespace schedq {
namespace {

struct Moments {
  double mean_x = 0;
  double mean_y = 0;
  double xx = 0;  // Sums of products of deviations from the means.
  double xy = 0;
  double yy = 0;
};

Moments MomentsOf(std::span<const double> x, std::span<const double> y) {
  Moments moments;
  moments.mean_x = Mean(x);
  moments.mean_y = Mean(y);
  for (size_t i = 0; i < x.size(); ++i) {
    const double dx = x[i] - moments.mean_x;
    const double dy = y[i] - moments.mean_y;
    moments.xx += dx * dx;
    moments.xy += dx * dy;
    moments.yy += dy * dy;
  }
  return moments;
}

Result<std::vector<double>> Logarithms(std::span<const double> values, const char* what) {
  std::vector<double> logarithms;
  logarithms.reserve(values.size());
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) {
      return Error(std::string("log-log fit: expected positive finite ") + what + ", got " +
                   std::to_string(value));
    }
    logarithms.push_back(std::log(value));
  }
  return logarithms;
}

}  // namespace

Result<LineFit> FitLine(std::span<const double> x, std::span<const double> y, double confidence) {
  SCHEDQ_CHECK(x.size() == y.size(), "a fit needs as many y as x");
  SCHEDQ_CHECK(confidence > 0 && confidence < 1, "a confidence lies in (0, 1)");
  if (x.size() < 3) {
    return Error("fit: expected at least three points, got " + std::to_string(x.size()));
  }
  const Moments moments = MomentsOf(x, y);
  if (!(moments.xx > 0)) return Error("fit: expected at least two different sizes");
  LineFit fit;
  fit.points = x.size();
  fit.confidence = confidence;
  fit.slope = moments.xy / moments.xx;
  fit.intercept = moments.mean_y - fit.slope * moments.mean_x;
  double residual = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = y[i] - fit.intercept - fit.slope * x[i];
    residual += error * error;
  }
  const auto freedom = static_cast<double>(x.size() - 2);
  fit.slope_standard_error = std::sqrt(residual / freedom / moments.xx);
  const double half = StudentTQuantile((1 + confidence) / 2, freedom) * fit.slope_standard_error;
  fit.slope_interval = {fit.slope - half, fit.slope + half};
  if (moments.yy > 0) fit.r_squared = 1 - residual / moments.yy;
  return fit;
}

Result<LineFit> FitLogLog(std::span<const double> x, std::span<const double> y, double confidence) {
  const Result<std::vector<double>> log_x = Logarithms(x, "sizes");
  if (!log_x.ok()) return log_x.error();
  const Result<std::vector<double>> log_y = Logarithms(y, "costs");
  if (!log_y.ok()) return log_y.error();
  return FitLine(*log_x, *log_y, confidence);
}

double PowerAt(const LineFit& fit, double x) {
  return std::exp(fit.intercept + fit.slope * std::log(x));
}

FitVerdict SlopeAtMost(const LineFit& fit, double bound) {
  if (fit.slope_interval.high <= bound) return FitVerdict::kYes;
  if (fit.slope_interval.low > bound) return FitVerdict::kNo;
  return FitVerdict::kUnclear;
}

}  // namespace schedq
