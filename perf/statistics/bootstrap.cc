#include "perf/statistics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "perf/statistics/distribution.h"
#include "perf/statistics/summary.h"

namespace schedq {
namespace {

// Draws resamples of one sample and returns their medians. It keeps its buffer, so that a resample
// does not allocate.
class MedianResampler {
 public:
  explicit MedianResampler(std::span<const double> sample)
      : sample_(sample), drawn_(sample.size()) {}

  double Next(Random& random) {
    for (double& value : drawn_) value = sample_[random.Below(sample_.size())];
    const auto middle = drawn_.begin() + static_cast<std::ptrdiff_t>(drawn_.size() / 2);
    std::nth_element(drawn_.begin(), middle, drawn_.end());
    if (drawn_.size() % 2 == 1) return *middle;
    return (*std::max_element(drawn_.begin(), middle) + *middle) / 2;
  }

 private:
  std::span<const double> sample_;
  std::vector<double> drawn_;
};

// The medians of the sample without each of its values in turn.
std::vector<double> MediansLeavingOneOut(std::span<const double> sample) {
  const std::vector<double> sorted = Sorted(sample);
  std::vector<double> medians;
  medians.reserve(sorted.size());
  std::vector<double> rest(sorted.begin() + 1, sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    medians.push_back(QuantileOfSorted(rest, 0.5));
    if (i < rest.size()) rest[i] = sorted[i];  // Puts value i back and leaves i + 1 out.
  }
  return medians;
}

// Sums of the second and third powers of influence, over one or two samples.
struct Influence {
  double squares = 0;
  double cubes = 0;

  // `left_out` are the statistic's values without each value of one sample in turn.
  void Add(std::span<const double> left_out) {
    const double mean = Mean(left_out);
    const auto size = static_cast<double>(left_out.size());
    for (const double value : left_out) {
      const double share = (mean - value) * (size - 1) / size;
      squares += share * share;
      cubes += share * share * share;
    }
  }
  double Acceleration() const { return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0; }
};

// The place of an interval's end among the sorted resampled statistics, as a fraction.
double CorrectedFraction(double fraction, double bias, double acceleration) {
  const double shifted = bias + NormalQuantile(fraction);
  return NormalCdf(bias + shifted / (1 - acceleration * shifted));
}

Interval IntervalOf(std::vector<double>& resampled, double estimate, double acceleration,
                    const BootstrapOptions& options) {
  std::sort(resampled.begin(), resampled.end());
  double low = (1 - options.confidence) / 2;
  double high = 1 - low;
  const auto [first, last] = std::equal_range(resampled.begin(), resampled.end(), estimate);
  // A median has few distinct values. Resamples equal to the estimate count half on either side.
  const double below = (static_cast<double>(first - resampled.begin()) +
                        static_cast<double>(last - resampled.begin())) /
                       2 / static_cast<double>(resampled.size());
  if (options.method == BootstrapMethod::kBiasCorrected && below > 0 && below < 1) {
    const double bias = NormalQuantile(below);
    low = CorrectedFraction(low, bias, acceleration);
    high = CorrectedFraction(high, bias, acceleration);
  }
  return {QuantileOfSorted(resampled, low), QuantileOfSorted(resampled, high)};
}

void CheckOptions(const BootstrapOptions& options) {
  SCHEDQ_CHECK(options.resamples > 0, "a bootstrap needs resamples");
  SCHEDQ_CHECK(options.confidence > 0 && options.confidence < 1, "a confidence lies in (0, 1)");
}

}  // namespace

Interval MedianInterval(std::span<const double> sample, const BootstrapOptions& options) {
  CheckOptions(options);
  const double estimate = Median(sample);
  if (sample.size() < 2) return {estimate, estimate};
  Random random(options.seed);
  MedianResampler resampler(sample);
  std::vector<double> resampled(options.resamples);
  for (double& value : resampled) value = resampler.Next(random);
  Influence influence;
  influence.Add(MediansLeavingOneOut(sample));
  return IntervalOf(resampled, estimate, influence.Acceleration(), options);
}

Interval MedianRatioInterval(std::span<const double> base, std::span<const double> next,
                             const BootstrapOptions& options) {
  CheckOptions(options);
  for (const double value : base) SCHEDQ_CHECK(value > 0, "a ratio needs positive values");
  for (const double value : next) SCHEDQ_CHECK(value > 0, "a ratio needs positive values");
  const double base_median = Median(base);
  const double next_median = Median(next);
  Random random(options.seed);
  MedianResampler base_resampler(base);
  MedianResampler next_resampler(next);
  std::vector<double> resampled(options.resamples);
  for (double& ratio : resampled) {
    const double denominator = base_resampler.Next(random);
    ratio = next_resampler.Next(random) / denominator;
  }
  Influence influence;
  if (base.size() > 1) {
    std::vector<double> left_out = MediansLeavingOneOut(base);
    for (double& value : left_out) value = next_median / value;
    influence.Add(left_out);
  }
  if (next.size() > 1) {
    std::vector<double> left_out = MediansLeavingOneOut(next);
    for (double& value : left_out) value /= base_median;
    influence.Add(left_out);
  }
  return IntervalOf(resampled, next_median / base_median, influence.Acceleration(), options);
}

}  // namespace schedq
