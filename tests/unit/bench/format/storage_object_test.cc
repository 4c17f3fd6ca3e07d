// Goal: objects of storage and the volumes of pods are read as the API has them, and what is
// malformed is an error with its place.
// Method: known answers, a table of what is refused, and operations of a workload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_template.h"
#include "bench/format/objects/storage_objects.h"
#include "bench/format/template/value.h"
#include "bench/format/workload/features.h"
#include "bench/format/workload/model.h"
#include "engine/base/result.h"
#include "engine/pod_volumes.h"
#include "tests/unit/bench/format/workload_test_files.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<ApiObjectRef> TryRead(const std::string& kind, const std::string& rest) {
  const std::string yaml = "apiVersion: v1\nkind: " + kind + "\n" + rest;
  return ObjectTemplate::Literal("file.yaml", yaml)->Read(yaml, Value());
}

template <typename Body>
Body Read(const std::string& kind, const std::string& rest) {
  const auto object = TryRead(kind, rest);
  EXPECT_TRUE(object.ok()) << object.error().message();
  return std::get<Body>((*object)->body);
}

TEST(StorageObjects, AVolumeSaysWhoAttachesItAndWhoReachesIt) {
  const auto csi = Read<PersistentVolumeObject>(
      "PersistentVolume",
      "spec:\n  csi: {driver: d, volumeHandle: h, fsType: ext4}\n  capacity: {storage: 2Ki}\n"
      "  accessModes: [ReadOnlyMany]\n  storageClassName: c\n  volumeMode: Block\n"
      "  persistentVolumeReclaimPolicy: Delete\n  claimRef: {namespace: ns, name: x}\n"
      "  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: k, operator: In, "
      "values: [v]}]}]}}\nstatus: {phase: Bound}\n");
  EXPECT_EQ(csi.driver, "d");
  EXPECT_EQ(csi.handle, "h");
  EXPECT_TRUE(csi.is_csi && csi.is_block && csi.goes_with_claim);
  EXPECT_EQ(csi.bytes, 2048);
  EXPECT_THAT(csi.access_modes, ElementsAre("ReadOnlyMany"));
  EXPECT_EQ(csi.class_name, "c");
  EXPECT_EQ(csi.claim, "ns/x");
  ASSERT_EQ(csi.node_terms.size(), 1u);
  EXPECT_EQ(csi.node_terms[0][0].key, "k");
  const auto in_tree = Read<PersistentVolumeObject>(
      "PersistentVolume", "spec: {awsElasticBlockStore: {volumeID: <volume-id>}}\n");
  EXPECT_EQ(in_tree.driver, "ebs.csi.aws.com") << "to which its plugin was migrated";
  EXPECT_EQ(in_tree.handle, "<volume-id>");
  EXPECT_FALSE(in_tree.is_csi || in_tree.goes_with_claim);
  EXPECT_EQ(Read<PersistentVolumeObject>("PersistentVolume", "spec: {nfs: {path: /}}\n").driver,
            "");
}

TEST(StorageObjects, ClaimsClassesAndNodes) {
  const auto claim = Read<PersistentVolumeClaimObject>(
      "PersistentVolumeClaim",
      "spec:\n  accessModes: [ReadWriteOncePod]\n  resources: {requests: {storage: 1Ki}}\n"
      "  storageClassName: c\n  volumeName: v\n  selector: {matchLabels: {a: b}}\n");
  EXPECT_THAT(claim.access_modes, ElementsAre("ReadWriteOncePod"));
  EXPECT_EQ(claim.bytes, 1024);
  EXPECT_EQ(claim.volume_name, "v");
  EXPECT_EQ(claim.selector->at(0).key, "a");
  const auto storage_class = Read<StorageClassObject>(
      "StorageClass",
      "provisioner: p\nvolumeBindingMode: WaitForFirstConsumer\nreclaimPolicy: Retain\n"
      "allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a, b]}]}]\n");
  EXPECT_TRUE(storage_class.waits_for_consumer);
  EXPECT_FALSE(storage_class.deletes_volumes);
  EXPECT_THAT(storage_class.allowed_topologies.at(0).at(0).values, ElementsAre("a", "b"));
  EXPECT_FALSE(Read<StorageClassObject>("StorageClass", "provisioner: p\n").waits_for_consumer);
  const auto node = Read<CsiNodeObject>(
      "CSINode",
      "metadata:\n  name: n\n  annotations: {storage.alpha.kubernetes.io/migrated-plugins: 'a,b'}\n"
      "spec: {drivers: [{name: e, nodeID: n}, {name: d, allocatable: {count: 3}}]}\n");
  EXPECT_THAT(node.limits, ElementsAre(testing::Pair("d", 3)));
  EXPECT_THAT(node.migrated_plugins, ElementsAre("a", "b"));
}

TEST(StorageObjects, PodsMountClaimsAndDisks) {
  const PodObject pod =
      Read<PodObject>("Pod",
                      "metadata: {name: p}\nspec:\n  containers: [{name: c}]\n  volumes:\n"
                      "  - {name: a, persistentVolumeClaim: {claimName: x, readOnly: true}}\n"
                      "  - {name: b, gcePersistentDisk: {pdName: disk, readOnly: true}}\n"
                      "  - {name: c, rbd: {monitors: [m], image: i, pool: q}}\n"
                      "  - {name: d, secret: {secretName: s}}\n");
  ASSERT_NE(pod.pod.volumes, nullptr);
  EXPECT_THAT(pod.pod.volumes->claims, ElementsAre("x"));
  EXPECT_THAT(pod.pod.volumes->disks,
              ElementsAre(InlineDisk{InlineDisk::Kind::kGcePersistentDisk, "disk", {}, true},
                          InlineDisk{InlineDisk::Kind::kRbd, "q/i", {"m"}, false}));
  const PodObject secret = Read<PodObject>("Pod",
                                           "metadata: {name: p}\nspec:\n  containers: [{name: c}]\n"
                                           "  volumes: [{name: s, secret: {secretName: s}}]\n");
  EXPECT_EQ(secret.pod.volumes, nullptr) << "scheduling does not read it";
}

TEST(StorageObjects, WhatIsMalformedIsRefused) {
  const struct {
    const char* kind;
    const char* rest;
    const char* what;
  } rows[] = {
      {"PersistentVolume", "metadata: {name: v}\n", "spec"},
      {"PersistentVolume", "spec: {volumeMode: Blocks}\n", "volumeMode is \"Blocks\""},
      {"PersistentVolume", "spec: {capacity: {storage: -1}}\n", "expected a quantity"},
      {"PersistentVolume", "spec: {persistentVolumeReclaimPolicy: Keep}\n", "\"Keep\""},
      {"PersistentVolume", "spec: {claimRef: {name: x}}\n", "namespace"},
      {"PersistentVolume", "spec: {csi: {volumeHandle: x}}\n", "driver"},
      {"PersistentVolume", "spec: {unknown: 1}\n", "unknown"},
      {"PersistentVolumeClaim", "spec: {volumeName: [1]}\n", "volumeName"},
      {"PersistentVolumeClaim", "spec: {selector: 7}\n", "selector"},
      {"StorageClass", "volumeBindingMode: Immediate\n", "provisioner"},
      {"StorageClass", "provisioner: p\nvolumeBindingMode: Later\n", "\"Later\""},
      {"CSINode", "spec: {drivers: [{nodeID: n}]}\n", "name"},
      {"CSINode", "spec: {drivers: [{name: d, allocatable: {count: -1}}]}\n", "count"},
      {"CSINode", "spec: {drivers: [{name: d}, {name: e}, {name: d}]}\n",
       "driver d is there twice"},
      {"Pod", "spec: {containers: [{name: c}], volumes: [{persistentVolumeClaim: {}}]}\n",
       "claimName"},
      {"Pod", "spec: {containers: [{name: c}], volumes: [{rbd: {image: i}}]}\n", "monitors"},
  };
  for (const auto& row : rows) {
    const auto object = TryRead(row.kind, row.rest);
    ASSERT_FALSE(object.ok()) << row.kind << " " << row.rest;
    EXPECT_THAT(object.error().message(), HasSubstr(row.what));
    EXPECT_THAT(object.error().message(), HasSubstr("file.yaml:"));
  }
}

TEST(StorageOperations, AreDecoded) {
  const TestFiles files = {
      {"pv.yaml", "apiVersion: v1\nkind: PersistentVolume\nspec: {csi: {driver: d}}\n"},
      {"pvc.yaml", "apiVersion: v1\nkind: PersistentVolumeClaim\nspec: {}\n"}};
  const std::string volumes =
      "persistentVolumeTemplatePath: pv.yaml, persistentVolumeClaimTemplatePath: pvc.yaml";
  const auto cases = DecodeText(
      CaseOf("  - {opcode: createNodes, count: 1, nodeAllocatableStrategy: {csiNodeAllocatable: "
             "{e: {count: 2}, d: {count: 3}}, migratedPlugins: [m]}}\n"
             "  - {opcode: createPods, count: 1, collectMetrics: true, " +
             volumes + "}\n"),
      files);
  ASSERT_TRUE(cases.ok()) << cases.error().message();
  const Workload& workload = (*cases)[0].workloads[0];
  const auto& nodes = std::get<CreateNodesOp>(workload.ops[0].action);
  EXPECT_THAT(nodes.allocatable.csi_node->limits,
              ElementsAre(testing::Pair("d", 3), testing::Pair("e", 2)));
  EXPECT_THAT(nodes.allocatable.csi_node->migrated_plugins, ElementsAre("m"));
  for (const FeatureUse& use : workload.features) {
    EXPECT_TRUE(GetFeatureInfo(use.feature).modelled) << GetFeatureInfo(use.feature).name;
  }
  const auto steady =
      DecodeText(CaseOf("  - {opcode: createPods, count: 1, steadyState: true, duration: 1s, " +
                        volumes + "}\n"),
                 files);
  ASSERT_FALSE(steady.ok());
  EXPECT_THAT(steady.error().message(), HasSubstr("steadyState with persistentVolumeClaim"));
}

}  // namespace
}  // namespace schedq
