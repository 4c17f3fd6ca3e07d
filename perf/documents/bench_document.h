// bench.json: micro-benchmarks with their rivals. Written by `schedq bench --json`; schema in
// docs/bench.schema.json.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/documents/enum_text.h"
#include "perf/documents/environment.h"
#include "perf/statistics/summary.h"

namespace schedq {

enum class ContenderRole : uint8_t {
  kProduct,  // schedq's own structure.
  kClassic,  // The baseline engine.
  kRival,    // A structure of another library or design.
  kControl,  // Shows the cost of the measurement itself, such as an empty loop.
};

template <>
struct EnumText<ContenderRole> {
  static constexpr std::array<std::string_view, 4> kNames = {"product", "classic", "rival",
                                                             "control"};
};

// Invariant: repetitions[i] of every contender of a case ran in round i, interleaved. A contender
// that an interrupt stopped has fewer.
struct BenchContender {
  std::string name;  // "mutex+std::priority_queue"
  ContenderRole role = ContenderRole::kRival;
  std::vector<double> repetitions;
  uint64_t answers_checked = 0;            // How many results were compared with the right ones.
  std::optional<double> anchor;            // The published figure for this case, same unit.
  std::map<std::string, double> counters;  // "bytes_per_operation" and the like.

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("name", self.name, "The structure that is measured.");
    archive.Field("role", self.role, "What it stands for in the comparison.");
    archive.Field("repetitions", self.repetitions, "One value a round.");
    archive.Derived("summary", Summarize(self.repetitions), "What the repetitions say.");
    archive.Field("answers_checked", self.answers_checked, "Results compared with the right ones.");
    archive.Optional("anchor", self.anchor, "The published figure, in the same unit.");
    archive.Optional("counters", self.counters, "Further counts of this contender.");
  }
};

struct BenchCase {
  std::string name;                            // "engine/active/pair/priorities:8/size:1000"
  std::string topology;                        // The threads and structures, drawn in one line.
  std::string unit;                            // "ns/op"
  std::map<std::string, uint64_t> parameters;  // {"threads": 2, "size": 1000}
  std::vector<BenchContender> contenders;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("name", self.name, "Area, what is done, and the parameters.");
    archive.Optional("topology", self.topology, "Threads and structures, drawn in one line.");
    archive.Field("unit", self.unit, "The unit of every repetition.");
    archive.Optional("parameters", self.parameters, "Sizes, threads and the like.");
    archive.Field("contenders", self.contenders, "All that ran in the same interleaved rounds.");
  }
};

struct BenchDocument {
  static constexpr const char* kTitle = "Micro-benchmarks with rivals (schedq bench)";

  uint64_t seed = 0;
  uint64_t rounds = 0;  // As asked for.
  std::vector<BenchCase> cases;
  Environment environment;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Version("schedq_bench", 1);
    archive.Field("seed", self.seed, "Seed of workloads and order.");
    archive.Field("rounds", self.rounds, "Interleaved rounds that were asked for.");
    archive.Field("cases", self.cases, "One entry a benchmark and its parameters.");
    archive.Field("environment", self.environment, "Machine, build and times.");
  }
};

}  // namespace schedq
