#include "perf/statistics/change_points.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/base/random.h"
#include "engine/base/result.h"

namespace schedq {
namespace {

// Sums of the distances between all values of any two ranges.
class Distances {
 public:
  explicit Distances(std::span<const double> values)
      : width_(values.size() + 1), sums_(width_ * width_, 0.0) {
    for (size_t i = 0; i < values.size(); ++i) {
      double row = 0;
      for (size_t j = 0; j < values.size(); ++j) {
        row += std::abs(values[i] - values[j]);
        sums_[(i + 1) * width_ + j + 1] = sums_[i * width_ + j + 1] + row;
      }
    }
  }

  // Over each value of [begin, end) with each of [from, to).
  double Sum(size_t begin, size_t end, size_t from, size_t to) const {
    return At(end, to) - At(begin, to) - At(end, from) + At(begin, from);
  }

 private:
  double At(size_t row, size_t column) const { return sums_[row * width_ + column]; }

  const size_t width_;
  std::vector<double> sums_;
};

// How far [0, at) and [at, end) are from being of one distribution, scaled by their sizes.
double Divergence(const Distances& distances, size_t at, size_t end) {
  const auto left = static_cast<double>(at);
  const auto right = static_cast<double>(end - at);
  const double between = 2 * distances.Sum(0, at, at, end) / (left * right);
  const double within_left = distances.Sum(0, at, 0, at) / (left * (left - 1));
  const double within_right = distances.Sum(at, end, at, end) / (right * (right - 1));
  return left * right / (left + right) * (between - within_left - within_right);
}

struct Split {
  size_t at = 0;
  double divergence = -1;
};

// The most divergent place; nullopt: the segment is too short to have one. What lies behind `end`
// is left out, because a change that is taken back would hide itself.
std::optional<Split> BestSplit(std::span<const double> values, size_t segment_min) {
  if (values.size() < 2 * segment_min) return std::nullopt;
  const Distances distances(values);
  Split best;
  for (size_t at = segment_min; at + segment_min <= values.size(); ++at) {
    for (size_t end = at + segment_min; end <= values.size(); ++end) {
      const double divergence = Divergence(distances, at, end);
      if (divergence > best.divergence) best = {at, divergence};
    }
  }
  return best;
}

// Stops as soon as the answer is known to be no.
double PermutationP(std::span<const double> values, const Split& split,
                    const ChangePointOptions& options, Random* random) {
  const auto all = static_cast<double>(options.permutations + 1);
  std::vector<double> shuffled(values.begin(), values.end());
  double as_far = 1;
  for (uint64_t i = 0; i < options.permutations && as_far / all <= options.significance; ++i) {
    random->Shuffle(shuffled);
    // Rounding must not make an equal order look nearer.
    const double slack = 1e-9 * (1 + std::abs(split.divergence));
    const std::optional<Split> other = BestSplit(shuffled, options.segment_min);
    if (other && other->divergence >= split.divergence - slack) ++as_far;
  }
  return as_far / all;
}

class Search {
 public:
  Search(std::span<const double> series, const ChangePointOptions& options)
      : series_(series), options_(options), random_(options.seed) {}

  std::vector<ChangePoint> Run() {
    Divide();
    std::sort(
        points_.begin(), points_.end(),
        [](const ChangePoint& left, const ChangePoint& right) { return left.index < right.index; });
    return std::move(points_);
  }

 private:
  void Divide() {
    std::vector<std::pair<size_t, size_t>> segments = {{0, series_.size()}};
    while (!segments.empty()) {
      const auto [from, to] = segments.back();
      segments.pop_back();
      const std::span<const double> values = series_.subspan(from, to - from);
      const std::optional<Split> split = BestSplit(values, options_.segment_min);
      if (!split || split->divergence <= 0) continue;
      const double p = PermutationP(values, *split, options_, &random_);
      if (p > options_.significance) continue;
      points_.push_back({from + split->at, p});
      segments.emplace_back(from + split->at, to);
      segments.emplace_back(from, from + split->at);
    }
  }

  const std::span<const double> series_;
  const ChangePointOptions options_;
  Random random_;
  std::vector<ChangePoint> points_;
};

}  // namespace

std::vector<ChangePoint> FindChangePoints(std::span<const double> series,
                                          const ChangePointOptions& options) {
  SCHEDQ_CHECK(series.size() <= kSeriesMax, "a series is bounded");
  SCHEDQ_CHECK(options.segment_min >= 2, "a segment has distances within");
  return Search(series, options).Run();
}

}  // namespace schedq
