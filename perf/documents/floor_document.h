// floor.json: what this machine can do at best. Written by `schedq floor --json`; schema in
// docs/floor.schema.json.
#pragma once

#include <string>
#include <vector>

#include "perf/documents/environment.h"
#include "perf/statistics/measurement.h"

namespace schedq {

struct FloorDocument {
  static constexpr const char* kTitle = "What this machine can do (schedq floor)";

  std::vector<Measurement> measurements;
  Environment environment;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Version("schedq_floor", 1);
    archive.Field("measurements", self.measurements, "One entry a quantity and size.");
    archive.Field("environment", self.environment, "Machine, build and times.");
  }
};

}  // namespace schedq
