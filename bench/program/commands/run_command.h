// `schedq run`: runs workloads of files or of the built-in suite, and reports what was measured.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/kep/experiments/experiments.h"
#include "bench/program/command.h"
#include "bench/program/reports/run_report.h"
#include "bench/sim/scheduler/cost_model.h"
#include "dispatcher/report/status_model.h"
#include "perf/documents/run_document.h"
#include "schedq/engine_kind.h"

namespace schedq {

class RunCommand : public Command {
 public:
  std::string Name() const override { return "run"; }
  std::string Summary() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  // What the flags mean, judged before anything runs.
  struct Plan {
    EngineKind engine = EngineKind::kClassic;
    CostModel costs;
    GateRequest gates;
    std::vector<std::string> gates_not_modelled;
    StatusModel status_model = StatusModel::kImplicitDelayed;
    std::vector<TestCase> cases;
    std::map<std::string, Arm> arms;  // Of experiments, by "case/workload".
    std::vector<Scenario> scenarios;
    bool judges_thresholds = false;
  };

  Result<Plan> MakePlan() const;
  Status ReadGates(Plan* plan) const;
  Status ReadStatusModel(Plan* plan) const;
  // The ways to run the proposals' workloads, and their scenarios.
  Status AddArms(Plan* plan) const;
  Status CheckWorkload(const Plan& plan, const TestCase& test_case, const Workload& workload) const;
  Status CheckOutputs(const Plan& plan) const;
  Result<WorkloadResult> RunOne(const Plan& plan, const TestCase& test_case,
                                const Workload& workload, RunReport* report) const;
  Status Repeat(const Plan& plan, const TestCase& test_case, const Workload& workload,
                const Gates& gates, WorkloadResult* result, RunReport* report) const;
  void PlayAll(const Plan& plan, RunDocument* document) const;
  ExitCode Verdict(const Plan& plan, const RunDocument& document) const;

  std::vector<std::string> paths_;
  std::string suite_;
  std::string name_;
  std::string labels_;
  std::vector<std::string> gates_;
  std::string status_model_;  // Empty: the default.
  std::string engine_ = "classic";
  std::string clock_ = "virtual";
  std::string costs_ = "upstream";
  uint64_t seed_ = 1;
  uint64_t repeat_ = 1;
  std::string out_;
  std::string format_ = "table";
  bool check_thresholds_ = false;
  bool require_all_ = false;
  std::string record_;
};

}  // namespace schedq
