// A workload file after decoding: test cases, their workloads, and the operations of each workload
// with the values of all parameters.
//
// createPodSets has no type here. The decoder unrolls it into createPods operations, as
// scheduler_perf does before it numbers the operations.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/format/objects/object_template.h"
#include "bench/format/objects/storage_objects.h"
#include "bench/format/workload/device_features.h"
#include "bench/format/workload/fault.h"
#include "bench/format/workload/features.h"
#include "bench/format/workload/load.h"
#include "bench/format/workload/scheduler_settings.h"
#include "engine/base/time/time.h"
#include "engine/gates.h"
#include "engine/pod.h"

namespace schedq {

// Adds these allocatable amounts to each node, beside its own, and makes its CSINode.
struct NodeAllocatableStrategy {
  ResourceList allocatable;
  std::optional<CsiNodeObject> csi_node;
};
// Gives node i of the operation the label `key` with the value number i mod values.size().
struct NodeLabelStrategy {
  std::string key;
  std::vector<std::string> values;
};

struct CreateNodesOp {
  int64_t count = 0;
  ObjectSource node;
  NodeAllocatableStrategy allocatable;
  NodeLabelStrategy label;       // An empty key: no label.
  std::string unique_label_key;  // Every node gets a value of its own; empty: no label.
};

struct CreateNamespacesOp {
  std::string prefix;  // The names are prefix-0, prefix-1, ...
  int64_t count = 0;
  ObjectSource namespace_object;  // Without an object: a plain namespace.
};

struct CreatePodsOp {
  int64_t count = 0;
  bool steady_state = false;
  Duration duration{};  // Length of the steady state.
  bool collect_metrics = false;
  std::string namespace_name;
  ObjectSource pod;
  bool skip_wait = false;
  Arrivals arrivals;
  std::vector<Draw> draws;
  // A pod from a file gets the label signature: signature-label-<index / signature_batch_size>.
  // 0: no label.
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
  bool recreate = false;  // False: the operation only creates objects.
  int64_t number = 0;     // 0 without recreate: creation never ends.
  Duration interval = std::chrono::milliseconds(500);
  std::string namespace_name;
  std::vector<ObjectTemplateRef> objects;
};

struct CreateAnyOp {
  std::string namespace_name;  // Empty for objects without a namespace.
  ObjectSource object;
  int64_t count = 1;
};

inline constexpr std::string_view kResizeSubresource = "resize";
inline constexpr std::string_view kStatusSubresource = "status";

// Replaces each object, or the subresource of it, and then its status.
struct UpdateAnyOp {
  std::string namespace_name;
  ObjectSource object;
  int64_t count = 1;
  int64_t updates_per_second = 0;         // 0: one after the other.
  std::vector<std::string> subresources;  // None, "status" or "resize".
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
  std::string namespace_name;  // Empty: claims of all namespaces.
};

struct BarrierOp {
  std::vector<std::string> namespaces;  // Empty: all namespaces.
  Labels selector;
  bool attempted = false;  // True: an attempt suffices. False: the pods must be scheduled.
};

struct SleepOp {
  Duration duration{};
};

// Beyond scheduler_perf: for that long the API server answers each call of the scheduler with an
// error. The operation does not wait. Clients, controllers and informers go on.
struct ApiOutageOp {
  Duration duration{};
};

// Beyond scheduler_perf: lets something go wrong. The operation does not wait.
struct InjectFaultOp {
  Fault fault;
};

// Beyond scheduler_perf: changes each of these pods, once a round.
struct UpdatePodsOp {
  std::string namespace_name;
  Labels selector;
  bool opens_gates = false;  // Takes the scheduling gates away.
  std::string label_key;     // Gets the round's number as its value; empty: no label.
  int64_t rounds = 1;
  bool skip_wait = false;
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
  int index =
      0;         // Number among the unrolled operations; default namespaces have it in their names.
  int line = 0;  // Line of the file.
  std::string opcode;
  std::variant<CreateNodesOp, CreateNamespacesOp, CreatePodsOp, DeletePodsOp, ChurnOp, CreateAnyOp,
               UpdateAnyOp, CreatePodGroupsOp, CreateResourceClaimsOp, AllocResourceClaimsOp,
               BarrierOp, SleepOp, StartCollectingMetricsOp, StopCollectingMetricsOp,
               StartCollectingProfileOp, StopCollectingProfileOp, ApiOutageOp, InjectFaultOp,
               UpdatePodsOp>
      action;
};

// The values of a label whose metrics are reported apart.
struct MetricLabel {
  std::string label;
  std::vector<std::string> values;
};
// The labels of each metric, by the metric's name with its prefix.
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

struct Workload {
  std::string name;
  int line = 0;
  std::vector<std::string> labels;  // The case's labels and the workload's own.
  std::vector<Op> ops;
  GateRequest gates;       // The case's gates and the workload's own.
  DeviceFeatures devices;  // As their gates say.
  Threshold threshold;
  MetricSelector threshold_selector;
  FeatureUses features;  // All features that the workload needs, modelled or not.
  // That many features are declared by each node, and needed by each pod with resources of its own,
  // in place of those that are real; 0: none are.
  int64_t node_features = 0;
  bool has_other_params = false;  // A parameter has another value than in the file.
};

struct TestCase {
  std::string name;
  std::string file;
  std::string definition;  // Hash of `file` and of all files that it names.
  int line = 0;
  std::optional<MetricsConfig> metrics;  // nullopt: DefaultMetrics().
  SchedulerSettings scheduler;
  std::vector<Workload> workloads;
};

}  // namespace schedq
