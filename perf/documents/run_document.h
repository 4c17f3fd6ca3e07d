// results.json: what `schedq run` measured. Schema in docs/results.schema.json.
//
// Invariant: with the virtual clock, everything outside `environment` depends on the inputs and the
// seed only. Two runs of one seed write the same bytes there.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/documents/data_items.h"
#include "perf/documents/enum_text.h"
#include "perf/documents/environment.h"
#include "perf/documents/real_figures.h"
#include "perf/documents/reference_comparison.h"
#include "perf/documents/scenario_document.h"
#include "perf/statistics/latency.h"

namespace schedq {

enum class ClockKind : uint8_t { kVirtual, kReal };
template <>
struct EnumText<ClockKind> {
  static constexpr std::array<std::string_view, 2> kNames = {"virtual", "real"};
};

enum class WorkloadOutcome : uint8_t {
  kMeasured,
  kSkipped,      // The workload needs something that is not modelled; `reason` names it.
  kInterrupted,  // The repetitions that had ended are kept.
  kFailed,       // The workload ran and its own checks failed.
};
template <>
struct EnumText<WorkloadOutcome> {
  static constexpr std::array<std::string_view, 4> kNames = {"measured", "skipped", "interrupted",
                                                             "failed"};
};

// A threshold of a workload, and the value that was measured for it.
struct ThresholdOutcome {
  std::string metric;
  std::string bucket;
  double limit = 0;
  double measured = 0;
  bool expect_lower = false;
  bool comparable = false;  // False: the limit was set for a real cluster, not for schedq.
  bool met = false;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("metric", self.metric, "The metric that the selector names.");
    archive.Field("bucket", self.bucket, "Its bucket, such as Average.");
    archive.Field("limit", self.limit, "The limit in the workload file.");
    archive.Field("measured", self.measured, "What was measured.");
    archive.Field("expect_lower", self.expect_lower, "Whether lower is better.");
    archive.Field("comparable", self.comparable, "False: set for a real cluster, for display.");
    archive.Field("met", self.met, "Strictly beyond the limit on the good side.");
  }
};

struct Repetition {
  uint64_t seed = 0;
  double seconds = 0;  // Length of the measured section, on the run's clock.
  std::vector<DataItem> metrics;
  std::map<std::string, uint64_t> counters;  // By sample name, labels included.
  std::map<std::string, LatencySummary> latencies;
  std::optional<RealFigures> real;  // On the real clock.

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("seed", self.seed, "The seed of this repetition.");
    archive.Field("seconds", self.seconds, "The measured section, on the run's clock.");
    archive.Field("metrics", self.metrics, "As in the DataItems file.");
    archive.Field("counters", self.counters, "Exact counts by sample name.");
    archive.Field("latencies", self.latencies, "By operation.");
    archive.Optional("real", self.real, "On the real clock: where its time went.");
  }
};

// Pods that were bound in its measured sections.
inline double PodsBoundIn(const Repetition& repetition) {
  const auto bound = repetition.latencies.find("pod_scheduled");
  return bound == repetition.latencies.end() ? 0 : static_cast<double>(bound->second.count);
}

struct WorkloadResult {
  std::string test_case;
  std::string workload;
  std::string definition;  // Hash of the files that the workload comes from.
  std::vector<std::string> labels;
  std::map<std::string, bool> gates;  // In force for this workload.
  WorkloadOutcome outcome = WorkloadOutcome::kMeasured;
  std::string reason;                     // Why it is not kMeasured.
  std::vector<std::string> not_modelled;  // Asked for by the workload, without effect in schedq.
  std::vector<ThresholdOutcome> thresholds;
  std::vector<Repetition> repetitions;
  std::optional<ReferenceComparison> reference;  // Of a workload that has one, with --reference.

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("case", self.test_case, "Name of the test case.");
    archive.Field("workload", self.workload, "Name of the workload in it.");
    archive.Optional("definition", self.definition,
                     "Hash of its files; another text, another one.");
    archive.Field("labels", self.labels, "The case's and the workload's labels.");
    archive.Field("gates", self.gates, "Feature gates in force.");
    archive.Field("outcome", self.outcome, "Whether it was measured.");
    archive.Optional("reason", self.reason, "Why it was not measured in full.");
    archive.Optional("not_modelled", self.not_modelled, "Asked for, without effect here.");
    archive.Field("thresholds", self.thresholds, "Thresholds of the file.");
    archive.Field("repetitions", self.repetitions, "Every repetition, in the order they ran.");
    archive.Optional("reference", self.reference, "Against measured runs of the real scheduler.");
  }
};

// The wall time and memory of one repetition.
struct RepetitionCost {
  std::string test_case;
  std::string workload;
  uint64_t repetition = 0;  // From 0, as in WorkloadResult::repetitions.
  double wall_seconds = 0;
  std::optional<double> bytes_per_pod;  // For a queued pod, beyond the pod object itself.
  std::optional<double> allocations_per_operation;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("case", self.test_case, "Name of the test case.");
    archive.Field("workload", self.workload, "Name of the workload in it.");
    archive.Field("repetition", self.repetition, "Its number, from 0.");
    archive.Field("wall_seconds", self.wall_seconds, "Wall time.");
    archive.Optional("bytes_per_pod", self.bytes_per_pod, "A queued pod, beyond the pod object.");
    archive.Optional("allocations_per_operation", self.allocations_per_operation,
                     "Allocations by the allocator's own counters.");
  }
};

struct RunEnvironment : Environment {
  // Files and flags that decide what is run and how, for running it again.
  std::vector<std::string> flags;
  std::vector<RepetitionCost> costs;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    Environment::Describe(archive, self);
    archive.Optional("flags", self.flags, "Files and flags that decide what is run and how.");
    archive.Field("costs", self.costs, "Wall time and memory of every repetition.");
  }
};

struct RunDocument {
  static constexpr const char* kTitle = "Results of a run (schedq run)";

  ClockKind clock = ClockKind::kVirtual;
  std::string engine;  // "lockfree" or "classic".
  uint64_t seed = 0;
  std::string cost_model;             // Its name; empty with the real clock.
  std::map<std::string, bool> gates;  // As asked for on the command line, prerequisites followed.
  std::string status_model;           // KEP-5501's model; in force where its gate is on.
  std::vector<WorkloadResult> workloads;
  std::vector<ScenarioResult> scenarios;      // Only with --suite kep.
  std::vector<PromiseVerdict> verdicts;       // Only with --suite kep.
  std::optional<ReferenceSummary> reference;  // Only with --reference.
  RunEnvironment environment;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Version("schedq_results", 1);
    archive.Field("clock", self.clock, "Virtual runs are byte-identical outside environment.");
    archive.Field("engine", self.engine, "The engine that ran.");
    archive.Field("seed", self.seed, "Seed of the whole run.");
    archive.Optional("cost_model", self.cost_model, "Name of the cost model.");
    archive.Field("gates", self.gates, "Feature gates of the run; workloads may override them.");
    archive.Optional("status_model", self.status_model, "KEP-5501's model, where its gate is on.");
    archive.Field("workloads", self.workloads, "One entry a workload.");
    archive.Optional("scenarios", self.scenarios, "Scenarios of proposals, which no workload is.");
    archive.Optional("verdicts", self.verdicts, "What proposals promised.");
    archive.Optional("reference", self.reference, "All workloads against measured runs.");
    archive.Field("environment", self.environment, "All that may differ between identical runs.");
  }
};

}  // namespace schedq
