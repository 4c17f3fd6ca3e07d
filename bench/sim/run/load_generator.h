// Generates the load of an operation from one seed: the arrivals of pods, and the draws for each.
//
// Threads: one an object.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/workload/load.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"

namespace schedq {

// The ascending times of arrival since the start. Empty for ArrivalProcess::kAtOnce.
std::vector<Duration> ArrivalTimes(const Arrivals& arrivals, int64_t count, Random random);

// Draws for one object after the other. The values of a draw do not depend on the other draws.
class Drawer {
 public:
  Drawer(const std::vector<Draw>& draws, const Random& random);

  // The values for the next object, by name.
  std::vector<std::pair<std::string, int64_t>> Next();

 private:
  struct Source {
    Draw draw;
    std::vector<Zipf> zipf;  // Has one element for a Zipf draw, else none.
    int64_t weights_sum;
    Random random;
  };

  static int64_t DrawFrom(Source& source);

  std::vector<Source> sources_;
};

}  // namespace schedq
