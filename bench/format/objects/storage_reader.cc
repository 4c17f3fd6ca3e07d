#include "bench/format/objects/storage_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/objects/object_reader.h"
#include "bench/format/objects/rules_reader.h"
#include "engine/label_selector.h"
#include "engine/pod_rules.h"

namespace schedq {
namespace {

using Kind = InlineDisk::Kind;

// The source of a volume whose disk is named by one field, in a pod or in a PersistentVolume.
struct DiskSource {
  const char* key;
  const char* name_field;
  Kind kind;
};
constexpr std::array<DiskSource, 5> kDiskSources = {{
    {"gcePersistentDisk", "pdName", Kind::kGcePersistentDisk},
    {"awsElasticBlockStore", "volumeID", Kind::kAwsElasticBlockStore},
    {"azureDisk", "diskURI", Kind::kAzureDisk},
    {"cinder", "volumeID", Kind::kCinder},
    {"portworxVolume", "volumeID", Kind::kPortworx},
}};

int64_t ReadStorage(YamlErrors& errors, const YamlNode* amounts) {
  if (amounts == nullptr) return 0;
  for (const auto& [name, amount] : ReadResourceList(errors, *amounts)) {
    if (name == "storage") return amount;
  }
  return 0;
}

bool ReadIsBlock(YamlFields& fields) {
  std::string mode = "Filesystem";
  if (fields.Read("volumeMode", &mode) && mode != "Filesystem" && mode != "Block") {
    fields.errors().Add(fields.node().at,
                        "volumeMode is \"" + mode + "\", expected Filesystem or Block");
  }
  return mode == "Block";
}

// True for Delete.
bool ReadReclaimPolicy(YamlFields& fields, const char* key, std::string policy) {
  fields.Read(key, &policy);
  if (policy != "Delete" && policy != "Retain" && policy != "Recycle") {
    fields.errors().Add(fields.node().at, std::string(key) + " is \"" + policy +
                                              "\", expected Delete, Retain or Recycle");
  }
  return policy == "Delete";
}

void ReadVolumeSource(YamlErrors& errors, YamlFields& fields, PersistentVolumeObject* body) {
  if (const auto* csi = fields.Find("csi")) {
    YamlFields parts(errors, *csi, "csi");
    parts.ReadRequired("driver", &body->driver);
    parts.Read("volumeHandle", &body->handle);
    parts.AllowOthers();
    body->is_csi = true;
  }
  for (const DiskSource& source : kDiskSources) {
    const auto* node = fields.Find(source.key);
    if (node == nullptr) continue;
    YamlFields parts(errors, *node, source.key);
    parts.Read(source.name_field, &body->handle);
    parts.AllowOthers();
    body->driver = MigratedDriverOf(source.kind);
  }
  fields.Ignore({"hostPath", "nfs", "local", "iscsi", "rbd", "cephfs", "fc", "azureFile",
                 "flexVolume", "flocker", "glusterfs", "photonPersistentDisk", "quobyte", "scaleIO",
                 "storageos", "vsphereVolume"});
}

// Of a class's allowedTopologies: each term's expressions say which values a label may have.
std::vector<NodeTerm> ReadTopologies(YamlErrors& errors, const YamlNode* list) {
  std::vector<NodeTerm> terms;
  if (list == nullptr) return terms;
  for (const YamlNode& item : list->items) {
    NodeTerm& term = terms.emplace_back();
    YamlFields fields(errors, item, "an allowed topology");
    const auto* expressions = fields.FindList("matchLabelExpressions");
    if (expressions == nullptr) continue;
    for (const YamlNode& expression : expressions->items) {
      NodeRequirement& requirement = term.emplace_back();
      requirement.op = LabelRequirement::Operator::kIn;
      YamlFields parts(errors, expression, "an expression of an allowed topology");
      parts.ReadRequired("key", &requirement.key);
      parts.ReadRequired("values", &requirement.values);
    }
  }
  return terms;
}

InlineDisk ReadRbd(YamlErrors& errors, const YamlNode& node) {
  InlineDisk disk{Kind::kRbd, "", {}, false};
  std::string pool = "rbd";
  YamlFields fields(errors, node, "rbd");
  fields.ReadRequired("image", &disk.name);
  fields.Read("pool", &pool);
  fields.ReadRequired("monitors", &disk.monitors);
  fields.Read("readOnly", &disk.read_only);
  fields.AllowOthers();
  disk.name = pool + '/' + disk.name;
  return disk;
}

InlineDisk ReadDisk(YamlErrors& errors, const YamlNode& node, const char* what, Kind kind,
                    const char* name_field) {
  InlineDisk disk{kind, "", {}, false};
  YamlFields fields(errors, node, what);
  fields.ReadRequired(name_field, &disk.name);
  fields.Read("readOnly", &disk.read_only);
  fields.AllowOthers();
  return disk;
}

void ReadPodVolume(YamlErrors& errors, const YamlNode& node, PodVolumes* volumes,
                   FeatureUses& features) {
  YamlFields fields(errors, node, "a volume");
  fields.AllowOthers();
  if (const auto* claim = fields.Find("persistentVolumeClaim")) {
    YamlFields parts(errors, *claim, "persistentVolumeClaim");
    parts.ReadRequired("claimName", &volumes->claims.emplace_back());
    parts.Ignore({"readOnly"});
  }
  for (const DiskSource& source : kDiskSources) {
    if (const auto* disk = fields.Find(source.key)) {
      volumes->disks.push_back(ReadDisk(errors, *disk, source.key, source.kind, source.name_field));
    }
  }
  if (const auto* disk = fields.Find("iscsi")) {
    volumes->disks.push_back(ReadDisk(errors, *disk, "iscsi", Kind::kIscsi, "iqn"));
  }
  if (const auto* disk = fields.Find("rbd")) volumes->disks.push_back(ReadRbd(errors, *disk));
  if (fields.Find("ephemeral") != nullptr) AddFeature(features, Feature::kEphemeralVolumes);
}

}  // namespace

PersistentVolumeObject ReadPersistentVolumeBody(YamlErrors& errors, const YamlNode& spec) {
  PersistentVolumeObject body;
  YamlFields fields(errors, spec, "the volume's spec");
  ReadVolumeSource(errors, fields, &body);
  body.bytes = ReadStorage(errors, fields.Find("capacity"));
  fields.Read("accessModes", &body.access_modes);
  fields.Read("storageClassName", &body.class_name);
  body.is_block = ReadIsBlock(fields);
  body.goes_with_claim = ReadReclaimPolicy(fields, "persistentVolumeReclaimPolicy", "Retain");
  if (const auto* affinity = fields.Find("nodeAffinity")) {
    YamlFields parts(errors, *affinity, "nodeAffinity");
    if (const auto* required = parts.Find("required")) {
      body.node_terms = ReadNodeSelector(errors, *required);
    }
  }
  if (const auto* claim = fields.Find("claimRef")) {
    std::string namespace_name;
    std::string name;
    YamlFields parts(errors, *claim, "claimRef");
    parts.ReadRequired("namespace", &namespace_name);
    parts.ReadRequired("name", &name);
    parts.Ignore({"kind", "apiVersion", "uid", "resourceVersion", "fieldPath"});
    body.claim = QualifiedName(namespace_name, name);
  }
  fields.Ignore({"mountOptions", "volumeAttributesClassName"});
  return body;
}

PersistentVolumeClaimObject ReadPersistentVolumeClaimBody(YamlErrors& errors,
                                                          const YamlNode& spec) {
  PersistentVolumeClaimObject body;
  YamlFields fields(errors, spec, "the volume claim's spec");
  if (const auto* resources = fields.Find("resources")) {
    YamlFields parts(errors, *resources, "resources");
    body.bytes = ReadStorage(errors, parts.Find("requests"));
    parts.Ignore({"limits"});
  }
  fields.Read("accessModes", &body.access_modes);
  fields.Read("storageClassName", &body.class_name);
  body.is_block = ReadIsBlock(fields);
  if (const auto* selector = fields.Find("selector")) {
    body.selector = ReadLabelSelector(errors, *selector);
  }
  fields.Read("volumeName", &body.volume_name);
  fields.Ignore({"dataSource", "dataSourceRef", "volumeAttributesClassName"});
  return body;
}

StorageClassObject ReadStorageClassBody(YamlFields& fields) {
  StorageClassObject body;
  fields.ReadRequired("provisioner", &body.provisioner);
  std::string mode = "Immediate";
  if (fields.Read("volumeBindingMode", &mode) && mode != "Immediate" &&
      mode != "WaitForFirstConsumer") {
    fields.errors().Add(fields.node().at, "volumeBindingMode is \"" + mode +
                                              "\", expected Immediate or WaitForFirstConsumer");
  }
  body.waits_for_consumer = mode == "WaitForFirstConsumer";
  body.deletes_volumes = ReadReclaimPolicy(fields, "reclaimPolicy", "Delete");
  body.allowed_topologies = ReadTopologies(fields.errors(), fields.FindList("allowedTopologies"));
  fields.Ignore({"parameters", "mountOptions", "allowVolumeExpansion"});
  return body;
}

CsiNodeObject ReadCsiNodeBody(YamlErrors& errors, const YamlNode* spec, const Labels& annotations) {
  CsiNodeObject body;
  const std::string_view migrated =
      LabelValue(annotations, "storage.alpha.kubernetes.io/migrated-plugins");
  for (size_t begin = 0; begin < migrated.size();) {
    const size_t end = std::min(migrated.find(',', begin), migrated.size());
    body.migrated_plugins.emplace_back(migrated.substr(begin, end - begin));
    begin = end + 1;
  }
  if (spec == nullptr) return body;
  YamlFields fields(errors, *spec, "the CSINode's spec");
  const auto* drivers = fields.FindList("drivers");
  if (drivers == nullptr) return body;
  std::set<std::string> names;
  for (const YamlNode& item : drivers->items) {
    std::string name;
    int64_t count = 0;
    YamlFields parts(errors, item, "a driver");
    if (parts.ReadRequired("name", &name) && !names.insert(name).second) {
      errors.Add(item.at, "driver " + name + " is there twice, expected each driver once");
    }
    parts.Ignore({"nodeID", "topologyKeys"});
    if (const auto* allocatable = parts.Find("allocatable")) {
      YamlFields amounts(errors, *allocatable, "the driver's allocatable");
      if (amounts.ReadCount("count", &count)) body.limits.emplace_back(name, count);
    }
  }
  std::sort(body.limits.begin(), body.limits.end());
  return body;
}

PodVolumes ReadPodVolumes(YamlErrors& errors, const YamlNode* list, FeatureUses& features) {
  PodVolumes volumes;
  if (list == nullptr) return volumes;
  for (const YamlNode& item : list->items) ReadPodVolume(errors, item, &volumes, features);
  return volumes;
}

}  // namespace schedq
