// `schedq list`: the cases and workloads of files or of the built-in suite, and what each needs
// that the simulation does not model.
#pragma once

#include <string>
#include <vector>

#include "bench/program/command.h"
#include "engine/base/result.h"

namespace schedq {

class ListCommand : public Command {
 public:
  CommandText Text() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  std::vector<std::string> paths_;
  std::string suite_;
  std::string name_;
  std::string labels_;
  std::vector<std::string> params_;
  std::string format_ = "table";
  bool is_wide_ = false;
};

}  // namespace schedq
