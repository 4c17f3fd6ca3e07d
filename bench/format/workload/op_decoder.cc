#include "bench/format/workload/op_decoder.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <string_view>
#include <utility>
#include <variant>

#include "bench/format/objects/object_reader.h"
#include "bench/format/objects/storage_objects.h"
#include "bench/format/workload/load_decoder.h"
#include "bench/format/workload/storm_decoder.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"

namespace schedq {
namespace {

constexpr const char* kOpcodes =
    "createNodes, createNamespaces, createPods, createPodSets, deletePods, churn, createAny, "
    "updateAny, createPodGroups, createResourceClaims, allocResourceClaims, barrier, sleep, "
    "startCollectingMetrics, stopCollectingMetrics, startCollectingProfile, "
    "stopCollectingProfile, apiOutage, injectFault, updatePods";

std::string DefaultNamespace(int index) { return "namespace-" + std::to_string(index); }

// Kinds that scheduling reads and whose updates the simulated cluster does not follow.
bool LacksUpdates(std::string_view kind) {
  return kind == "PersistentVolume" || kind == "PersistentVolumeClaim" || kind == "PodGroup" ||
         kind == "CompositePodGroup";
}

}  // namespace

void OpDecoder::Decode(const YamlNode& node, std::vector<Op>* ops) {
  Op op;
  op.index = static_cast<int>(ops->size());
  op.line = node.at.line;
  YamlFields fields(errors_, node, "the operation");
  const YamlNode* opcode = fields.Require("opcode");
  if (opcode == nullptr || !ReadYaml(errors_, *opcode, "opcode", &op.opcode)) return;
  if (op.opcode == "createPodSets") return CreatePodSets(fields, ops);
  if (!DecodeAction(op.opcode, fields, &op)) {
    errors_.Add(opcode->at,
                "opcode is \"" + op.opcode.substr(0, 60) + "\", expected one of " + kOpcodes);
    return;
  }
  if (ops->size() >= kOpCountMax) {
    errors_.Add(node.at, "too many operations, expected at most " + std::to_string(kOpCountMax));
    return;
  }
  ops->push_back(std::move(op));
}

bool OpDecoder::DecodeAction(const std::string& opcode, YamlFields& fields, Op* op) {
  if (opcode == "createNodes") {
    op->action = CreateNodes(fields, op->index);
  } else if (opcode == "createNamespaces") {
    op->action = CreateNamespaces(fields);
  } else if (opcode == "createPods") {
    op->action = CreatePods(fields, op->index);
  } else if (opcode == "deletePods") {
    op->action = DeletePods(fields);
  } else if (opcode == "churn") {
    op->action = Churn(fields, op->index);
  } else if (opcode == "createAny") {
    op->action = CreateAny(fields);
  } else if (opcode == "updateAny") {
    op->action = UpdateAny(fields);
  } else if (opcode == "createPodGroups") {
    op->action = CreatePodGroups(fields);
  } else if (opcode == "createResourceClaims") {
    op->action = CreateResourceClaims(fields);
  } else if (opcode == "allocResourceClaims") {
    fields.Read("namespace", &op->action.emplace<AllocResourceClaimsOp>().namespace_name);
  } else if (opcode == "barrier") {
    op->action = Barrier(fields);
  } else if (opcode == "sleep") {
    op->action = Sleep(fields);
  } else if (opcode == "startCollectingMetrics") {
    op->action = StartCollectingMetrics(fields);
  } else if (opcode == "stopCollectingMetrics") {
    op->action = StopCollectingMetricsOp{};
  } else if (opcode == "startCollectingProfile") {
    op->action = StartCollectingProfile(fields);
  } else if (opcode == "stopCollectingProfile") {
    op->action = StopCollectingProfileOp{ProfileType(fields)};
  } else if (opcode == "apiOutage") {
    op->action = ReadApiOutage(params_, fields);
  } else if (opcode == "injectFault") {
    op->action = ReadInjectFault(params_, fields);
  } else if (opcode == "updatePods") {
    op->action = ReadUpdatePods(params_, fields, Selector(fields));
  } else {
    fields.AllowOthers();
    return false;
  }
  return true;
}

NodeAllocatableStrategy OpDecoder::ReadAllocatable(const YamlNode& node) {
  NodeAllocatableStrategy strategy;
  YamlFields fields(errors_, node, "nodeAllocatableStrategy");
  if (const auto* amounts = fields.FindMap("nodeAllocatable")) {
    strategy.allocatable = ReadResourceList(errors_, *amounts);
  }
  CsiNodeObject& csi_node = strategy.csi_node.emplace();
  if (const auto* drivers = fields.FindMap("csiNodeAllocatable")) {
    AddFeature(features_, Feature::kCsiNodeAllocatable);
    for (const YamlEntry& driver : drivers->entries) {
      int64_t count = 0;
      YamlFields amounts(errors_, driver.value, driver.key);
      if (amounts.ReadCount("count", &count)) csi_node.limits.emplace_back(driver.key, count);
    }
    std::sort(csi_node.limits.begin(), csi_node.limits.end());
  }
  fields.Read("migratedPlugins", &csi_node.migrated_plugins);
  return strategy;
}

CreateNodesOp OpDecoder::CreateNodes(YamlFields& fields, int index) {
  CreateNodesOp op;
  params_.ReadCount(fields, "count", &op.count);
  op.node.object = Template(fields, "nodeTemplatePath", Form::kTemplate);
  if (op.node.object == nullptr) {
    op.node.object = ObjectTemplate::DefaultNode("node-" + std::to_string(index) + "-");
  }
  op.node.params = params_.ReadTemplateParams(fields);
  if (const auto* strategy = fields.FindMap("nodeAllocatableStrategy")) {
    op.allocatable = ReadAllocatable(*strategy);
  }
  if (const auto* strategy = fields.FindMap("labelNodePrepareStrategy")) {
    YamlFields parts(errors_, *strategy, "labelNodePrepareStrategy");
    parts.ReadRequired("labelKey", &op.label.key);
    parts.ReadRequired("labelValues", &op.label.values);
    if (op.label.values.empty()) {
      errors_.Add(strategy->at, "labelValues is empty, expected at least one value");
    }
  }
  if (const auto* strategy = fields.FindMap("uniqueNodeLabelStrategy")) {
    YamlFields parts(errors_, *strategy, "uniqueNodeLabelStrategy");
    parts.ReadRequired("labelKey", &op.unique_label_key);
  }
  TryObjects(op.node, op.count, "Node", fields);
  return op;
}

CreateNamespacesOp OpDecoder::CreateNamespaces(YamlFields& fields) {
  CreateNamespacesOp op;
  fields.ReadRequired("prefix", &op.prefix);
  params_.ReadCount(fields, "count", &op.count);
  op.namespace_object.object = Template(fields, "namespaceTemplatePath", Form::kLiteral);
  TryObjects(op.namespace_object, op.count, "Namespace", fields);
  return op;
}

CreatePodsOp OpDecoder::CreatePods(YamlFields& fields, int index) {
  CreatePodsOp op;
  params_.ReadCount(fields, "count", &op.count);
  if (const auto multiplier = params_.ReadCountParam(fields, "countMultiplierParam")) {
    op.count *= *multiplier;
    if (op.count > kYamlCountMax) {
      errors_.Add(fields.node().at, "count is " + std::to_string(op.count) + ", expected at most " +
                                        std::to_string(kYamlCountMax));
    }
  }
  params_.ReadBool(fields, "steadyState", &op.steady_state);
  params_.ReadDuration(fields, "duration", &op.duration);
  fields.Read("collectMetrics", &op.collect_metrics);
  op.namespace_name = DefaultNamespace(index);
  fields.Read("namespace", &op.namespace_name);
  fields.Read("skipWaitToCompletion", &op.skip_wait);
  params_.ReadCount(fields, "signatureBatchSize", &op.signature_batch_size);
  op.pod.object = Template(fields, "podTemplatePath", Form::kTemplate);
  if (op.pod.object == nullptr && default_pod_path_ != nullptr) {
    op.pod.object =
        files_.Load(errors_, *default_pod_path_, "defaultPodTemplatePath", Form::kTemplate);
  }
  op.signature_batch_size =
      op.pod.object == nullptr ? 0 : std::max<int64_t>(op.signature_batch_size, 1);
  if (op.pod.object == nullptr) op.pod.object = ObjectTemplate::DefaultPod();
  op.pod.params = params_.ReadTemplateParams(fields);
  ReadLoad(params_, fields, &op);
  op.persistent_volume = Template(fields, "persistentVolumeTemplatePath", Form::kLiteral);
  op.persistent_volume_claim =
      Template(fields, "persistentVolumeClaimTemplatePath", Form::kLiteral);
  if (op.persistent_volume_claim != nullptr) {
    AddFeature(features_, Feature::kPersistentVolumes);
    TryObjects({op.persistent_volume, {}}, op.count, "PersistentVolume", fields);
    TryObjects({op.persistent_volume_claim, {}}, op.count, "PersistentVolumeClaim", fields);
  }
  CheckPods(fields, op);
  TryObjects(op.pod, op.count, "Pod", fields);
  return op;
}

void OpDecoder::CheckPods(const YamlFields& fields, const CreatePodsOp& op) {
  const TextPosition at = fields.node().at;
  if (op.collect_metrics && op.skip_wait) {
    errors_.Add(at, "collectMetrics with skipWaitToCompletion, expected at most one of them");
  }
  if (op.steady_state && op.skip_wait) {
    errors_.Add(at, "steadyState with skipWaitToCompletion, expected at most one of them");
  }
  if (op.steady_state && op.duration <= Duration(0) && params_.defect().empty()) {
    errors_.Add(at, "steadyState without duration, expected one above 0");
  }
  if (op.steady_state && op.persistent_volume_claim != nullptr) {
    errors_.Add(at, "steadyState with persistentVolumeClaimTemplatePath, expected one of them");
  }
  if (op.persistent_volume_claim != nullptr && op.persistent_volume == nullptr) {
    errors_.Add(at,
                "persistentVolumeClaimTemplatePath without persistentVolumeTemplatePath, "
                "expected both");
  }
}

void OpDecoder::CreatePodSets(YamlFields& fields, std::vector<Op>* ops) {
  int64_t count = 0;
  std::string prefix;
  params_.ReadCount(fields, "count", &count);
  fields.ReadRequired("namespacePrefix", &prefix);
  const YamlNode* inner = fields.Require("createPodsOp");
  if (inner == nullptr || !errors_.ok()) return;
  if (ops->size() + static_cast<size_t>(count) > kOpCountMax) {
    errors_.Add(fields.node().at, "createPodSets makes " + std::to_string(count) +
                                      " operations, expected at most " +
                                      std::to_string(kOpCountMax) + " in a workload");
    return;
  }
  if (inner->kind == YamlKind::kMap) {
    YamlFields inner_fields(errors_, *inner, "createPodsOp");
    inner_fields.AllowOthers();
    if (const YamlNode* dropped = inner_fields.Find("namespace")) {
      errors_.Add(dropped->at,
                  "namespace in createPodsOp, expected only namespacePrefix beside it");
    }
  }
  std::vector<Op> once;
  Decode(*inner, &once);
  if (!errors_.ok()) return;
  // createPodSets in createPodSets unrolls to any number of operations, whose sets would be lost.
  if (once.size() != 1 || once[0].opcode != "createPods") {
    errors_.Add(inner->at, "createPodsOp is " + (once.empty() ? "createPodSets" : once[0].opcode) +
                               ", expected createPods");
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    Op op = once[0];
    op.index = static_cast<int>(ops->size());
    op.opcode = "createPodSets";
    std::get<CreatePodsOp>(op.action).namespace_name = prefix + "-" + std::to_string(i);
    ops->push_back(std::move(op));
  }
}

DeletePodsOp OpDecoder::DeletePods(YamlFields& fields) {
  DeletePodsOp op;
  fields.ReadRequired("namespace", &op.namespace_name);
  op.selector = Selector(fields);
  fields.Read("skipWaitToCompletion", &op.skip_wait);
  fields.ReadCount("deletePodsPerSecond", &op.pods_per_second);
  return op;
}

ChurnOp OpDecoder::Churn(YamlFields& fields, int index) {
  ChurnOp op;
  std::string mode;
  fields.ReadRequired("mode", &mode);
  if (mode != "create" && mode != "recreate") {
    errors_.Add(fields.node().at, "mode is \"" + mode + "\", expected create or recreate");
  }
  op.recreate = mode == "recreate";
  fields.ReadCount("number", &op.number);
  if (op.recreate && op.number == 0) {
    errors_.Add(fields.node().at, "number is 0 with mode recreate, expected at least 1");
  }
  int64_t interval_ms = 0;
  fields.ReadCount("intervalMilliseconds", &interval_ms);
  if (interval_ms > 0) op.interval = std::chrono::milliseconds(interval_ms);
  op.namespace_name = DefaultNamespace(index);
  fields.Read("namespace", &op.namespace_name);
  const YamlNode* paths = fields.FindList("templatePaths");
  if (paths == nullptr || paths->items.empty()) {
    errors_.Add(fields.node().at, "churn has no templatePaths, expected at least one");
    return op;
  }
  for (const YamlNode& path : paths->items) {
    op.objects.push_back(files_.Load(errors_, path, "templatePaths", Form::kLiteral));
    TryObjects({op.objects.back(), {}}, 1);
  }
  return op;
}

CreateAnyOp OpDecoder::CreateAny(YamlFields& fields) {
  CreateAnyOp op;
  fields.Read("namespace", &op.namespace_name);
  params_.ReadCount(fields, "count", &op.count);
  op.object.object = RequiredTemplate(fields, "templatePath", Form::kTemplate);
  op.object.params = params_.ReadTemplateParams(fields);
  CheckScope(op.object, op.count, op.namespace_name, fields);
  return op;
}

UpdateAnyOp OpDecoder::UpdateAny(YamlFields& fields) {
  UpdateAnyOp op;
  AddFeature(features_, Feature::kUpdateAny);
  fields.Read("namespace", &op.namespace_name);
  params_.ReadCount(fields, "count", &op.count);
  fields.ReadCount("updatePerSecond", &op.updates_per_second);
  op.object.object = RequiredTemplate(fields, "templatePath", Form::kTemplate);
  if (fields.Read("subresources", &op.subresources)) CheckSubresources(fields, op);
  CheckScope(op.object, op.count, op.namespace_name, fields);
  CheckUpdatable(op, fields);
  return op;
}

void OpDecoder::CheckSubresources(YamlFields& fields, const UpdateAnyOp& op) {
  const auto is_known = [](const std::string& name) {
    return name == kResizeSubresource || name == kStatusSubresource;
  };
  if (op.subresources.size() <= 1 &&
      std::all_of(op.subresources.begin(), op.subresources.end(), is_known)) {
    return;
  }
  errors_.Add(fields.Find("subresources")->at,
              "subresources, expected at most one: status or resize");
}

// The operation names objects that are there, and writes a status behind each.
void OpDecoder::CheckUpdatable(const UpdateAnyOp& op, const YamlFields& fields) {
  const ApiObjectRef object = TryObjects(op.object, op.count);
  if (object == nullptr) return;
  const std::string& file = op.object.object->text().file();
  if (object->metadata.name.empty()) {
    errors_.Add(fields.node().at, file + " has no metadata.name, expected that of an object");
  }
  if (!HasStatus(object->kind)) {
    errors_.Add(fields.node().at, file + " is of kind " + object->kind +
                                      ", which has no status for updateAny to write");
  }
  if (LacksUpdates(object->kind)) AddFeature(features_, Feature::kUpdatedKind, object->kind);
  const bool resizes = !op.subresources.empty() && op.subresources[0] == kResizeSubresource;
  if (resizes && object->kind != "Pod") {
    errors_.Add(fields.node().at,
                file + " is of kind " + object->kind + ", expected a Pod to resize");
  }
}

CreatePodGroupsOp OpDecoder::CreatePodGroups(YamlFields& fields) {
  CreatePodGroupsOp op;
  AddFeature(features_, Feature::kCreatePodGroups);
  fields.ReadRequired("namespace", &op.namespace_name);
  params_.ReadCount(fields, "count", &op.count);
  if (op.count < 1 && params_.defect().empty()) {
    errors_.Add(fields.node().at, "count is 0, expected at least 1 pod group");
  }
  op.group.object = RequiredTemplate(fields, "templatePath", Form::kTemplate);
  op.group.params = params_.ReadTemplateParams(fields);
  TryObjects(op.group, op.count, "PodGroup", fields);
  return op;
}

CreateResourceClaimsOp OpDecoder::CreateResourceClaims(YamlFields& fields) {
  CreateResourceClaimsOp op;
  fields.ReadRequired("namespace", &op.namespace_name);
  params_.ReadCount(fields, "count", &op.count);
  op.claim.object = RequiredTemplate(fields, "templatePath", Form::kLiteral);
  TryObjects(op.claim, op.count, "ResourceClaim", fields);
  return op;
}

BarrierOp OpDecoder::Barrier(YamlFields& fields) {
  BarrierOp op;
  fields.Read("namespaces", &op.namespaces);
  op.selector = Selector(fields);
  std::string stage = "Scheduled";
  fields.Read("stageRequirement", &stage);
  if (!stage.empty() && stage != "Scheduled" && stage != "Attempted") {
    errors_.Add(fields.node().at,
                "stageRequirement is \"" + stage + "\", expected Scheduled or Attempted");
  }
  op.attempted = stage == "Attempted";
  return op;
}

SleepOp OpDecoder::Sleep(YamlFields& fields) {
  SleepOp op;
  params_.ReadDuration(fields, "duration", &op.duration);
  return op;
}

StartCollectingMetricsOp OpDecoder::StartCollectingMetrics(YamlFields& fields) {
  StartCollectingMetricsOp op;
  fields.Read("name", &op.name);
  fields.ReadRequired("namespaces", &op.namespaces);
  if (op.namespaces.empty()) {
    errors_.Add(fields.node().at, "namespaces is empty, expected at least one");
  }
  op.selector = Selector(fields);
  return op;
}

StartCollectingProfileOp OpDecoder::StartCollectingProfile(YamlFields& fields) {
  StartCollectingProfileOp op;
  op.type = ProfileType(fields);
  fields.ReadRequired("filePath", &op.file_path);
  return op;
}

std::string OpDecoder::ProfileType(YamlFields& fields) {
  AddFeature(features_, Feature::kCollectProfile);
  std::string type;
  fields.ReadRequired("type", &type);
  std::string upper = type;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (upper != "CPU") errors_.Add(fields.node().at, "type is \"" + type + "\", expected CPU");
  return type;
}

Labels OpDecoder::Selector(YamlFields& fields) {
  const YamlNode* node = fields.FindMap("labelSelector");
  return node == nullptr ? Labels{} : ReadLabels(errors_, *node, "labelSelector");
}

ObjectTemplateRef OpDecoder::Template(YamlFields& fields, std::string_view key, Form form) {
  const YamlNode* path = fields.Find(key);
  return path == nullptr ? nullptr : files_.Load(errors_, *path, key, form);
}

ObjectTemplateRef OpDecoder::RequiredTemplate(YamlFields& fields, std::string_view key, Form form) {
  const YamlNode* path = fields.Require(key);
  return path == nullptr ? nullptr : files_.Load(errors_, *path, key, form);
}

ApiObjectRef OpDecoder::TryObjects(const ObjectSource& source, int64_t count) {
  // In a workload with a defect, defaults stand for the values of undefined parameters.
  if (source.object == nullptr || count == 0 || !errors_.ok() || !params_.defect().empty()) {
    return nullptr;
  }
  ObjectRenderer renderer(source, count);
  ApiObjectRef first;
  for (int64_t index : {int64_t{0}, count - 1}) {
    const Result<ApiObjectRef> object = renderer.Render(index);
    if (!object) {
      errors_.AddForeign(object.error());
      return nullptr;
    }
    if (first == nullptr) first = *object;
    for (const FeatureUse& use : (*object)->features) {
      AddFeature(features_, use.feature, use.detail);
    }
  }
  return first;
}

void OpDecoder::TryObjects(const ObjectSource& source, int64_t count, std::string_view kind,
                           const YamlFields& fields) {
  const ApiObjectRef object = TryObjects(source, count);
  if (object == nullptr || object->kind == kind) return;
  errors_.Add(fields.node().at, source.object->text().file() + " is of kind " + object->kind +
                                    ", expected " + std::string(kind));
}

void OpDecoder::CheckScope(const ObjectSource& source, int64_t count,
                           const std::string& namespace_name, const YamlFields& fields) {
  const ApiObjectRef object = TryObjects(source, count);
  if (object == nullptr) return;
  const auto namespaced = IsNamespacedKind(object->kind);
  if (!namespaced || *namespaced == !namespace_name.empty()) return;
  errors_.Add(fields.node().at,
              (*namespaced ? "namespace is missing, expected one for a "
                           : "namespace \"" + namespace_name + "\", expected none for a ") +
                  object->kind);
}

}  // namespace schedq
