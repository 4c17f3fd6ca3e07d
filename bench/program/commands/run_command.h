// `schedq run`: runs workloads of files or of the built-in suite, and reports what was measured.
//
// A workload that fails, cannot be run as it is written or runs out of memory ends itself only.
// What was measured is shown first and written then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/last_resort.h"
#include "bench/memory_share.h"
#include "bench/program/command.h"
#include "bench/program/commands/run_plan.h"
#include "bench/program/commands/run_record.h"
#include "bench/program/commands/workload_player.h"
#include "bench/program/progress_line.h"
#include "bench/program/reports/run_report.h"
#include "bench/sim/measure/live_view.h"
#include "engine/base/result.h"
#include "schedq/engine_kind.h"

namespace schedq {

class RunCommand : public Command {
 public:
  CommandText Text() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  // The flags that have an effect on the real clock only.
  void DeclareClock(CLI::App& app);
  // All that the plan has, on all engines: one after the other on the virtual clock, by turns on
  // the real one.
  void Measure(const RunPlan& plan, RunRecord* record) const;
  void MeasureByTurns(const RunPlan& plan, const WorkloadPlayer& player, RunRecord* record,
                      ProgressLine* line, MemoryShare* memory) const;
  // The repetitions of one workload, with the engines in shuffled order in each. `jobs` are in the
  // order of the plan's engines.
  void PlayByTurns(const RunPlan& plan, const WorkloadPlayer& player,
                   const std::vector<WorkloadJob>& jobs, size_t position, RunRecord* record,
                   ProgressLine* line, MemoryShare* memory) const;
  // Tries a repetition on the real clock, unless one has failed.
  void Try(const RunPlan& plan, const WorkloadPlayer& player, const WorkloadJob& job,
           uint64_t repetition, ProgressLine* line, MemoryShare* memory, RunReport* part) const;
  // Adds instructions a pod.
  void CountOne(const WorkloadJob& job, RunReport* part) const;
  // The report of an engine before its first workload.
  RunReport NewReport(const RunPlan& plan, EngineKind engine) const;
  void MeasureEngine(const RunPlan& plan, const WorkloadPlayer& player, EngineKind engine,
                     RunRecord* record, ProgressLine* line, MemoryShare* memory) const;
  // The verdicts of experiments, and the scenarios that the plan has.
  void PlayScenariosOf(const RunPlan& plan, EngineKind engine, size_t number, size_t first_step,
                       RunRecord* record, ProgressLine* line) const;
  std::vector<double> Weights(const RunPlan& plan) const;

  // Shows what was measured, writes it, and says what went wrong.
  Result<ExitCode> Finish(const RunPlan& plan, std::vector<RunReport> reports) const;
  // The same for work that does not end, from whichever thread finds that out.
  void FinishUnended(const RunPlan& plan, EarlyEnd end, RunRecord* record) const;
  Status Print(const std::vector<RunReport>& reports) const;

  RunRequest request_;
  mutable LiveView live_;  // Of the run that goes on, for --listen.
};

}  // namespace schedq
