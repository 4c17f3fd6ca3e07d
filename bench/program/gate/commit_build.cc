#include "bench/program/gate/commit_build.h"

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

#include "bench/run_program.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShortCommit = 12;
// What a workload does on the virtual clock does not depend on optimization, and this preset builds
// in a fraction of the time, much of it from what ccache has of the checkout's own builds.
constexpr const char* kPreset = "dev";

// The last line that the program printed. An error: it failed; `what` was wanted.
Result<std::string> Ask(const std::vector<std::string>& arguments, const std::string& folder,
                        const std::string& what) {
  const Result<ProgramEnd> end = RunProgram(arguments, folder);
  if (!end) return end.error();
  if (end->exit_code != 0) return Error(what + ": " + end->LastLine());
  return ProgramEnd{0, end->out, ""}.LastLine();
}

}  // namespace

Result<std::string> BuildCommit(const std::string& reference, const BuildProgress& progress) {
  const auto commit = Ask({"git", "rev-parse", "--verify", "--quiet", reference + "^{commit}"}, "",
                          reference + ": is no folder, program or commit, expected one of them");
  if (!commit) return commit.error();
  const auto top = Ask({"git", "rev-parse", "--show-toplevel"}, "", "no repository");
  if (!top) return top.error();
  const fs::path folder = fs::path(*top) / "build" / "gate" / commit->substr(0, kShortCommit);
  const std::string program = (folder / "build" / kPreset / "schedq").string();
  std::error_code ignored;
  if (fs::exists(program, ignored)) return program;

  fs::create_directories(folder, ignored);
  const std::string archive = (folder / "tree.tar").string();
  struct Step {
    std::string name;
    std::vector<std::string> arguments;
    std::string folder;
  };
  const std::vector<Step> steps = {
      {"unpack", {"git", "archive", "--output", archive, *commit}, *top},
      {"unpack", {"tar", "-xf", archive, "-C", folder.string()}, ""},
      {"configure", {"cmake", "--preset", kPreset}, folder.string()},
      {"build",
       {"cmake", "--build", (folder / "build" / kPreset).string(), "--parallel", "--target",
        "schedq"},
       folder.string()}};
  for (const Step& step : steps) {
    const std::string what = step.name + " " + commit->substr(0, kShortCommit);
    progress(what);
    if (const auto done = Ask(step.arguments, step.folder, what); !done) return done.error();
  }
  return program;
}

}  // namespace schedq
