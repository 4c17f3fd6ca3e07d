#include "perf/statistics/distribution.h"

#include <cmath>
#include <limits>

#include "engine/base/result.h"

namespace schedq {
namespace {

// The continued fraction of the incomplete beta function. It converges in O(sqrt(max(a, b)))
// steps for x below (a + 1) / (a + b + 2); the bound on its steps is far beyond what t needs.
double BetaContinuedFraction(double a, double b, double x) {
  constexpr int kSteps = 10'000;
  constexpr double kTiny = std::numeric_limits<double>::min() * 1e10;
  constexpr double kPrecision = 1e-16;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < kPrecision) break;
  }
  return fraction;
}

double RegularizedBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * BetaContinuedFraction(a, b, x) / a;
  return 1 - front * BetaContinuedFraction(b, a, 1 - x) / b;
}

// The value at which an increasing function reaches `target`. Callers with a symmetric distribution
// search only the lower half, where small probabilities keep their precision.
template <typename Cdf>
double SymmetricQuantile(double probability, Cdf cdf) {
  SCHEDQ_CHECK(probability > 0 && probability < 1, "a quantile's probability lies in (0, 1)");
  if (probability == 0.5) return 0;
  const double target = probability < 0.5 ? probability : 1 - probability;
  double low = -1;
  while (cdf(low) > target) low *= 2;
  double high = 0;
  constexpr int kHalvings = 80;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (cdf(middle) < target ? low : high) = middle;
  }
  return probability < 0.5 ? low : -low;
}

}  // namespace

double NormalCdf(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

double NormalQuantile(double probability) { return SymmetricQuantile(probability, NormalCdf); }

double StudentTCdf(double t, double degrees_of_freedom) {
  SCHEDQ_CHECK(degrees_of_freedom > 0, "degrees of freedom are positive");
  const double x = degrees_of_freedom / (degrees_of_freedom + t * t);
  const double tail = RegularizedBeta(degrees_of_freedom / 2, 0.5, x) / 2;
  return t < 0 ? tail : 1 - tail;
}

double StudentTQuantile(double probability, double degrees_of_freedom) {
  return SymmetricQuantile(
      probability, [degrees_of_freedom](double t) { return StudentTCdf(t, degrees_of_freedom); });
}

}  // namespace schedq
