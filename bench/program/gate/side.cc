#include "bench/program/gate/side.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "bench/run_program.h"
#include "perf/compare/report.h"
#include "perf/documents/environment.h"
#include "perf/text/pattern.h"
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

std::string CommitOf(const Side& side) {
  if (side.program.empty()) {
    const Result<Results> results = ReadResults(side.folder);
    return results && results->run ? results->run->environment.build.commit : "";
  }
  constexpr std::string_view kCommit = "commit: ";
  const Result<ProgramEnd> end = RunProgram({side.program, "version"});
  const size_t begin = end ? end->out.find(kCommit) : std::string::npos;
  if (begin == std::string::npos) return "";
  const size_t word = begin + kCommit.size();
  return end->out.substr(word, end->out.find('\n', word) - word);
}

std::string OwnPreset() {
  const fs::path folder = fs::path(OwnProgram()).parent_path();
  if (folder.parent_path().filename() == "build") return folder.filename().string();
  return ReadBuild().type == "Release" ? "release" : kQuickPreset;
}

Result<Side> ResolveSide(const std::string& name, const std::string& preset,
                         const BuildProgress& progress) {
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) return Side{name, ""};
  if (fs::is_regular_file(name, ignored)) {
    if (access(name.c_str(), X_OK) != 0) {
      return Error(name + ": is a file that cannot be executed, expected a program or a folder");
    }
    return Side{"", fs::absolute(name, ignored).string()};
  }
  Result<std::string> program = BuildCommit(name, preset, progress);
  if (!program) return program.error();
  return Side{"", std::move(*program)};
}

Result<SideResults> ResultsOf(const Side& side, const RunFlags& flags, const std::string& out) {
  SideResults made;
  std::string folder = side.folder;
  if (folder.empty()) {
    std::vector<std::string> arguments = {side.program, "run", "--out", out};
    const std::vector<std::string> all = flags.All();
    arguments.insert(arguments.end(), all.begin(), all.end());
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

std::vector<std::string> RunFlags::All() const {
  std::vector<std::string> all = inputs;
  if (!name.empty()) all.insert(all.end(), {"--name", name});
  if (!labels.empty()) all.insert(all.end(), {"--labels", labels});
  all.insert(all.end(), {"--seed", std::to_string(seed), "--engine", engine});
  return all;
}

std::vector<std::string> RunFlags::OfOne(const std::string& workload, uint64_t seed_of_it) const {
  RunFlags one = *this;
  one.name = PatternOfExactly(workload);
  one.labels = "";
  one.seed = seed_of_it;
  return one.All();
}

std::string CommandOf(const Side& side, const RunDocument& run, const RunFlags& flags,
                      const std::string& workload, uint64_t seed) {
  if (!side.program.empty()) {
    std::string command = ShellWord(side.program) + " run";
    for (const std::string& word : flags.OfOne(workload, seed)) command += ' ' + ShellWord(word);
    return command + " --format json";
  }
  return RunAgainCommand(run, workload, seed);
}

}  // namespace schedq
