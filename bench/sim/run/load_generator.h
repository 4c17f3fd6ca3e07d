// When pods come and what is drawn for each: the load of an operation, from one seed.
//
// Threads: one an object.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/format/workload/load.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"

namespace schedq {

// The times of arrival since the start, in order. None for ArrivalProcess::kAtOnce.
std::vector<Duration> ArrivalTimes(const Arrivals& arrivals, int64_t count, Random random);

// Draws for one object after the other; what one draws is the same whatever the others are.
class Drawer {
 public:
  Drawer(const std::vector<Draw>& draws, const Random& random);

  // By name, for the next object.
  std::vector<std::pair<std::string, int64_t>> Next();

 private:
  struct Source {
    Draw draw;
    std::vector<Zipf> zipf;  // One for a Zipf draw, else none.
    int64_t weights_sum;
    Random random;
  };

  static int64_t DrawFrom(Source& source);

  std::vector<Source> sources_;
};

}  // namespace schedq
