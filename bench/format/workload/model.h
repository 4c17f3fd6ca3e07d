// A workload file after decoding: test cases, their workloads, and the operations of each workload
// with all parameters put in.
//
// createPodSets does not appear: it is unrolled into its createPods operations, as scheduler_perf
// does it before it numbers the operations.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/format/objects/object_template.h"
#include "bench/format/workload/features.h"
#include "bench/format/workload/load.h"
#include "engine/base/time/time.h"
#include "engine/gates.h"

namespace schedq {

// Sets the given allocatable amounts on each node, beside what it has.
struct NodeAllocatableStrategy {
  ResourceList allocatable;
};
// Gives node i of the operation the label key with value i mod their number.
struct NodeLabelStrategy {
  std::string key;
  std::vector<std::string> values;
};

struct CreateNodesOp {
  int64_t count = 0;
  ObjectSource node;
  NodeAllocatableStrategy allocatable;
  NodeLabelStrategy label;       // No key: none.
  std::string unique_label_key;  // A value of its own for every node; empty: none.
};

struct CreateNamespacesOp {
  std::string prefix;  // The names are prefix-0, prefix-1, ...
  int64_t count = 0;
  ObjectSource namespace_object;  // No object: a plain namespace.
};

struct CreatePodsOp {
  int64_t count = 0;
  bool steady_state = false;
  Duration duration{};  // Of the steady state.
  bool collect_metrics = false;
  std::string namespace_name;
  ObjectSource pod;
  bool skip_wait = false;
  Arrivals arrivals;
  std::vector<Draw> draws;
  // A pod made from a file gets the label signature: signature-label-<index / this>; 0: no label.
  int64_t signature_batch_size = 0;
  ObjectTemplateRef persistent_volume;        // May be null.
  ObjectTemplateRef persistent_volume_claim;  // May be null.
};

struct DeletePodsOp {
  std::string namespace_name;
  Labels selector;
  bool skip_wait = false;
  int64_t pods_per_second = 0;  // 0: all at once.
};

struct ChurnOp {
  bool recreate = false;  // Else: create only.
  int64_t number = 0;     // With create: 0 is without end.
  Duration interval = std::chrono::milliseconds(500);
  std::string namespace_name;
  std::vector<ObjectTemplateRef> objects;
};

struct CreateAnyOp {
  std::string namespace_name;  // Empty for objects outside namespaces.
  ObjectSource object;
  int64_t count = 1;
};

struct UpdateAnyOp {
  std::string namespace_name;
  ObjectSource object;
  int64_t count = 1;
  int64_t updates_per_second = 0;  // 0: all at once.
  std::vector<std::string> subresources;
};

struct CreatePodGroupsOp {
  std::string namespace_name;
  ObjectSource group;
  int64_t count = 0;
};

struct CreateResourceClaimsOp {
  std::string namespace_name;
  ObjectSource claim;
  int64_t count = 0;
};

struct AllocResourceClaimsOp {
  std::string namespace_name;  // Empty: all.
};

struct BarrierOp {
  std::vector<std::string> namespaces;  // Empty: all.
  Labels selector;
  bool attempted = false;  // Wait for attempts, not for success.
};

struct SleepOp {
  Duration duration{};
};

struct StartCollectingMetricsOp {
  std::string name;
  std::vector<std::string> namespaces;
  Labels selector;
};
struct StopCollectingMetricsOp {};

struct StartCollectingProfileOp {
  std::string type;
  std::string file_path;
};
struct StopCollectingProfileOp {
  std::string type;
};

struct Op {
  int index = 0;  // Among the unrolled operations; names default namespaces.
  int line = 0;   // Of the file.
  std::string opcode;
  std::variant<CreateNodesOp, CreateNamespacesOp, CreatePodsOp, DeletePodsOp, ChurnOp, CreateAnyOp,
               UpdateAnyOp, CreatePodGroupsOp, CreateResourceClaimsOp, AllocResourceClaimsOp,
               BarrierOp, SleepOp, StartCollectingMetricsOp, StopCollectingMetricsOp,
               StartCollectingProfileOp, StopCollectingProfileOp>
      action;
};

// Which label values of a metric are reported apart.
struct MetricLabel {
  std::string label;
  std::vector<std::string> values;
};
// By name, with its prefix.
using MetricsConfig = std::map<std::string, std::vector<MetricLabel>>;

struct MetricSelector {
  std::string name = "SchedulingThroughput";
  std::map<std::string, std::string> labels;
  std::string bucket = "Average";
  bool expect_lower = false;
};

struct Threshold {
  double value = 0;  // 0: off.
  std::map<std::string, double> by_topic;

  double For(const std::string& topic) const {
    const auto found = by_topic.find(topic);
    return found == by_topic.end() ? value : found->second;
  }
  bool IsOff() const { return value == 0 && by_topic.empty(); }
};

// What a KubeSchedulerConfiguration says that the simulation can follow.
struct SchedulerSettings {
  std::optional<Duration> pod_initial_backoff;
  std::optional<Duration> pod_max_backoff;
};

struct Workload {
  std::string name;
  int line = 0;
  std::vector<std::string> labels;  // The case's and its own.
  std::vector<Op> ops;
  GateRequest gates;  // The case's and its own.
  Threshold threshold;
  MetricSelector threshold_selector;
  FeatureUses features;  // All that it needs, modelled or not.
};

struct TestCase {
  std::string name;
  std::string file;
  std::string definition;  // Hash of that file and of all files that it names.
  int line = 0;
  std::optional<MetricsConfig> metrics;  // Absent: the default ones.
  SchedulerSettings scheduler;
  std::vector<Workload> workloads;
};

}  // namespace schedq
