#include "bench/program/manual/help_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "bench/program/command.h"
#include "perf/text/table.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

// A term and what it means, side by side where the term is short.
std::string Entry(const std::string& term, const std::string& meaning, size_t indent,
                  size_t width) {
  if (term.size() + 4 <= indent) {
    return fmt::format(
        "  {:{}}{}\n", term, indent - 2,
        Wrapped(meaning, width - indent, 0).find('\n') == std::string::npos
            ? meaning
            : Wrapped(std::string(indent, 'x') + ' ' + meaning, width, indent).substr(indent + 1));
  }
  const std::string lines =
      Wrapped(std::string(indent - 1, 'x') + ' ' + meaning, width, indent).substr(indent);
  return fmt::format("  {}\n{}{}\n", term, std::string(indent, ' '), lines);
}

std::string FlagMeaning(const ManualFlag& flag) {
  return flag.standard.empty() ? flag.about : fmt::format("{} ({})", flag.about, flag.standard);
}

}  // namespace

size_t HelpWidth() {
  return std::min(kHelpWidthMax, TerminalColumns(STDOUT_FILENO).value_or(kHelpWidth));
}

std::string FirstSteps(const std::vector<ManualPage>& pages) {
  std::vector<CommandExample> steps;
  size_t width = 0;
  for (const ManualPage& page : pages) {
    for (const CommandExample& example : page.text.examples) {
      if (!example.is_first_step) continue;
      steps.push_back(example);
      width = std::max(width, example.line.size());
    }
  }
  std::string text = "schedq: " + ProgramPurpose() + "\n\n";
  for (const CommandExample& step : steps) {
    text += fmt::format("  {:{}}  {}\n", step.line, width, step.what);
  }
  return text;
}

std::string ProgramHelp(const std::vector<ManualPage>& pages, size_t width) {
  constexpr size_t kIndent = 14;
  std::string text = Wrapped("schedq: " + ProgramPurpose(), width) + "\n\n";
  text += "Usage: schedq COMMAND [flags] [arguments]\n\nCommands:\n";
  for (const ManualPage& page : pages) {
    text += Entry(page.text.name, page.text.purpose, kIndent, width);
  }
  text += "\nExamples:\n";
  for (const ManualPage& page : pages) {
    for (const CommandExample& example : page.text.examples) {
      if (example.is_first_step) text += "  " + example.line + '\n';
    }
  }
  text += "\nExit codes:\n";
  CommandText all;
  all.no = "the answer is no: a threshold missed, a mismatch, a regression";
  for (const ExitCodeText& code : ExitCodesOf(all)) {
    text += Entry(std::to_string(code.code), code.meaning, 7, width);
  }
  return text + '\n' +
         Wrapped("`schedq help COMMAND` or `schedq COMMAND --help` says more of one command.",
                 width) +
         '\n';
}

std::string CommandHelp(const ManualPage& page, size_t width) {
  constexpr size_t kIndent = 26;
  std::string text = Wrapped(page.FullName() + ": " + page.text.purpose, width) + "\n\n";
  text += Wrapped("Usage: " + page.Synopsis(), width, 7) + "\n\n";
  for (const ManualFlag& one : page.positionals) {
    text += Entry(one.Usage(), FlagMeaning(one), kIndent, width);
  }
  text += std::string(page.positionals.empty() ? "" : "\n") + "Flags:\n";
  for (const ManualFlag& flag : page.flags) {
    text += Entry(flag.Usage(), FlagMeaning(flag), kIndent, width);
  }
  if (!page.text.notes.empty()) text += '\n' + page.text.notes + '\n';
  text += page.text.examples.size() == 1 ? "\nExample:\n" : "\nExamples:\n";
  for (const CommandExample& example : page.text.examples) {
    text += fmt::format("  {}\n      {}\n", example.line, Wrapped(example.what, width - 6, 6));
  }
  text += "\nExit codes:\n";
  for (const ExitCodeText& code : ExitCodesOf(page.text)) {
    text += Entry(std::to_string(code.code), code.meaning, 7, width);
  }
  return text;
}

}  // namespace schedq
