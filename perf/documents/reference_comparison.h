// A run against measured runs of the real scheduler: the parts of results.json that say so.
//
// Threads: pure data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/documents/enum_text.h"

namespace schedq {

// How near a counter is to the reference: the first of these that holds.
enum class Closeness : uint8_t {
  kEqual,
  kWithin1Percent,
  kWithin10Percent,
  kWithinFactor2,
  kWorse
};
inline constexpr size_t kClosenessCount = 5;
template <>
struct EnumText<Closeness> {
  static constexpr std::array<std::string_view, kClosenessCount> kNames = {
      "equal", "within 1 %", "within 10 %", "within a factor of 2", "worse"};
};

// How many counters are how near.
struct ClosenessCounts {
  std::array<uint64_t, kClosenessCount> counts{};

  uint64_t of(Closeness closeness) const { return counts[static_cast<size_t>(closeness)]; }
  void Count(Closeness closeness) { ++counts[static_cast<size_t>(closeness)]; }
  void Add(const ClosenessCounts& more) {
    for (size_t i = 0; i < kClosenessCount; ++i) counts[i] += more.counts[i];
  }
  uint64_t all() const { return AtLeast(Closeness::kWorse); }
  // Counters that are so near or nearer.
  uint64_t AtLeast(Closeness closeness) const {
    uint64_t sum = 0;
    for (size_t i = 0; i <= static_cast<size_t>(closeness); ++i) sum += counts[i];
    return sum;
  }

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("equal", self.counts[0], "Counters that are equal.");
    archive.Field("within_1_percent", self.counts[1], "Not equal, and within 1 %.");
    archive.Field("within_10_percent", self.counts[2], "Farther, and within 10 %.");
    archive.Field("within_factor_2", self.counts[3], "Farther, and within a factor of 2.");
    archive.Field("worse", self.counts[4], "Farther still.");
  }
};

using ClosenessByFamily = std::map<std::string, ClosenessCounts>;

inline ClosenessCounts SumOf(const ClosenessByFamily& families) {
  ClosenessCounts sum;
  for (const auto& [family, counts] : families) sum.Add(counts);
  return sum;
}

// A counter that is not equal. Of several measured runs the reference is a range.
struct CounterMiss {
  std::string family;  // "attempts", "requeues", "hints" or "calls".
  std::string counter;
  uint64_t count = 0;
  uint64_t reference_min = 0;
  uint64_t reference_max = 0;
  Closeness closeness = Closeness::kWorse;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("family", self.family, "attempts, requeues, hints or calls.");
    archive.Field("counter", self.counter, "Its name in the reference.");
    archive.Field("count", self.count, "Counted in this run.");
    archive.Field("reference_min", self.reference_min, "The least of the measured runs.");
    archive.Field("reference_max", self.reference_max, "The most of the measured runs.");
    archive.Field("closeness", self.closeness, "How near it is to that range.");
  }
};

struct ThroughputRatio {
  double pods_per_second = 0;
  double reference = 0;  // The median of the measured runs that had the machine for themselves.

  double ratio() const { return pods_per_second / reference; }

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("pods_per_second", self.pods_per_second, "Bound a second, in this run.");
    archive.Field("reference", self.reference, "The same, measured: the median of quiet runs.");
    archive.Derived("ratio", self.ratio(), "The first divided by the second.");
  }
};

// One workload against its reference.
struct ReferenceComparison {
  std::string file;                         // The reference's, without its folder.
  std::optional<std::string> not_compared;  // Why; without it, what follows counts.
  uint64_t runs = 0;                        // Measured runs of the reference.
  ClosenessByFamily closeness;
  std::vector<CounterMiss> misses;            // The farthest first.
  std::optional<ThroughputRatio> throughput;  // Where times were measured.

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("file", self.file, "The reference's file name.");
    archive.Optional("not_compared", self.not_compared, "Why it was not compared.");
    archive.Field("runs", self.runs, "Measured runs in the reference.");
    archive.Field("closeness", self.closeness, "How many counters are how near, by family.");
    archive.Field("misses", self.misses, "Counters that are not equal, the farthest first.");
    archive.Optional("throughput", self.throughput, "Where times were measured.");
  }
};

// All workloads together.
struct ReferenceSummary {
  uint64_t workloads = 0;  // Compared.
  ClosenessByFamily closeness;
  // Workloads whose attempts are all equal; those whose requeues and hints are all within 10 %.
  uint64_t attempts_equal = 0;
  uint64_t requeues_and_hints_within_10_percent = 0;
  uint64_t throughputs = 0;                // Workloads with times.
  std::optional<double> rank_correlation;  // Spearman's, of their throughput.

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("workloads", self.workloads, "Workloads that were compared.");
    archive.Field("closeness", self.closeness, "How many counters are how near, by family.");
    archive.Field("attempts_equal", self.attempts_equal, "Workloads with equal attempts.");
    archive.Field("requeues_and_hints_within_10_percent", self.requeues_and_hints_within_10_percent,
                  "Workloads whose requeues and hints are all that near.");
    archive.Field("throughputs", self.throughputs, "Workloads with times.");
    archive.Optional("rank_correlation", self.rank_correlation,
                     "Spearman's, of their throughput here and measured.");
  }
};

}  // namespace schedq
