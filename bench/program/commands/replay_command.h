// `schedq replay`: replays traces on an engine and checks everything that they want.
#pragma once

#include <string>
#include <vector>

#include "bench/program/command.h"

namespace schedq {

class ReplayCommand : public Command {
 public:
  std::string Name() const override { return "replay"; }
  std::string Summary() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  std::vector<std::string> paths_;
  std::string engine_ = "classic";
};

}  // namespace schedq
