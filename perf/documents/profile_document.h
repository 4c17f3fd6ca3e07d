// profile.json: cost against size. Written by `schedq profile --json`; schema in
// docs/profile.schema.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "perf/documents/environment.h"
#include "perf/documents/scenario_document.h"
#include "perf/statistics/measurement.h"

namespace schedq {

// One size of a series. Measurements are per operation and have one value a round.
struct ProfilePoint {
  uint64_t size = 0;
  uint64_t operations = 0;  // In each round.
  std::vector<Measurement> measurements;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("size", self.size, "The N of this point.");
    archive.Field("operations", self.operations, "Operations in each round.");
    archive.Field("measurements", self.measurements, "Per operation, one value a round.");
  }
};

// The growth of one measurement: cost = factor x size^exponent.
struct ProfileFit {
  std::string measurement;
  uint64_t size_min = 0;
  uint64_t size_max = 0;
  uint64_t points = 0;  // Rounds of all sizes count one by one.
  double exponent = 0;
  double exponent_low = 0;
  double exponent_high = 0;
  double confidence = 0;
  double factor = 0;
  double r_squared = 0;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("measurement", self.measurement, "What grows.");
    archive.Field("size_min", self.size_min, "The smallest size that was measured.");
    archive.Field("size_max", self.size_max, "The largest size that was measured.");
    archive.Field("points", self.points, "Values that were fitted: sizes times rounds.");
    archive.Field("exponent", self.exponent, "cost = factor x size^exponent.");
    archive.Field("exponent_low", self.exponent_low, "Lower end of its confidence interval.");
    archive.Field("exponent_high", self.exponent_high, "Upper end of its confidence interval.");
    archive.Field("confidence", self.confidence, "Of the interval.");
    archive.Field("factor", self.factor, "The cost at size 1, by the fit.");
    archive.Field("r_squared", self.r_squared, "The share of the variation that it explains.");
  }
};

// A function's share of the samples or the instructions.
struct HotSpot {
  std::string function;
  double self_share = 0;       // Spent in the function itself.
  double inclusive_share = 0;  // Spent in it and in what it calls.

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("function", self.function, "Its name.");
    archive.Field("self_share", self.self_share, "Share spent in the function itself.");
    archive.Field("inclusive_share", self.inclusive_share, "In it and in what it calls.");
  }
};

struct HotSpots {
  std::string method;  // "timer" or "callgrind".
  uint64_t size = 0;
  uint64_t samples = 0;  // Samples of the timer, or instructions.
  std::vector<HotSpot> functions;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("method", self.method, "timer: samples of time; callgrind: instructions.");
    archive.Field("size", self.size, "The N at which it was taken.");
    archive.Field("samples", self.samples, "How many samples or instructions there were.");
    archive.Field("functions", self.functions, "The largest shares first.");
  }
};

struct ProfileSeries {
  std::string name;       // "lockfree/narrowed"
  std::string operation;  // The operation that a cost is counted for: "event".
  std::vector<ProfilePoint> points;
  std::vector<ProfileFit> fits;
  std::string stopped;  // Why larger sizes were not measured; empty: all were.
  std::vector<HotSpots> hot_spots;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("name", self.name, "Engine and variant.");
    archive.Field("operation", self.operation, "What a cost is per.");
    archive.Field("points", self.points, "By size, ascending.");
    archive.Field("fits", self.fits, "One a measurement that can be fitted.");
    archive.Optional("stopped", self.stopped, "Why larger sizes were not measured.");
    archive.Field("hot_spots", self.hot_spots, "Where the time, or the instructions, went.");
  }
};

struct ProfileDocument {
  static constexpr const char* kTitle = "Cost against size (schedq profile)";

  std::string kind;  // "requeue"
  uint64_t seed = 0;
  uint64_t rounds = 0;
  std::vector<ProfileSeries> series;
  std::vector<ScenarioResult> scenarios;  // Empty for kinds without scenarios.
  std::vector<PromiseVerdict> verdicts;
  Environment environment;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Version("schedq_profile", 1);
    archive.Field("kind", self.kind, "What was profiled.");
    archive.Field("seed", self.seed, "Seed of the order in which series take turns.");
    archive.Field("rounds", self.rounds, "Interleaved rounds that were asked for.");
    archive.Field("series", self.series, "One entry an engine and variant.");
    archive.Optional("scenarios", self.scenarios, "What the kind plays beside.");
    archive.Optional("verdicts", self.verdicts, "What was promised of them.");
    archive.Field("environment", self.environment, "Machine, build and times.");
  }
};

// Fits each measurement over all its sizes and rounds. A measurement with fewer than three sizes,
// or with a value that is not positive, has no fit.
std::vector<ProfileFit> FitSeries(const ProfileSeries& series);

}  // namespace schedq
