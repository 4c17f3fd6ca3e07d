// `schedq replay`: replays traces on an engine and checks everything that they want.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/program/command.h"
#include "engine/base/result.h"
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"

namespace schedq {

class ReplayCommand : public Command {
 public:
  CommandText Text() const override;
  void Declare(CLI::App& app) override;
  Result<ExitCode> Run() override;

 private:
  Result<uint64_t> ReplayAll(EngineKind engine, const std::vector<PluginSource>& plugins,
                             const std::string& prefix) const;

  std::vector<std::string> paths_;
  std::vector<std::string> plugins_;
  std::string engine_ = "lockfree";
};

}  // namespace schedq
