// scale.json: what operations move between cores, and the time that follows. Written by
// `schedq scale --json`; schema in docs/scale.schema.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "perf/documents/bench_document.h"
#include "perf/documents/environment.h"
#include "perf/statistics/measurement.h"

namespace schedq {

// One number of threads. Counts are those of one operation, on virtual threads; times are wall time
// divided by the operations of all threads.
struct ScalePoint {
  uint64_t threads = 0;
  uint64_t operations = 0;
  double transfers = 0;
  double invalidations = 0;
  double updates = 0;
  double contended_updates = 0;
  double retries = 0;
  double lines = 0;
  double hottest_transfers = 0;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("threads", self.threads, "Virtual threads.");
    archive.Field("operations", self.operations, "Operations of all threads that were counted.");
    archive.Field("transfers", self.transfers, "Lines that came from another core.");
    archive.Field("invalidations", self.invalidations, "Copies that other cores lost.");
    archive.Field("updates", self.updates, "Atomic updates.");
    archive.Field("contended_updates", self.contended_updates,
                  "Atomic updates of a line that another operation at the same time has written.");
    archive.Field("retries", self.retries, "Exchanges that failed.");
    archive.Field("lines", self.lines, "Different cache lines that were touched.");
    archive.Field("hottest_transfers", self.hottest_transfers,
                  "Transfers of the line that moved most often.");
  }
};

// What a machine makes of a point.
struct ScaleTime {
  uint64_t threads = 0;
  double predicted_ns = 0;
  std::optional<double> serial_ns;
  std::optional<double> measured_ns;
  std::optional<double> error;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("threads", self.threads, "Threads.");
    archive.Field("predicted_ns", self.predicted_ns, "By the formula of docs/formats.md.");
    archive.Optional("serial_ns", self.serial_ns, "What the hottest line, or a lock, allows.");
    archive.Optional("measured_ns", self.measured_ns, "On real threads, in the same run.");
    archive.Optional("error", self.error, "Predicted / measured - 1.");
  }
};

struct ScaleCurve {
  std::string path;
  std::string contestant;
  ContenderRole role = ContenderRole::kRival;
  std::string operation;
  std::vector<ScalePoint> points;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("path", self.path, "The path.");
    archive.Field("contestant", self.contestant, "The structure whose code ran.");
    archive.Field("role", self.role, "What it stands for in the comparison.");
    archive.Field("operation", self.operation, "What one operation is.");
    archive.Field("points", self.points, "One entry a number of threads.");
  }
};

struct ScaleTimes {
  std::string path;
  std::string contestant;
  std::vector<ScaleTime> points;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("path", self.path, "The path.");
    archive.Field("contestant", self.contestant, "As among the curves.");
    archive.Field("points", self.points, "One entry a number of threads.");
  }
};

// Invariant: all but `floor`, `times` and `environment` is the same for one seed and one program.
struct ScaleDocument {
  static constexpr const char* kTitle = "What moves between cores, and what follows (schedq scale)";

  uint64_t seed = 0;
  std::vector<ScaleCurve> curves;
  std::vector<Measurement> floor;  // The figures that the times were predicted with.
  std::vector<ScaleTimes> times;   // Empty: this machine could not measure a figure.
  Environment environment;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Version("schedq_scale", 1);
    archive.Field("seed", self.seed, "Seed of the interleavings.");
    archive.Field("curves", self.curves, "One entry a path and contestant: counts.");
    archive.Optional("floor", self.floor, "Figures of this machine, from schedq floor.");
    archive.Optional("times", self.times, "One entry a curve: predictions and measurements.");
    archive.Field("environment", self.environment, "Machine, build and times.");
  }
};

}  // namespace schedq
