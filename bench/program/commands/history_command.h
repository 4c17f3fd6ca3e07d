// `schedq history`: the figures of many commits, and the commits at which they changed.
#pragma once

#include <string>
#include <vector>

#include "bench/program/command.h"
#include "engine/base/result.h"
#include "perf/documents/history.h"

namespace schedq {

class HistoryCommand : public Command {
 public:
  CommandText Text() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  Result<std::vector<HistoryRun>> Read() const;
  // Leaves the series that --metric chooses.
  Status Choose(std::vector<HistoryRun>* runs) const;

  std::string path_;
  std::string metric_;
  std::string import_;
  std::string export_;
  double significance_ = 0.001;
  double change_percent_ = 5;
  bool is_wide_ = false;
};

}  // namespace schedq
