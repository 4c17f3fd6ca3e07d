#include "bench/format/workload/decoder.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "bench/format/objects/object_reader.h"
#include "bench/format/suite/definition_hash.h"
#include "bench/format/suite/needs.h"
#include "bench/format/workload/device_features.h"
#include "bench/format/workload/features.h"
#include "bench/format/workload/known_gates.h"
#include "bench/format/workload/metrics_catalog.h"
#include "bench/format/workload/op_decoder.h"
#include "bench/format/workload/params.h"
#include "bench/format/workload/scheduler_config.h"
#include "bench/format/workload/scheduler_settings.h"
#include "bench/format/workload/template_files.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_parser.h"
#include "bench/format/yaml/yaml_reader.h"
#include "engine/gates.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

// The parts of a case that all its workloads share. They stay YAML, because parameters differ.
struct CaseTemplate {
  const YamlNode* ops = nullptr;
  const YamlNode* default_pod_path = nullptr;
  std::vector<std::string> labels;
  GateRequest gates;
  DeviceFeatures devices;
  std::optional<MetricSelector> selector;
  FeatureUses features;
};

class FileDecoder {
 public:
  FileDecoder(YamlErrors& errors, const FileSource& source, GivenParams* given)
      : errors_(errors), files_(source, errors.file()), given_(given) {}

  std::vector<TestCase> Decode(const YamlNode& root) {
    std::vector<TestCase> cases;
    if (root.kind != YamlKind::kSequence || root.items.empty()) {
      errors_.Add(root.at, "no test cases, expected a list of at least one");
      return cases;
    }
    std::set<std::string> names;
    for (const YamlNode& node : root.items) {
      cases.push_back(DecodeCase(node));
      if (!errors_.ok()) break;
      CheckName(node, "test case", cases.back().name, names);
    }
    return cases;
  }

 private:
  // Names stand in tables, and in the names of files.
  void CheckName(const YamlNode& node, const std::string& what, const std::string& name,
                 std::set<std::string>& names) {
    if (VisibleText(name) != name) {
      errors_.Add(node.at, "the name of the " + what + " is " + VisibleText(name) +
                               ", expected one without tabs and line breaks");
    }
    if (!names.insert(name).second) {
      errors_.Add(node.at, what + " \"" + name + "\" is there twice, expected unique names");
    }
  }

  TestCase DecodeCase(const YamlNode& node) {
    TestCase test_case;
    CaseTemplate shared;
    test_case.file = errors_.file();
    test_case.line = node.at.line;
    YamlFields fields(errors_, node, "the test case");
    fields.ReadRequired("name", &test_case.name);
    fields.Read("labels", &shared.labels);
    ReadGates(fields, &shared.gates, &shared.devices, &shared.features);
    shared.default_pod_path = fields.Find("defaultPodTemplatePath");
    if (const auto* path = fields.Find("schedulerConfigPath")) {
      test_case.scheduler = DecodeSchedulerConfig(*path, shared.features);
    }
    if (const auto* config = fields.Find("metricsCollectorConfig")) {
      test_case.metrics = DecodeMetrics(*config, shared.features);
    }
    if (const auto* selector = fields.Find("defaultThresholdMetricSelector")) {
      shared.selector = DecodeSelector(*selector);
    }
    shared.ops = fields.FindList("workloadTemplate");
    if (shared.ops == nullptr || shared.ops->items.empty()) {
      errors_.Add(node.at,
                  "the test case has no workloadTemplate, expected at least one operation");
      return test_case;
    }
    DecodeWorkloads(fields, shared, &test_case);
    return test_case;
  }

  void DecodeWorkloads(YamlFields& fields, const CaseTemplate& shared, TestCase* test_case) {
    const YamlNode* workloads = fields.FindList("workloads");
    if (workloads == nullptr || workloads->items.empty()) {
      errors_.Add(fields.node().at, "the test case has no workloads, expected at least one");
      return;
    }
    std::set<std::string> names;
    for (const YamlNode& node : workloads->items) {
      test_case->workloads.push_back(DecodeWorkload(node, shared, *test_case));
      if (!errors_.ok()) return;
      CheckName(node, "workload", test_case->workloads.back().name, names);
    }
  }

  Workload DecodeWorkload(const YamlNode& node, const CaseTemplate& shared,
                          const TestCase& test_case) {
    Workload workload;
    workload.line = node.at.line;
    workload.labels = shared.labels;
    workload.gates = shared.gates;
    workload.devices = shared.devices;
    workload.features = shared.features;
    YamlFields fields(errors_, node, "the workload");
    fields.ReadRequired("name", &workload.name);
    fields.Read("labels", &workload.labels);
    ReadGates(fields, &workload.gates, &workload.devices, &workload.features);
    const Result<Gates> gates = Gates::Resolve(workload.gates);
    if (!gates) errors_.Add(node.at, gates.error().message() + ", expected gates that agree");
    if (const auto* threshold = fields.Find("threshold")) {
      workload.threshold = DecodeThreshold(*threshold);
    }
    if (shared.selector) workload.threshold_selector = *shared.selector;
    const YamlNode* selector = fields.Find("thresholdMetricSelector");
    if (selector != nullptr) workload.threshold_selector = DecodeSelector(*selector);
    CheckSelector(selector != nullptr ? selector->at : node.at, workload.threshold_selector,
                  test_case.metrics ? *test_case.metrics : DefaultMetrics());
    DecodeOps(fields, shared, &workload);
    return workload;
  }

  void DecodeOps(YamlFields& fields, const CaseTemplate& shared, Workload* workload) {
    Params params(errors_, fields.Find("params"), given_);
    OpDecoder decoder(errors_, files_, shared.default_pod_path, params, workload->features);
    for (const YamlNode& op : shared.ops->items) {
      if (!errors_.ok()) return;
      decoder.Decode(op, &workload->ops);
    }
    if (!errors_.ok()) return;
    if (!params.defect().empty()) {
      workload->ops.clear();
      workload->features = {{Feature::kDefect, params.defect()}};
      return;
    }
    ReadDeclaredFeatures(params, workload);
    workload->has_other_params = params.was_replaced();
    params.CheckAllRead();
    CheckCollection(*workload, shared.ops->at);
    NoteJointFeatures(workload);
  }

  // scheduler_perf's Go code reads the parameter, where the file asks for the gate.
  static void ReadDeclaredFeatures(Params& params, Workload* workload) {
    const int64_t features = params.ReadOfGoCode("numNodeDeclaredFeatures");
    if (features == 0 || !workload->gates.Get(Gate::kNodeDeclaredFeatures).value_or(false)) return;
    workload->node_features = features;
    AddFeature(workload->features, Feature::kNodeFeatures);
  }

  // Checks that the operations collect metrics at least once and that collections do not overlap.
  void CheckCollection(const Workload& workload, TextPosition at) {
    bool collecting = false;
    bool collected = false;
    for (const Op& op : workload.ops) {
      const TextPosition op_at{op.line, 0};
      const auto* pods = std::get_if<CreatePodsOp>(&op.action);
      const bool starts = std::holds_alternative<StartCollectingMetricsOp>(op.action);
      if (std::holds_alternative<StopCollectingMetricsOp>(op.action)) {
        if (!collecting) {
          errors_.Add(op_at, "stopCollectingMetrics, expected startCollectingMetrics before it");
        }
        collecting = false;
        collected = true;
      } else if (starts || (pods != nullptr && pods->collect_metrics)) {
        if (collecting) {
          errors_.Add(op_at, "a second collection of metrics, expected the first to stop before");
        }
        collecting = starts;
        collected = collected || pods != nullptr;
      }
    }
    // createPodSets with a count of 0 unrolls to no operation.
    const bool unrolled_to_nothing = workload.ops.empty();
    if (!collected && !unrolled_to_nothing) {
      errors_.Add(at,
                  "no operation collects metrics, expected collectMetrics or "
                  "stopCollectingMetrics");
    }
  }

  void ReadGates(YamlFields& fields, GateRequest* gates, DeviceFeatures* devices,
                 FeatureUses* features) {
    const YamlNode* node = fields.FindMap("featureGates");
    if (node == nullptr) return;
    for (const YamlEntry& entry : node->entries) {
      bool on = false;
      if (!ReadYaml(errors_, entry.value, entry.key, &on)) return;
      if (const Status known = CheckGateName(entry.key); !known) {
        errors_.Add(entry.at, "featureGates: " + known.error().message());
        return;
      }
      if (const auto gate = ParseGate(entry.key)) {
        gates->Set(*gate, on);
      } else if (bool* const device_feature = FindDeviceFeature(devices, entry.key)) {
        *device_feature = on;
      } else {
        // A workload's value replaces the case's.
        features->erase(std::remove_if(features->begin(), features->end(),
                                       [&entry](const FeatureUse& use) {
                                         return use.feature == Feature::kFeatureGate &&
                                                use.detail.rfind(entry.key + "=", 0) == 0;
                                       }),
                        features->end());
        if (IsAsSimulated(entry.key, on)) continue;
        AddFeature(*features, Feature::kFeatureGate, entry.key + (on ? "=true" : "=false"));
      }
    }
  }

  SchedulerSettings DecodeSchedulerConfig(const YamlNode& path, FeatureUses& features) {
    std::string file;
    const std::string text = files_.ReadText(errors_, path, "schedulerConfigPath", &file);
    if (!errors_.ok()) return {};
    YamlErrors errors(file);
    SchedulerSettings settings;
    auto parsed = ParseYaml(text);
    if (const auto* problem = std::get_if<YamlProblem>(&parsed)) {
      errors.Add(problem->at, problem->what);
    } else {
      settings = ReadSchedulerConfig(errors, std::get<YamlNode>(parsed), features);
    }
    if (!errors.ok()) errors_.AddForeign(errors.first());
    return settings;
  }

  MetricsConfig DecodeMetrics(const YamlNode& node, FeatureUses& features) {
    MetricsConfig config;
    YamlFields fields(errors_, node, "metricsCollectorConfig");
    const YamlNode* metrics = fields.FindMap("metrics");
    if (metrics == nullptr) return config;
    for (const YamlEntry& entry : metrics->entries) {
      const MetricSupport support = LookUpMetric(entry.key);
      if (support == MetricSupport::kUnknown) {
        errors_.Add(entry.at, "unknown metric \"" + entry.key +
                                  "\", expected one of the scheduler, such as "
                                  "scheduler_scheduling_attempt_duration_seconds");
        return config;
      }
      if (support == MetricSupport::kNotModelled) {
        AddFeature(features, Feature::kMetric, entry.key);
      }
      config[entry.key] = DecodeMetricLabels(entry.value);
    }
    return config;
  }

  std::vector<MetricLabel> DecodeMetricLabels(const YamlNode& node) {
    std::vector<MetricLabel> labels;
    if (node.IsNull()) return labels;
    if (node.kind != YamlKind::kSequence) {
      errors_.Add(node.at, "labels of a metric, expected nothing or a list of label and values");
      return labels;
    }
    for (const YamlNode& item : node.items) {
      MetricLabel label;
      YamlFields fields(errors_, item, "the metric's label");
      fields.ReadRequired("label", &label.label);
      fields.ReadRequired("values", &label.values);
      labels.push_back(std::move(label));
    }
    return labels;
  }

  MetricSelector DecodeSelector(const YamlNode& node) {
    MetricSelector selector;
    selector.bucket.clear();
    YamlFields fields(errors_, node, "the threshold's metric selector");
    fields.ReadRequired("name", &selector.name);
    fields.ReadRequired("dataBucket", &selector.bucket);
    fields.Read("expectLower", &selector.expect_lower);
    if (const auto* labels = fields.FindMap("labels")) {
      for (auto& [key, value] : ReadLabels(errors_, *labels, "labels")) {
        selector.labels.emplace(std::move(key), std::move(value));
      }
    }
    return selector;
  }

  void CheckSelector(TextPosition at, const MetricSelector& selector, const MetricsConfig& config) {
    if (selector.name == kThroughputMetric) return;
    const auto found = config.find(selector.name);
    if (found == config.end()) {
      errors_.Add(at, "the threshold's metric " + selector.name +
                          " is not collected, expected SchedulingThroughput or one of "
                          "metricsCollectorConfig");
      return;
    }
    for (const auto& wanted : selector.labels) {
      const auto matches = [&wanted](const MetricLabel& label) {
        const std::vector<std::string>& values = label.values;
        return label.label == wanted.first &&
               (values.empty() ||
                std::find(values.begin(), values.end(), wanted.second) != values.end());
      };
      if (std::any_of(found->second.begin(), found->second.end(), matches)) continue;
      errors_.Add(at, "label " + wanted.first + "=" + wanted.second +
                          " of the threshold's metric " + selector.name +
                          " is not collected, expected one that is");
      return;
    }
  }

  Threshold DecodeThreshold(const YamlNode& node) {
    Threshold threshold;
    const auto read = [this](const YamlNode& value, double* out) {
      if (ReadYaml(errors_, value, "threshold", out) && *out < 0) {
        errors_.Add(value.at, "threshold is negative, expected 0 or more");
      }
    };
    if (node.kind != YamlKind::kMap) {
      read(node, &threshold.value);
      return threshold;
    }
    for (const YamlEntry& entry : node.entries) read(entry.value, &threshold.by_topic[entry.key]);
    return threshold;
  }

  YamlErrors& errors_;
  TemplateFiles files_;
  GivenParams* const given_;
};

}  // namespace

Result<std::vector<TestCase>> DecodeWorkloadFile(const std::string& path, const FileSource& source,
                                                 GivenParams* given) {
  DefinitionHash hash;
  const FileSource hashed = [&](const std::string& file) {
    Result<std::string> read = source(file);
    if (read) hash.Add(*read);
    return read;
  };
  const Result<std::string> text = hashed(path);
  if (!text) return Error(path + ": " + text.error().message());
  YamlErrors errors(path);
  auto parsed = ParseYaml(*text);
  if (const auto* problem = std::get_if<YamlProblem>(&parsed)) {
    errors.Add(problem->at, problem->what);
    return errors.first();
  }
  std::vector<TestCase> cases =
      FileDecoder(errors, hashed, given).Decode(std::get<YamlNode>(parsed));
  if (!errors.ok()) return errors.first();
  for (TestCase& test_case : cases) test_case.definition = hash.Text();
  return cases;
}

}  // namespace schedq
