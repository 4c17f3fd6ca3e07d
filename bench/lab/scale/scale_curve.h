// From counts to time: the curve of each contestant over the number of threads.
//
// Purpose: `schedq scale`. What an operation moves between cores is counted on virtual threads
// (virtual_team.h). With the machine's figures (bench/lab/floor) that becomes a prediction:
//
//   alone    = updates x uncontended atomic + lines x cache miss        of one thread
//   time     = measured alone + transfers x line transfer               of one of N threads
//   serial   = hottest line's transfers x line transfer [+ measured alone, under one lock]
//   ns/op    = max(time / N, serial)                                    of N threads, wall time
//
// The measured time of one thread stands for all that is computed and does not move. At one and two
// threads the prediction stands beside the measurement of the same run.
// When not to use it: for what a machine with several sockets would do: a transfer costs the same
// between any two cores here.
// Threads: one; measurements start threads of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/lab/scale/cache_lines.h"
#include "bench/lab/scale/scale_path.h"
#include "perf/documents/scale_document.h"
#include "perf/statistics/measurement.h"

namespace schedq::scale {

inline constexpr uint32_t kThreadCounts[] = {1, 2, 4, 8, 16, 32, 64, 128};

// All contestants, those of one path behind each other.
std::vector<ScaleContestant> AllContestants();

// What a unit of each kind costs here, from the floor's probes.
struct UnitCosts {
  double atomic_ns = 0;
  double miss_ns = 0;
  double transfer_ns = 0;
};
// Nothing: one of them could not be measured here, such as a transfer on one core.
std::optional<UnitCosts> UnitCostsFrom(const std::vector<Measurement>& floor);

// The counts an operation.
ScalePoint PointOf(uint32_t threads, const LineCounts& counts);

// The time that follows from the counts. `alone_ns` is what was measured at one thread.
ScaleTime Predict(const UnitCosts& costs, double alone_ns, bool is_serial, const ScalePoint& point);

struct CurveOptions {
  uint64_t operations = 0;  // On virtual threads, at each number of them.
  uint64_t measured_operations = 0;
  uint32_t rounds = 5;  // Of each measurement; the median counts.
  uint64_t seed = 1;
  std::optional<UnitCosts> costs;  // Nothing: no predictions.
};

// Called before each number of threads.
using CurveProgress = std::function<void(uint32_t threads)>;

struct DrawnCurve {
  ScaleCurve counts;
  ScaleTimes times;
};

// An interrupt ends it; what was counted stays.
DrawnCurve DrawCurve(const ScaleContestant& contestant, const CurveOptions& options,
                     const CurveProgress& progress);

}  // namespace schedq::scale
