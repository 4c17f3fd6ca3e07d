// The times at which an operation's pods arrive, and the numbers that are drawn for each pod:
// schedq's own addition to scheduler_perf's format.
//
// createPods has two more fields; the run's seed decides both:
//  arrivals: {process: constant | poisson | bursts, perSecond, burst}. Pods arrive at their own
//    times instead of as fast as the creators can. With skipWaitToCompletion the next operation
//    does not wait for their arrival.
//  draws: {NAME: DRAW, ...}. A number is drawn for each pod; its template reads the
//    number as .NAME.
//    A DRAW is {uniform: N} or {zipf: N, exponent: E}, which give a number from 0 to N - 1, or
//    {weights: [W, ...]}, which gives the index of a weight.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace schedq {

enum class ArrivalProcess : uint8_t {
  kAtOnce,    // As fast as the creators can.
  kConstant,  // Equally spaced.
  kPoisson,   // Exponential gaps.
  kBursts,    // `burst` pods at a time, and bursts equally spaced.
};

struct Arrivals {
  ArrivalProcess process = ArrivalProcess::kAtOnce;
  int64_t per_second = 0;  // On average.
  int64_t burst = 1;
};

struct Draw {
  enum class Kind : uint8_t { kUniform, kZipf, kWeights };

  std::string name;
  Kind kind = Kind::kUniform;
  int64_t values = 0;
  double exponent = 1;           // Only for kZipf.
  std::vector<int64_t> weights;  // Only for kWeights.
};

}  // namespace schedq
