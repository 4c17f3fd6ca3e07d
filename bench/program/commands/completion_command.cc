// `schedq completion`: a script that lets a shell complete commands, flags and values.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/program/command.h"
#include "bench/program/manual/completion.h"
#include "bench/program/manual/manual.h"
#include "bench/program/usage_error.h"
#include "engine/base/result.h"

namespace schedq {
namespace {

class CompletionCommand : public Command {
 public:
  CommandText Text() const override {
    CommandText text;
    text.name = "completion";
    text.purpose = "Print a completion script for a shell";
    text.examples = {{"source <(schedq completion bash)", "Complete in the bash that is running"},
                     {"schedq completion fish > ~/.config/fish/completions/schedq.fish",
                      "Complete in every fish"}};
    text.notes = "`cmake --install` puts all three where the shells look for them.";
    return text;
  }

  void Declare(CLI::App& app) override {
    app.add_option("SHELL", shell_, "The shell")->type_name("bash|zsh|fish");
  }

  Result<ExitCode> Run() override {
    const std::vector<ManualPage> pages = ReadManual();
    if (shell_ == "bash") {
      fmt::print("{}", BashCompletion(pages));
    } else if (shell_ == "zsh") {
      fmt::print("{}", ZshCompletion(pages));
    } else if (shell_ == "fish") {
      fmt::print("{}", FishCompletion(pages));
    } else {
      return Error((shell_.empty() ? "a shell is missing; " : "unknown shell '" + shell_ + "'; ") +
                   ExpectedOneOf(shell_, {"bash", "zsh", "fish"}));
    }
    return ExitCode::kGood;
  }

 private:
  std::string shell_;
};

const CommandRegistration kRegistration(130, [] { return std::make_unique<CompletionCommand>(); });

}  // namespace
}  // namespace schedq
