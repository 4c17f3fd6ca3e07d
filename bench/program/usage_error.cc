#include "bench/program/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>

#include "perf/text/nearest_word.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

constexpr size_t kLineBytesMax = 2000;

std::vector<std::string> CommandNames(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> FlagNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// "schedq" or "schedq floor".
std::string FullName(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : app.get_parent()->get_name() + " " + app.get_name();
}

}  // namespace

std::string ExpectedOneOf(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string nearest = NearestWord(word, candidates);
  return fmt::format("{}expected one of: {}",
                     nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest),
                     fmt::join(candidates, ", "));
}

std::string UnknownCommandLine(const CLI::App& program, const std::string& word) {
  return fmt::format("{}: unknown command '{}'; {}", program.get_name(), word,
                     ExpectedOneOf(word, CommandNames(program)));
}

std::string UnknownArgument(const CLI::App& command, const std::string& argument) {
  if (argument.rfind('-', 0) != 0) {
    return fmt::format("unexpected argument '{}'; expected no more words (see {} --help)", argument,
                       FullName(command));
  }
  const std::string flag = argument.substr(0, argument.find('='));
  return fmt::format("unknown flag '{}'; {}", flag, ExpectedOneOf(flag, FlagNames(command)));
}

std::string UsageErrorLine(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = program.get_subcommands();
  const CLI::App& command = parsed.empty() ? program : *parsed.front();
  const std::vector<std::string> unknown = command.remaining();
  if (!unknown.empty() && !command.get_allow_extras()) {
    return FullName(command) + ": " + UnknownArgument(command, unknown.front());
  }
  if (parsed.empty()) {
    return fmt::format("{}: a command is missing; expected one of: {}", program.get_name(),
                       fmt::join(CommandNames(program), ", "));
  }
  return fmt::format("{0}: {1} (see {0} --help)", FullName(command), OneLine(error.what()));
}

std::string OneLine(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool is_blank = c == '\n' || c == '\r' || c == ' ';
    if (!is_blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  // A message may quote a key or a flag of any length.
  if (line.size() > kLineBytesMax) line = line.substr(0, kLineBytesMax) + "...";
  return VisibleText(line);
}

}  // namespace schedq
