#include "bench/program/gate/side.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "bench/run_program.h"
#include "perf/compare/report.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

constexpr int kNo = 1;
constexpr int kBug = 3;
constexpr int kInterrupted = 130;
constexpr int kTerminated = 143;

}  // namespace

std::string OwnProgram() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).string();
}

Result<Side> ResolveSide(const std::string& name, const BuildProgress& progress) {
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) return Side{name, ""};
  if (fs::is_regular_file(name, ignored)) {
    if (access(name.c_str(), X_OK) != 0) {
      return Error(name + ": is a file that cannot be executed, expected a program or a folder");
    }
    return Side{"", fs::absolute(name, ignored).string()};
  }
  Result<std::string> program = BuildCommit(name, progress);
  if (!program) return program.error();
  return Side{"", std::move(*program)};
}

Result<SideResults> ResultsOf(const Side& side, const RunFlags& flags, const std::string& out) {
  SideResults made;
  std::string folder = side.folder;
  if (folder.empty()) {
    std::vector<std::string> arguments = {side.program, "run", "--out", out};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Result<ProgramEnd> end = RunProgram(arguments);
    if (!end) return end.error();
    const bool was_ended = end->exit_code == kInterrupted || end->exit_code == kTerminated;
    if (end->exit_code >= kBug && !was_ended) {
      made.crash = fmt::format("exit code {}: {}", end->exit_code, end->LastLine());
      return made;
    }
    // A threshold that is missed or a workload that fails is a result as well.
    if (end->exit_code > kNo) return Error(side.program + " run: " + end->LastLine());
    folder = out;
  }
  Result<Results> results = ReadResults(folder);
  if (!results) return results.error();
  made.results = std::move(*results);
  return made;
}

std::string CommandOf(const Side& side, const RunDocument& run, const std::string& workload,
                      uint64_t seed) {
  std::string command =
      RunAgainCommand(side.program.empty() ? "schedq" : side.program, workload, seed);
  if (!run.engine.empty()) command += " --engine " + ShellWord(run.engine);
  // A program runs with its own defaults; a folder may come from a run that asked for others.
  if (side.program.empty()) {
    if (!run.status_model.empty()) command += " --status-model " + ShellWord(run.status_model);
    for (const auto& [gate, is_on] : run.gates) {
      if (!is_on) command += " --gate " + ShellWord(gate + "=false");
    }
  }
  return command + " --format json";
}

}  // namespace schedq
