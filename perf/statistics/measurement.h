// One measured quantity with all its repetitions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "perf/statistics/summary.h"

namespace schedq {

struct Measurement {
  std::string name;                            // "atomic_add_uncontended"
  std::string about;                           // One sentence for the reader; may be empty.
  std::string unit;                            // "ns", "GB/s"
  std::map<std::string, uint64_t> parameters;  // {"threads": 2}, {"bytes": 65536}
  std::vector<double> repetitions;             // In the order in which they ran.

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("name", self.name, "What is measured.");
    archive.Optional("about", self.about, "What it means, in a sentence.");
    archive.Field("unit", self.unit, "The unit of every repetition.");
    archive.Optional("parameters", self.parameters, "Sizes, threads and the like.");
    archive.Field("repetitions", self.repetitions, "Every repetition, in the order they ran.");
    archive.Derived("summary", Summarize(self.repetitions), "What the repetitions say.");
  }
};

}  // namespace schedq
