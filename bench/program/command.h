// A subcommand of `schedq`, and how it joins the program.
//
// Purpose: one file a subcommand. A file `replay_command.cc` derives a class from Command, ends
// with
//
//   const CommandRegistration kRegistration(40, std::make_unique<ReplayCommand>);
//
// and is named in bench/program/CMakeLists.txt; nothing else changes. The number is its line in
// `schedq --help`, lowest first; numbers are unique. What Text() and Declare() say is all that the
// help, the man page and the completion of shells know of a command.
//
// Rules that hold for every command (docs/formats.md):
// 1. Results go to stdout, progress and logs to stderr; LayoutOf() of perf/text/terminal.h decides
//    on colour and width.
// 2. Run returns an Error for input or usage that is wrong: it is printed as one line, exit code 2.
//    The line says what is wrong, where (file and line, or flag), and what was expected.
// 3. A long Run polls Interrupted() of bench/interrupt.h, stops, and still prints and writes what
//    it has measured; the exit code becomes 128 and the signal's number without the command's help.
//    Where work does not poll, a LastResort (bench/last_resort.h) shows what there is.
// 4. What was measured is shown first and written then. What is not whole does not replace a file:
//    ResultPath of bench/program/output_file.h.
// 5. Exceptions that leave Run are bugs: one line, exit code 3.
// 6. Exit codes 1 and 4 come with a line on stderr that says why.
// Threads: everything here is used by the main thread only.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace schedq {

enum class ExitCode : int {
  kGood = 0,
  kNo = 1,  // The answer is no: a mismatch, a regression, a threshold missed.
  kUsage = 2,
  kBug = 3,
  kCannotTell = 4,     // A gate that may leave nothing open.
  kInterrupted = 130,  // By whichever signal: the command line makes it that signal's code.
};

struct CommandExample {
  std::string line;            // "schedq run --labels short"
  std::string what;            // What it does, without a full stop.
  bool is_first_step = false;  // `schedq` alone shows it.
};

struct CommandText {
  std::string name;
  std::string purpose;  // One line, without a full stop.
  std::vector<CommandExample> examples;
  std::string no;     // When the exit code is 1: "a threshold was missed"; empty: never.
  std::string doubt;  // When it is 4; empty: never.
  std::string notes;  // What else a user must know; lines are kept.
};

class Command {
 public:
  virtual ~Command() = default;

  virtual CommandText Text() const = 0;

  // Declares flags and positionals, bound to members. `app` outlives the command's Run. An unknown
  // flag is an error unless the command calls app.allow_extras() and judges the rest itself.
  virtual void Declare(CLI::App& app) = 0;

  virtual Result<ExitCode> Run() = 0;
};

// Adds a command when the program starts; an object of static storage in the command's file.
class CommandRegistration {
 public:
  CommandRegistration(int line, std::function<std::unique_ptr<Command>()> create);
};

// New instances of every registered command, in the order of their lines.
std::vector<std::unique_ptr<Command>> CreateCommands();

// Adds the command, with its flags and -h, to the program. No flag takes an empty value.
CLI::App* AddCommand(Command& command, CLI::App* program);

}  // namespace schedq
