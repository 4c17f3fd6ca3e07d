// Executes the operations of one workload, one after the other, in virtual time.
//
// Purpose: executes each opcode of docs/formats.md as scheduler_perf does. A wait for pods ends
// when scheduler_perf would see that it may, which looks at once and then once a second; on the
// real clock it ends as soon as the informers deliver its condition. It ends after ten minutes.
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_template.h"
#include "bench/format/objects/storage_objects.h"
#include "bench/format/workload/model.h"
#include "bench/sim/measure/pod_watch.h"
#include "bench/sim/measure/section.h"
#include "bench/sim/run/churn.h"
#include "bench/sim/run/simulation.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "perf/documents/real_figures.h"

namespace schedq {

class WorkloadRunner {
 public:
  WorkloadRunner(Simulation* simulation, const TestCase& test_case, const Workload& workload);

  // Executes all operations. kTimeout: an operation did not end; failure() names it. Returns an
  // error for a template that does not render, or operations that do not fit together.
  Result<WaitResult> Run();

  // Ends the churns of the workload, which run on behind its last operation.
  void StopChurns();

  const std::string& failure() const { return failure_; }
  // Both hold the measurements of all sections.
  const std::vector<SectionResult>& sections() const { return sections_; }
  const SectionLatencies& latencies() const { return latencies_; }
  // Resident memory while a workload goes on for RunOptions::duration.
  const std::optional<MemoryCourse>& memory() const { return memory_; }

 private:
  using Outcome = Result<WaitResult>;

  Outcome Execute(const CreateNodesOp& op);
  Outcome Execute(const CreateNamespacesOp& op);
  Outcome Execute(const CreatePodsOp& op);
  Outcome Execute(const DeletePodsOp& op);
  Outcome Execute(const ChurnOp& op);
  Outcome Execute(const CreateAnyOp& op);
  Outcome Execute(const CreateResourceClaimsOp& op);
  Outcome Execute(const AllocResourceClaimsOp& op);
  Outcome Execute(const BarrierOp& op);
  Outcome Execute(const SleepOp& op);
  Outcome Execute(const StartCollectingMetricsOp& op);
  Outcome Execute(const StopCollectingMetricsOp& op);
  // The output names the profiles that are not collected. A workload with one of the two operations
  // after them is never run.
  Outcome Execute(const StartCollectingProfileOp&) { return WaitResult::kDone; }
  Outcome Execute(const StopCollectingProfileOp&) { return WaitResult::kDone; }
  Outcome Execute(const ApiOutageOp& op);
  Outcome Execute(const InjectFaultOp& op);
  Outcome Execute(const UpdatePodsOp& op);
  Outcome Execute(const UpdateAnyOp& op);
  Outcome Execute(const CreatePodGroupsOp& op);

  Outcome CreateObjects(const ObjectSource& source, int64_t count, int workers,
                        const std::string& namespace_name);
  Outcome CreateManyPods(const CreatePodsOp& op);
  // Creates one object in the cluster at once. Returns its name, or nullopt and sets error_.
  std::optional<std::string> Create(const Result<ApiObjectRef>& object,
                                    const std::string& namespace_name, const Labels& extra_labels);
  Outcome PrepareNodes(const CreateNodesOp& op, const std::vector<std::string>& names);
  Outcome DeclareFeatures();
  // Creates the node's CSINode, or changes it.
  void SetCsiNode(const CsiNodeObject& csi_node, const std::string& node);
  Outcome WaitForNodes();
  // Until the informers have delivered all that there is now, and it is handled.
  Outcome WaitForDelivery(const std::function<bool()>& is_handled, const std::string& what);
  Outcome KeepSteady(const CreatePodsOp& op);
  // Lets the churns go on for RunOptions::duration, in a section of its own if there is none.
  WaitResult GoOn();
  // Lets the time pass, and follows the memory where RunOptions::duration is set.
  WaitResult PassTime(Duration duration);
  Outcome WaitForPods(const PodSelection& selection, int64_t count, bool attempted);
  Outcome WaitFor(const std::function<bool()>& done, const std::string& what);
  // Looks at once and then once a second, as scheduler_perf does.
  Outcome WaitForLook(const std::function<bool()>& done, const std::string& what);
  void StartSection(const std::string& name, PodSelection pods);
  void StopSection();
  // Allocates the claim's devices on the first node that has them, starting from a random node.
  bool Allocate(const std::string& claim);

  Simulation* const simulation_;
  const TestCase& test_case_;
  const Workload& workload_;
  const Op* op_ = nullptr;                     // The current operation.
  std::map<std::string, int64_t> unfinished_;  // The pods that a barrier waits for, by namespace.
  std::optional<Error> error_;                 // The error of a call under way.
  std::vector<std::string> created_;           // The names that the last CreateObjects made.
  std::list<std::unique_ptr<Churn>> churns_;
  std::unique_ptr<Section> section_;
  std::vector<SectionResult> sections_;
  SectionLatencies latencies_;
  std::optional<MemoryCourse> memory_;
  std::string failure_;
};

}  // namespace schedq
