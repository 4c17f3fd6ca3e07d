#include "bench/sim/run/load_generator.h"

#include <cstddef>
#include <numeric>

namespace schedq {

std::vector<Duration> ArrivalTimes(const Arrivals& arrivals, int64_t count, Random random) {
  std::vector<Duration> times;
  if (arrivals.process == ArrivalProcess::kAtOnce) return times;
  const double gap =
      static_cast<double>(kSecond.count()) / static_cast<double>(arrivals.per_second);
  double at = 0;
  for (int64_t i = 0; i < count; ++i) {
    switch (arrivals.process) {
      case ArrivalProcess::kAtOnce:
        break;
      case ArrivalProcess::kConstant:
        at = gap * static_cast<double>(i);
        break;
      case ArrivalProcess::kPoisson:
        at += random.Exponential(gap);
        break;
      case ArrivalProcess::kBursts:
        at = gap * static_cast<double>(i - i % arrivals.burst);
        break;
    }
    times.emplace_back(static_cast<int64_t>(at));
  }
  return times;
}

Drawer::Drawer(const std::vector<Draw>& draws, const Random& random) {
  for (size_t i = 0; i < draws.size(); ++i) {
    const Draw& draw = draws[i];
    Source source{draw, {}, 0, random.Fork(i)};
    if (draw.kind == Draw::Kind::kZipf) {
      source.zipf.emplace_back(static_cast<size_t>(draw.values), draw.exponent);
    }
    source.weights_sum = std::accumulate(draw.weights.begin(), draw.weights.end(), int64_t{0});
    sources_.push_back(std::move(source));
  }
}

int64_t Drawer::DrawFrom(Source& source) {
  switch (source.draw.kind) {
    case Draw::Kind::kUniform:
      return static_cast<int64_t>(source.random.Below(static_cast<uint64_t>(source.draw.values)));
    case Draw::Kind::kZipf:
      return static_cast<int64_t>(source.zipf[0].Draw(source.random));
    case Draw::Kind::kWeights:
      break;
  }
  auto point = static_cast<int64_t>(source.random.Below(static_cast<uint64_t>(source.weights_sum)));
  int64_t place = 0;
  for (const int64_t weight : source.draw.weights) {
    if (point < weight) break;
    point -= weight;
    ++place;
  }
  return place;
}

std::vector<std::pair<std::string, int64_t>> Drawer::Next() {
  std::vector<std::pair<std::string, int64_t>> drawn;
  drawn.reserve(sources_.size());
  for (Source& source : sources_) drawn.emplace_back(source.draw.name, DrawFrom(source));
  return drawn;
}

}  // namespace schedq
