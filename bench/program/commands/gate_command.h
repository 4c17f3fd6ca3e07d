// `schedq gate`: does a change of schedq, or of the scheduler, pass? For continuous integration.
//
// The tiers are in bench/program/gate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/program/command.h"
#include "bench/program/gate/gate_report.h"
#include "bench/program/gate/side.h"
#include "engine/base/result.h"
#include "perf/compare/changes.h"
#include "perf/compare/counters.h"
#include "perf/compare/results.h"

namespace schedq {

class GateCommand : public Command {
 public:
  CommandText Text() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  void DeclareRuns(CLI::App& app);
  Status ReadFlags();
  Status ReadThresholds();
  // What the tiers need of the two sides.
  Status CheckSides(const Side& base, const Side& next) const;
  Result<ExitCode> Judge(const Side& base, const Side& next);
  // The tiers that judge results; the report of one engine after the other.
  Status JudgeResults(const Side& base, const Side& next, const std::string& folder,
                      GateReport* report) const;
  // The tiers that run programs in a way of their own.
  Status JudgeCosts(const Side& base, const Side& next, GateReport* report) const;
  // Runs both sides, or reads them, with their results below `folder`.
  Status JudgeEngine(const Side& base, const Side& next, const std::string& engine,
                     const std::string& folder, GateReport* report) const;
  Result<Results> BaseResults(const Side& side, const RunFlags& flags,
                              const std::string& folder) const;
  Result<ExitCode> Finish(const Side& next, const GateReport& report) const;
  Status Store(const Side& next, const GateReport& report) const;
  RunFlags Flags(const std::string& engine) const;
  bool HasTier(const std::string& tier) const;

  std::vector<std::string> paths_;
  std::string base_;
  std::string next_;
  std::vector<std::string> tiers_ = {"semantic"};
  std::vector<std::string> thresholds_;
  std::vector<Allowance> allowances_;
  double instruction_threshold_percent_ = 0.5;
  ChangesRequest time_;
  std::string metric_;
  uint64_t pairs_ = 10;
  bool is_sequential_ = false;
  std::string bench_;
  std::string suite_;
  std::vector<std::string> gates_;
  std::string name_;
  std::string labels_;
  uint64_t seed_ = 1;
  std::string engine_ = "both";
  bool is_strict_ = false;
  bool annotates_ = false;
  bool all_ = false;
  bool is_wide_ = false;
  std::string junit_;
  std::string markdown_;
  std::string store_;
};

}  // namespace schedq
