// `schedq floor`: measures what this machine can do, prints a table and writes floor.json.
#pragma once

#include <string>

#include "bench/program/command.h"
#include "engine/base/result.h"

namespace schedq {

class FloorCommand : public Command {
 public:
  CommandText Text() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  std::string json_path_;
  bool is_quick_ = false;
  bool is_wide_ = false;
};

}  // namespace schedq
