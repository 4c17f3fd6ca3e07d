// bars.json: the product against its bars. Written by `schedq bench --bars --json`; schema in
// docs/bars.schema.json.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/documents/bench_document.h"
#include "perf/documents/enum_text.h"
#include "perf/documents/environment.h"
#include "perf/statistics/measurement.h"

namespace schedq {

enum class BarVerdict : uint8_t {
  kAim,          // The product holds the bar and reaches the aim.
  kMet,          // The product holds the bar.
  kShort,        // The product falls short of the bar; `reason` says why.
  kNotMeasured,  // A wrong answer, an interrupt, or something that the machine lacks.
  kNotBuilt,     // The product has no such part yet.
};
template <>
struct EnumText<BarVerdict> {
  static constexpr std::array<std::string_view, 5> kNames = {"aim", "met", "short", "not measured",
                                                             "not built"};
};

struct BarRow {
  std::string path;  // "add + pop + done per pod, one thread"
  std::string at;    // "100,000 pods"
  std::string bar;   // "at most 300 ns"
  std::string aim;
  BarVerdict verdict = BarVerdict::kNotBuilt;
  std::string unit;
  std::optional<double> measured;  // The product's median.
  std::optional<double> to_bar;  // What was reached over what was asked: 1 and more holds the bar.
  std::string rival;             // The best one in the same interleaved run, or the control.
  std::optional<double> rival_measured;
  std::optional<double> upstream;
  std::optional<double> floor;
  std::string floor_arithmetic;
  std::string reason;
  std::vector<BenchContender> contenders;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("path", self.path, "What is done.");
    archive.Field("at", self.at, "At which size and number of threads.");
    archive.Field("bar", self.bar, "What must be held.");
    archive.Field("aim", self.aim, "What is aimed at.");
    archive.Field("verdict", self.verdict, "Whether it is held.");
    archive.Field("unit", self.unit, "Of measured, rival_measured, upstream and floor.");
    archive.Optional("measured", self.measured, "The product's median.");
    archive.Optional("to_bar", self.to_bar, "Reached over asked: 1 and more holds the bar.");
    archive.Optional("rival", self.rival, "The best rival of the run, or the control.");
    archive.Optional("rival_measured", self.rival_measured, "Its median.");
    archive.Optional("upstream", self.upstream, "The published figure of the real queue.");
    archive.Optional("floor", self.floor, "What the machine can do at best.");
    archive.Optional("floor_arithmetic", self.floor_arithmetic, "How the floor was reckoned.");
    archive.Optional("reason", self.reason, "Why it falls short or was not measured.");
    archive.Field("contenders", self.contenders, "All that ran in the same interleaved rounds.");
  }
};

struct BarsDocument {
  static constexpr const char* kTitle = "The product against its bars (schedq bench --bars)";

  uint64_t seed = 0;
  uint64_t rounds = 0;
  std::vector<BarRow> rows;
  std::vector<Measurement> floor;
  Environment environment;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Version("schedq_bars", 1);
    archive.Field("seed", self.seed, "Seed of workloads and order.");
    archive.Field("rounds", self.rounds, "Interleaved rounds that were asked for.");
    archive.Field("rows", self.rows, "One entry a bar and size.");
    archive.Field("floor", self.floor, "What the machine can do, measured in the same run.");
    archive.Field("environment", self.environment, "Machine, build and times.");
  }
};

}  // namespace schedq
