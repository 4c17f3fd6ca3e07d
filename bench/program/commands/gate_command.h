// `schedq gate`: does a change of schedq, or of the scheduler, pass? For continuous integration.
//
// Tiers: semantic compares the counters of virtual runs, exactly; time judges measured metrics of
// two folders of results with at least ten repetitions each.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/program/command.h"
#include "bench/program/gate/side.h"
#include "engine/base/result.h"
#include "perf/compare/counters.h"
#include "perf/compare/report.h"
#include "perf/compare/results.h"

namespace schedq {

class GateCommand : public Command {
 public:
  CommandText Text() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  // What the tiers say, for each format.
  struct Report {
    std::vector<std::string> reasons;  // Why the gate fails; none: it passes.
    std::string text;
    std::string markdown;
    std::vector<JunitSuite> junit;
    std::string engine;  // That is judged now; empty: there is only one.

    void Fail(std::string reason) { reasons.push_back(std::move(reason)); }
  };

  Status ReadThresholds();
  // Runs both sides, or reads them, with their results below `folder`.
  Status JudgeEngine(const Side& base, const Side& next, const std::string& engine,
                     const std::string& folder, Report* report) const;
  Result<Results> BaseResults(const Side& side, const RunFlags& flags,
                              const std::string& folder) const;
  Status Semantic(const Side& next, const Results& base, const Results& results,
                  Report* report) const;
  Status Time(const Results& base, const Results& next, Report* report) const;
  void ReportCrash(const std::string& crash, Report* report) const;
  void AddJunit(JunitSuite suite, Report* report) const;
  Result<ExitCode> Finish(const Report& report) const;
  RunFlags Flags(const std::string& engine) const;
  bool HasTier(const std::string& tier) const;

  std::string base_;
  std::string next_;
  std::vector<std::string> tiers_ = {"semantic"};
  std::vector<std::string> thresholds_;
  std::vector<Allowance> allowances_;
  double time_threshold_ = 0.05;
  std::string name_;
  std::string labels_;
  uint64_t seed_ = 1;
  std::string engine_ = "both";
  bool is_wide_ = false;
  std::string junit_;
  std::string markdown_;
};

}  // namespace schedq
