// `schedq help`: all commands, or one of them.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "bench/program/command.h"
#include "bench/program/manual/help_text.h"
#include "bench/program/manual/manual.h"
#include "engine/base/result.h"

namespace schedq {
namespace {

class HelpCommand : public Command {
 public:
  CommandText Text() const override {
    CommandText text;
    text.name = "help";
    text.purpose = "Show all commands, or one of them with its flags and examples";
    text.examples = {{"schedq help run", "One command: its flags and examples", true},
                     {"schedq help", "All commands and exit codes", true}};
    return text;
  }

  void Declare(CLI::App& app) override {
    app.add_option("COMMAND", command_, "The command; none: all")->type_name("COMMAND");
  }

  Result<ExitCode> Run() override {
    if (command_.empty()) {
      fmt::print("{}", ProgramHelp(ReadManual(), HelpWidth()));
      return ExitCode::kGood;
    }
    const Result<ManualPage> page = FindPage(command_);
    if (!page) return page.error();
    fmt::print("{}", CommandHelp(*page, HelpWidth()));
    return ExitCode::kGood;
  }

 private:
  std::string command_;
};

const CommandRegistration kRegistration(110, [] { return std::make_unique<HelpCommand>(); });

}  // namespace
}  // namespace schedq
