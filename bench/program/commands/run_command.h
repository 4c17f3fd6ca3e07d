// `schedq run`: runs workloads of files or of the built-in suite, and reports what was measured.
//
// A workload that fails, cannot be run as it is written or runs out of memory ends itself only.
// What was measured is shown first and written then.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/last_resort.h"
#include "bench/memory_guard.h"
#include "bench/program/command.h"
#include "bench/program/commands/run_plan.h"
#include "bench/program/progress_line.h"
#include "bench/program/reports/run_report.h"
#include "bench/sim/measure/live_view.h"
#include "bench/sim/run/run_progress.h"
#include "engine/base/result.h"
#include "perf/documents/run_document.h"
#include "schedq/engine_kind.h"

namespace schedq {

class RunCommand : public Command {
 public:
  CommandText Text() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  // What a run has measured so far. The thread of a LastResort reads it while the run goes on.
  struct Record {
    std::mutex mutex;
    std::vector<RunReport> reports;  // One for each engine that was begun.
    WorkloadResult current;          // The workload that runs; without a name there is none.
    std::string current_topic;
    // Of the workload whose repetitions take turns, one for each engine.
    std::vector<RunReport> unended;
  };
  // One workload on its way through its repetitions.
  struct Job {
    const RunPlan& plan;
    const TestCase& test_case;
    const Workload& workload;
    EngineKind engine;
    ProgressLine* line;
    MemoryGuard* guard;

    std::string Name() const { return test_case.name + "/" + workload.name; }
  };

  // The flags that have an effect on the real clock only.
  void DeclareRealClock(CLI::App& app);
  // All that the plan has, on all engines: one after the other on the virtual clock, by turns on
  // the real one.
  void Measure(const RunPlan& plan, Record* record) const;
  void MeasureByTurns(const RunPlan& plan, Record* record, ProgressLine* line,
                      MemoryGuard* guard) const;
  // The repetitions of one workload, with the engines in shuffled order in each. Of each engine, in
  // the plan's order.
  std::vector<RunReport> RunByTurns(const RunPlan& plan, const TestCase& test_case,
                                    const Workload& workload, Record* record, ProgressLine* line,
                                    MemoryGuard* guard) const;
  // The report of an engine before its first workload.
  RunReport NewReport(const RunPlan& plan, EngineKind engine) const;
  void MeasureEngine(const RunPlan& plan, EngineKind engine, Record* record, ProgressLine* line,
                     MemoryGuard* guard) const;
  // The report of this workload alone: before its first repetition, then with all.
  RunReport BeginOne(const Job& job) const;
  RunReport RunOne(const Job& job) const;
  // Tries a repetition, unless one has failed. Memory that runs out ends the workload only.
  void Try(const Job& job, uint64_t repetition, RunReport* part) const;
  void JudgeOne(const Job& job, RunReport* part) const;
  // Adds instructions a pod.
  void CountOne(const Job& job, RunReport* part) const;
  // One repetition; what goes wrong becomes the workload's outcome and reason.
  void RunOnce(const Job& job, uint64_t repetition, RunReport* part) const;
  // What a run shows of itself while it goes on.
  std::function<void(const RunProgress&)> ProgressOf(const Job& job) const;
  // The verdicts of experiments, and the scenarios that the plan has.
  void PlayScenariosOf(const RunPlan& plan, EngineKind engine, Record* record,
                       ProgressLine* line) const;
  std::vector<double> Weights(const RunPlan& plan) const;

  // Shows what was measured, writes it, and says what went wrong.
  Result<ExitCode> Finish(const RunPlan& plan, std::vector<RunReport> reports) const;
  // The same for work that does not end, from whichever thread finds that out.
  void FinishUnended(const RunPlan& plan, EarlyEnd end, Record* record) const;
  Status Print(const std::vector<RunReport>& reports) const;

  RunRequest request_;
  mutable LiveView live_;  // Of the run that goes on, for --listen.
};

}  // namespace schedq
