// `schedq compare`: what changed between two sets of results, metric by metric.
#pragma once

#include <string>

#include "bench/program/command.h"
#include "engine/base/result.h"
#include "perf/compare/results.h"

namespace schedq {

class CompareCommand : public Command {
 public:
  CommandText Text() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  std::string CountersOf(const Results& base, const Results& next) const;

  std::string base_;
  std::string next_;
  double threshold_percent_ = 5;
  std::string metric_;
  bool all_ = false;
  bool is_wide_ = false;
  std::string format_ = "table";
};

}  // namespace schedq
