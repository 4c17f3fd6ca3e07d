// `schedq version`: what was built, from what, with what.
#include <fmt/format.h>

#include <memory>

#include "bench/program/command.h"
#include "engine/base/result.h"
#include "perf/documents/environment.h"

namespace schedq {
namespace {

class VersionCommand : public Command {
 public:
  CommandText Text() const override {
    CommandText text;
    text.name = "version";
    text.purpose = "Show the version, the compiler and its flags, and the libraries";
    text.examples = {{"schedq version", "What a report of an error should quote"}};
    return text;
  }

  void Declare(CLI::App&) override {}

  Result<ExitCode> Run() override {
    fmt::print("{}\n", VersionText(ReadBuild()));
    return ExitCode::kGood;
  }
};

const CommandRegistration kRegistration(120, [] { return std::make_unique<VersionCommand>(); });

}  // namespace
}  // namespace schedq
