// A bar: what a path of the product must hold, and how that is judged.
//
// Purpose: the table "The bars" of the design as data. Each bar names a group of `schedq bench`,
// whose contestants run interleaved; judging is a pure function of what they measured.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/lab/paths/measured_path.h"
#include "perf/documents/bars_document.h"

namespace schedq {

enum class BarKind : uint8_t {
  kAtMost,        // The product's value is at most the limit.
  kTimesRival,    // The best rival's value is at least the limit times the product's.
  kTimesControl,  // The product's value is at most the limit times the control's.
};

// Part of the least that the machine needs: a count of something that `schedq floor` measures.
struct FloorTerm {
  double count = 0;
  const char* probe = "";  // "random_miss"; "sequential_read" counts bytes.
  uint64_t bytes = 0;      // The probe's working set, where it has one.
};

struct Bar {
  std::string path;
  std::string at;
  std::string group;    // Of `schedq bench --list`, without the contestant.
  std::string product;  // The contestant that counts; empty: the one in the role of product.
  BarKind kind = BarKind::kAtMost;
  double limit = 0;
  std::vector<FloorTerm> allowance;  // On top of the limit: what the machine takes for these.
  std::optional<double> aim;         // As `limit`.
  std::string aim_text;  // Where the aim is in other words; else it is written from `aim`.
  std::string unit = "ns";
  double divisor = 1;  // The group's value holds so many of what the bar counts.
  bool beats_classic = false;
  std::vector<FloorTerm> floor;
  std::string reason;  // Why it falls short, where it is known to.
  // Sampled for where the time goes when the bar is missed; may be empty.
  std::function<MeasuredPathRef()> sampled;
};

// Every row of the table, in its order. Tiny bars have the same rows at tiny sizes: they show that
// the table works, and their verdicts mean nothing.
std::vector<Bar> AllBars(bool is_tiny);

// The least that the machine needs for an operation, and the arithmetic; nothing when a probe was
// not measured.
struct Floor {
  double value = 0;
  std::string arithmetic;
};
std::optional<Floor> FloorOf(const Bar& bar, const std::vector<Measurement>& probes);

// Judges a bar by its group's rounds. A bar whose group is null is not built.
BarRow JudgeBar(const Bar& bar, const BenchCase* group, const std::vector<Measurement>& probes);

}  // namespace schedq
