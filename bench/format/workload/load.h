// When the pods of an operation come and how they differ: what schedq adds to scheduler_perf's
// format.
//
// createPods takes two fields more, both seeded by the run:
//  arrivals: {process: constant | poisson | bursts, perSecond, burst}: pods come at their own times
//    instead of as fast as the creators can; with skipWaitToCompletion the next operation does not
//    wait for them to come.
//  draws: {NAME: DRAW, ...}: a number that is drawn for each pod, which its template knows as
//  .NAME.
//    A DRAW is {uniform: N} or {zipf: N, exponent: E}, from 0 to N - 1, or {weights: [W, ...]}, the
//    place of a weight.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace schedq {

enum class ArrivalProcess : uint8_t {
  kAtOnce,    // As fast as the creators can.
  kConstant,  // Equally spaced.
  kPoisson,   // Exponential gaps.
  kBursts,    // `burst` pods at a time, the bursts equally spaced.
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
  double exponent = 1;           // Of kZipf.
  std::vector<int64_t> weights;  // Of kWeights.
};

}  // namespace schedq
