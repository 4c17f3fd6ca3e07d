// Plays the workloads of a run, a repetition at a time, and puts down what came out.
//
// Purpose: what goes wrong in a workload, also that memory runs out, ends that workload only and
// stands in its report.
// Threads: any; on the virtual clock several at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bench/format/workload/model.h"
#include "bench/memory_share.h"
#include "bench/program/commands/run_plan.h"
#include "bench/program/reports/run_report.h"
#include "bench/sim/measure/live_view.h"
#include "bench/sim/run/run_progress.h"
#include "schedq/engine_kind.h"

namespace schedq {

// One workload of the plan on one engine.
struct WorkloadJob {
  const TestCase& test_case;
  const Workload& workload;
  EngineKind engine;

  std::string Name() const { return test_case.name + "/" + workload.name; }
};

class WorkloadPlayer {
 public:
  // All outlive it.
  WorkloadPlayer(const RunPlan* plan, const RunRequest* request, LiveView* live)
      : plan_(*plan), request_(*request), live_(live) {}

  // The report of this workload alone, before its first repetition.
  RunReport Begin(const WorkloadJob& job) const;
  // Adds a repetition to the report. Nothing is added where the workload had to give way.
  void Play(const WorkloadJob& job, uint64_t repetition,
            const std::function<void(const RunProgress&)>& progress, MemoryShare::Turn* turn,
            RunReport* part) const;
  // After the last repetition.
  void Judge(const WorkloadJob& job, RunReport* part) const;

 private:
  void PlayOrThrow(const WorkloadJob& job, uint64_t repetition,
                   const std::function<void(const RunProgress&)>& progress, MemoryShare::Turn* turn,
                   RunReport* part) const;

  const RunPlan& plan_;
  const RunRequest& request_;
  LiveView* const live_;
};

}  // namespace schedq
