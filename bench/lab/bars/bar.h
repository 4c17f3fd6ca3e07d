// A bar: the limit that a path of the product must hold, and the judgement whether it does.
//
// Purpose: the table of bars as data. Each bar names a group of `schedq bench`, whose contestants
// run interleaved. Judging is a pure function of the group's measurements.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/lab/paths/measured_path.h"
#include "perf/documents/bars_document.h"
#include "perf/documents/bench_document.h"
#include "perf/statistics/measurement.h"

namespace schedq {

enum class BarKind : uint8_t {
  kAtMost,        // The product's value is at most the limit.
  kTimesRival,    // The best rival's value is at least the limit times the product's.
  kTimesControl,  // The product's value is at most the limit times the control's.
};

// A part of the least time that the machine needs: a count of something that `schedq floor`
// measures.
struct FloorTerm {
  double count = 0;        // Times the probe's operation is needed; bytes for "sequential_read".
  const char* probe = "";  // The probe's name, such as "random_miss".
  uint64_t bytes = 0;      // The probe's working set, where it has one.
};

struct Bar {
  std::string path;
  std::string at;
  std::string group;    // The group's name in `schedq bench --list`.
  std::string product;  // The contestant that is judged; empty: the one with the role of product.
  BarKind kind = BarKind::kAtMost;
  double limit = 0;
  std::vector<FloorTerm> allowance;  // The limit is raised by the machine's time for these.
  std::optional<double> aim;         // A stricter limit that is aimed at.
  std::string aim_text;              // The aim in words; empty: the words follow from `aim`.
  std::string unit = "ns";
  double divisor = 1;  // The group's value is divided by this, to be per operation of the bar.
  bool beats_classic = false;  // The product must also be better than classic.
  std::vector<FloorTerm> floor;
  std::string reason;  // The known reason for a shortfall.
  // The path that is sampled where the product misses the bar, to show where the time goes. May be
  // empty.
  std::function<MeasuredPathRef()> sampled;
};

// All bars, in the order of the table. Tiny bars have the same rows at tiny sizes: they test the
// table, and their verdicts mean nothing.
std::vector<Bar> AllBars(bool is_tiny);

// The least time that the machine needs for an operation, and how it was computed.
struct Floor {
  double value = 0;
  std::string arithmetic;
};
// Returns nullopt where a probe of the bar was not measured.
std::optional<Floor> FloorOf(const Bar& bar, const std::vector<Measurement>& probes);

// Judges a bar by its group's rounds. A null `group` gives the verdict that it is not built.
BarRow JudgeBar(const Bar& bar, const BenchCase* group, const std::vector<Measurement>& probes);

}  // namespace schedq
