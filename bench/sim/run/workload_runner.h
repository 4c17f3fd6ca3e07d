// Executes the operations of one workload, one after the other, in virtual time.
//
// Purpose: what each opcode of docs/formats.md means, as scheduler_perf executes it. Waits end as
// soon as what they wait for is known through the informers (scheduler_perf looks once a second),
// and give up after ten virtual minutes.
// Threads: one.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/sim/measure/section.h"
#include "bench/sim/run/churn.h"
#include "bench/sim/run/simulation.h"

namespace schedq {

class WorkloadRunner {
 public:
  WorkloadRunner(Simulation* simulation, const TestCase& test_case, const Workload& workload);

  // All operations. kTimeout: something did not come to its end; failure() says what. An error: a
  // template that does not render, or operations that do not fit together.
  Result<WaitResult> Run();

  const std::string& failure() const { return failure_; }
  // Of all sections.
  const std::vector<SectionResult>& sections() const { return sections_; }
  const SectionLatencies& latencies() const { return latencies_; }

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
  // Profiles are named and not collected; the others keep a workload from running at all.
  Outcome Execute(const StartCollectingProfileOp&) { return WaitResult::kDone; }
  Outcome Execute(const StopCollectingProfileOp&) { return WaitResult::kDone; }
  Outcome Execute(const UpdateAnyOp&);
  Outcome Execute(const CreatePodGroupsOp&);

  Outcome CreateObjects(const ObjectSource& source, int64_t count, int workers,
                        const std::string& namespace_name);
  Outcome CreateManyPods(const CreatePodsOp& op);
  // One object in the cluster, now; its name, or nullopt and what went wrong in error_.
  std::optional<std::string> Create(const Result<ApiObjectRef>& object,
                                    const std::string& namespace_name, const Labels& extra_labels);
  Outcome PrepareNodes(const CreateNodesOp& op, const std::vector<std::string>& names);
  Outcome KeepSteady(const CreatePodsOp& op);
  Outcome WaitForPods(const PodSelection& selection, int64_t count, bool attempted);
  Outcome WaitFor(const std::function<bool()>& done, const std::string& what);
  void StartSection(const std::string& name, PodSelection pods);
  void StopSection();
  // Where on the cluster's nodes the claim's devices can be had, from a random node on.
  bool Allocate(const std::string& claim);

  Simulation* const simulation_;
  const TestCase& test_case_;
  const Workload& workload_;
  const Op* op_ = nullptr;                     // The one at hand.
  std::map<std::string, int64_t> unfinished_;  // Pods a barrier waits for, by namespace.
  std::optional<Error> error_;                 // Of a call under way.
  std::vector<std::string> created_;           // Names, by the last CreateObjects.
  std::list<std::unique_ptr<Churn>> churns_;
  std::unique_ptr<Section> section_;
  std::vector<SectionResult> sections_;
  SectionLatencies latencies_;
  std::string failure_;
};

}  // namespace schedq
