// The DataItems file that perf-dash reads.
//
// Purpose: the model of that file. document.h reads and writes it, whether schedq or
// scheduler_perf's own Go run made it.
// Source: the published format of kubernetes/perf-tests' perf-dash.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/time/time.h"

namespace schedq {

struct DataItem {
  std::map<std::string, double> data;         // Bucket ("Average", "Perc50") to value.
  std::string unit;                           // "pods/s", "ms"
  std::map<std::string, std::string> labels;  // At least Metric and Name.

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    // scheduler_perf writes null for a run that was too short to be sampled. schedq never does.
    archive.FieldOrNull("data", self.data, "Values by bucket: Average, Perc50, Perc90, ...");
    archive.Field("unit", self.unit, "The unit of every value.");
    archive.Optional("labels", self.labels, "What the values belong to.");
  }
};

struct DataItemsDocument {
  static constexpr const char* kTitle = "DataItems, as perf-dash reads them";

  std::string version = "v1";
  std::vector<DataItem> items;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("version", self.version, "Always v1.");
    archive.Field("dataItems", self.items, "One entry a metric and label combination.");
  }
};

// Gives every item the same label keys, with "not applicable" for the missing ones, because
// perf-dash hides an item that lacks a label of the others.
void CompleteLabels(std::vector<DataItem>& items);

// "BenchmarkPerfScheduling/<case>/<workload>/<section>": names in Go's files begin with the
// benchmark's, and links to perf-dash choose by them.
std::string GoNameOf(const std::string& name);
// The name without the benchmark's, whether or not it has one.
std::string WithoutGoPrefix(std::string_view name);

// "BenchmarkPerfScheduling_benchmark_<topic>_<time>.json"; virtual runs pass virtual time.
std::string DataItemsFileName(std::string_view topic, Instant time);

}  // namespace schedq
