// `schedq dispatch`: the dispatcher's scenarios on the virtual clock, as tables and verdicts.
#pragma once

#include <cstdint>
#include <string>

#include "bench/command/command.h"

namespace schedq {

class DispatchCommand : public Command {
 public:
  std::string Name() const override { return "dispatch"; }
  std::string Summary() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  uint64_t seed_ = 1;
  bool is_quick_ = false;
};

}  // namespace schedq
