// `schedq run`: runs workloads of files or of the built-in suite, and reports what was measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/program/command.h"
#include "bench/program/commands/run_plan.h"
#include "bench/program/progress_line.h"
#include "bench/program/reports/run_report.h"
#include "bench/sim/run/simulation.h"
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
  // All that the plan has, on one engine.
  Result<RunReport> RunAll(const RunPlan& plan, EngineKind engine, ProgressLine* line) const;
  Result<WorkloadResult> RunOne(const RunPlan& plan, EngineKind engine, const TestCase& test_case,
                                const Workload& workload, RunReport* report,
                                ProgressLine* line) const;
  Status Repeat(const TestCase& test_case, const Workload& workload, RunOptions options,
                WorkloadResult* result, RunReport* report, ProgressLine* line) const;
  // The proposals' promises, of workloads first.
  void PlayScenariosOf(const RunPlan& plan, EngineKind engine, RunDocument* document,
                       ProgressLine* line) const;
  std::vector<double> Weights(const RunPlan& plan) const;
  Status WriteFiles(const std::vector<RunReport>& reports) const;
  Status Print(const std::vector<RunReport>& reports) const;

  RunRequest request_;
};

}  // namespace schedq
