#include "bench/program/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <ios>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/interrupt.h"
#include "bench/last_resort.h"
#include "bench/program/command.h"
#include "bench/program/flag_values.h"
#include "bench/program/manual/help_text.h"
#include "bench/program/manual/manual.h"
#include "bench/program/standard_streams.h"
#include "bench/program/usage_error.h"
#include "engine/base/result.h"
#include "perf/documents/environment.h"

namespace schedq {
namespace {

std::string& MutableCommandLineText() {
  static std::string text = "schedq";
  return text;
}

// Tables of many workloads, and their files.
constexpr std::chrono::milliseconds kFinishingMax{5000};

int Code(ExitCode code) { return static_cast<int>(code); }

int FailUsage(const std::string& line) {
  fmt::print(stderr, "{}\n", OneLine(line));
  return Code(ExitCode::kUsage);
}

int FailBug(const std::string& what) {
  fmt::print(stderr, "schedq: internal error: {}\n", OneLine(what));
  return Code(ExitCode::kBug);
}

// A machine without memory is no bug. The line is printed without taking any.
int FailMemory() {
  constexpr std::string_view kLine = "schedq: memory ran out; expected more of it, or less work\n";
  std::fwrite(kLine.data(), 1, kLine.size(), stderr);
  return Code(ExitCode::kUsage);
}

// Nor is one that gives no thread. The other codes of system errors are bugs.
bool IsOutOfThreads(const std::system_error& error) {
  return error.code() == std::errc::resource_unavailable_try_again;
}

int FailThreads() {
  return FailUsage("schedq: the machine gives no further thread; expected more, or less work");
}

// A failed SCHEDQ_CHECK has printed its line when it aborts; what is left is the exit code.
extern "C" void ExitAfterAbort(int) {
  CleanUpBeforeEnd();
  _exit(static_cast<int>(ExitCode::kBug));
}

// Shows what was measured and ends. What shows it may itself lack what ran out, or wait for a lock
// that this thread holds.
[[noreturn]] void ExitAfterShortage(int code) {
  static std::atomic<bool> is_ending{false};
  if (!is_ending.exchange(true)) {
    EndWithin(kFinishingMax, code);
    LastResort::FinishAny();
  }
  CleanUpBeforeEnd();
  _exit(code);
}

// An exception that nobody catches on any thread.
[[noreturn]] void ExitAfterTerminate() {
  std::string what = "terminated";
  if (const std::exception_ptr current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (const std::bad_alloc&) {
      ExitAfterShortage(FailMemory());
    } catch (const std::system_error& error) {
      if (IsOutOfThreads(error)) ExitAfterShortage(FailThreads());
      what = error.what();
    } catch (const std::exception& error) {
      what = error.what();
    } catch (...) {
      what = "an exception of unknown type";
    }
  }
  CleanUpBeforeEnd();
  _exit(FailBug(what));
}

struct Declared {
  std::unique_ptr<Command> command;
  CLI::App* app;
};

std::vector<Declared> DeclareCommands(CLI::App& program) {
  std::vector<Declared> declared;
  for (std::unique_ptr<Command>& command : CreateCommands()) {
    CLI::App* app = AddCommand(*command, &program);
    declared.push_back({std::move(command), app});
  }
  return declared;
}

bool IsCommand(const std::vector<Declared>& declared, const std::string& name) {
  return std::any_of(declared.begin(), declared.end(),
                     [&name](const Declared& each) { return each.app->get_name() == name; });
}

int RunCommand(Command& command, const std::string& name) {
  const Result<ExitCode> result = command.Run();
  if (!result.ok()) return FailUsage(name + ": " + result.error().message());
  // A bug that showed before the interruption stays a bug.
  if (Interrupted() && result.value() != ExitCode::kBug) return kSignalBase + InterruptSignal();
  return Code(result.value());
}

// Of the command that was named before -h, else of the program.
void PrintHelp(const CLI::App& program) {
  const std::vector<CLI::App*> parsed = program.get_subcommands();
  if (parsed.empty()) {
    fmt::print("{}", ProgramHelp(ReadManual(), HelpWidth()));
  } else {
    fmt::print("{}", CommandHelp(*FindPage(parsed.front()->get_name()), HelpWidth()));
  }
}

int ParseAndRun(int argument_count, const char* const* arguments) {
  if (argument_count == 1) {
    fmt::print("{}", FirstSteps(ReadManual()));
    return Code(ExitCode::kGood);
  }
  CLI::App program(ProgramPurpose(), "schedq");
  program.set_help_flag("-h,--help", "Print this help and exit");
  program.set_version_flag(
      "--version", [] { return VersionText(ReadBuild()); },
      "Print versions and build flags, and exit");
  program.require_subcommand(1);
  const std::vector<Declared> declared = DeclareCommands(program);

  // Judged first, so that `schedq nonsense --help` is an error too.
  const std::string first = argument_count > 1 ? arguments[1] : "";
  if (!first.empty() && first[0] != '-' && !IsCommand(declared, first)) {
    return FailUsage(UnknownCommandLine(program, first));
  }
  if (const auto flag = FlagWithoutValue(argument_count, arguments)) {
    return FailUsage(
        fmt::format("schedq: {}=: the value is empty, expected one after the =", *flag));
  }
  try {
    program.parse(argument_count, arguments);
  } catch (const CLI::CallForHelp&) {
    PrintHelp(program);
    return Code(ExitCode::kGood);
  } catch (const CLI::Success& success) {
    fmt::print("{}\n", success.what());  // The version.
    return Code(ExitCode::kGood);
  } catch (const CLI::ParseError& error) {
    return FailUsage(UsageErrorLine(program, error));
  }
  for (const Declared& each : declared) {
    if (each.app->parsed()) return RunCommand(*each.command, "schedq " + each.app->get_name());
  }
  return FailBug("no command was parsed");
}

// Results that could not be shown are an error, unless their reader went away: it wanted no more.
int AfterStdout(int code) {
  const int failure = FinishStdout();
  if (failure == 0 || code == Code(ExitCode::kBug)) return code;
  if (failure == EPIPE) return kSignalBase + SIGPIPE;
  // What went wrong before has had its line.
  if (code == Code(ExitCode::kUsage)) return code;
  return FailUsage(
      fmt::format("schedq: the results cannot be written to stdout: {}", std::strerror(failure)));
}

}  // namespace

const std::string& CommandLineText() { return MutableCommandLineText(); }

int RunCommandLine(int argument_count, const char* const* arguments) {
  TakeOverStreams();
  std::signal(SIGABRT, ExitAfterAbort);
  std::set_terminate(ExitAfterTerminate);
  CatchInterrupts();
  for (int i = 1; i < argument_count; ++i) {
    MutableCommandLineText() += std::string(" ") + arguments[i];
  }
  try {
    return AfterStdout(ParseAndRun(argument_count, arguments));
  } catch (const std::bad_alloc&) {
    return FailMemory();
  } catch (const std::ios_base::failure& error) {
    // What the disk does is no bug.
    return FailUsage(std::string("schedq: a file cannot be read: ") + error.what());
  } catch (const std::system_error& error) {
    return IsOutOfThreads(error) ? FailThreads() : FailBug(error.what());
  } catch (const std::exception& error) {
    return FailBug(error.what());
  }
}

}  // namespace schedq
