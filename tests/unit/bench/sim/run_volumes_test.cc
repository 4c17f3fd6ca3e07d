// Goal: workloads with volumes play to their end on both clocks and with both engines, and the
// audit has nothing to say: limits of nodes, claims for one pod, claims that wait for their pod.
// Method: small workloads in scheduler_perf's format. Nothing here waits for the flush of the pool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tuple>

#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "perf/documents/run_document.h"
#include "tests/unit/bench/format/workload_test_files.h"
#include "tests/unit/bench/sim/run_ops.h"

namespace schedq {
namespace {

const TestFiles kFiles = {
    {"pv.yaml",
     "apiVersion: v1\nkind: PersistentVolume\n"
     "spec: {accessModes: [ReadWriteOncePod], capacity: {storage: 1Gi}, csi: {driver: d}}\n"},
    {"pvc.yaml",
     "apiVersion: v1\nkind: PersistentVolumeClaim\n"
     "metadata: {annotations: {pv.kubernetes.io/bind-completed: 'true'}}\n"
     "spec: {accessModes: [ReadWriteOncePod], resources: {requests: {storage: 1Gi}}}\n"},
    {"first.yaml",
     "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-, labels: {type: first}}\n"
     "spec: {containers: [{name: c, image: i}], terminationGracePeriodSeconds: 0}\n"},
    {"sharer.yaml",
     "apiVersion: v1\nkind: Pod\nmetadata: {generateName: s-}\n"
     "spec: {containers: [{name: c, image: i}], volumes: [{name: v, persistentVolumeClaim: "
     "{claimName: 'pvc-{{.Index}}'}}]}\n"},
    {"class.yaml",
     "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: late}\n"
     "provisioner: d\nvolumeBindingMode: WaitForFirstConsumer\n"},
    {"local.yaml",
     "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: 'local-{{.Index}}'}\n"
     "spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, storageClassName: late}\n"},
    {"late.yaml",
     "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: 'pvc-{{.Index}}'}\n"
     "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, "
     "storageClassName: late}\n"}};

const std::string kNodes =
    "  - {opcode: createNodes, count: 2, nodeAllocatableStrategy: {csiNodeAllocatable: "
    "{d: {count: 3}}}}\n";
const std::string kWithVolume =
    "persistentVolumeTemplatePath: pv.yaml, persistentVolumeClaimTemplatePath: pvc.yaml, "
    "podTemplatePath: first.yaml";

class VolumeRunTest : public testing::TestWithParam<ClockAndEngine> {
 protected:
  // `bound` pods in all.
  void ExpectMeasured(const std::string& ops, double bound) {
    const RunOutcome outcome = RunOps(ops, kFiles, GetParam(), RunOptions());
    ASSERT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
    EXPECT_EQ(outcome.counters.at("scheduler_schedule_attempts_total{result=\"scheduled\","
                                  "profile=\"default-scheduler\"}"),
              bound);
    EXPECT_LT(outcome.repetition.seconds, 60) << "the flush comes after five minutes";
  }
};

TEST_P(VolumeRunTest, PodsWithVolumesOfTheirOwn) {
  ExpectMeasured(
      kNodes + "  - {opcode: createPods, count: 6, collectMetrics: true, " + kWithVolume + "}\n",
      6);
}

TEST_P(VolumeRunTest, PodsWaitForRoomAndForClaimsThatOnePodHas) {
  ExpectMeasured(
      kNodes + "  - {opcode: createPods, count: 6, namespace: a, " + kWithVolume +
          "}\n"
          "  - {opcode: startCollectingMetrics, namespaces: [a, b]}\n"
          "  - {opcode: createPods, count: 3, namespace: b, skipWaitToCompletion: true, " +
          kWithVolume +
          "}\n"
          "  - {opcode: createPods, count: 3, namespace: a, skipWaitToCompletion: true, "
          "podTemplatePath: sharer.yaml}\n"
          "  - {opcode: barrier, stageRequirement: Attempted}\n"
          "  - {opcode: deletePods, namespace: a, labelSelector: {type: first}}\n"
          "  - {opcode: barrier}\n"
          "  - {opcode: stopCollectingMetrics}\n",
      12);
}

// Two get the volumes that are there, for the others volumes are made.
TEST_P(VolumeRunTest, ClaimsThatWaitForTheirPodAreBoundWithIt) {
  ExpectMeasured(kNodes +
                     "  - {opcode: createAny, templatePath: class.yaml}\n"
                     "  - {opcode: createAny, count: 2, templatePath: local.yaml}\n"
                     "  - {opcode: createAny, count: 5, namespace: a, templatePath: late.yaml}\n"
                     "  - {opcode: createPods, count: 5, namespace: a, collectMetrics: true, "
                     "podTemplatePath: sharer.yaml}\n",
                 5);
}

INSTANTIATE_TEST_SUITE_P(Each, VolumeRunTest, ClocksAndEngines(), NameOfClockAndEngine);

}  // namespace
}  // namespace schedq
