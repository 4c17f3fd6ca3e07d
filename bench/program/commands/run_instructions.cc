#include "bench/program/commands/run_instructions.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "bench/lab/profile/callgrind.h"
#include "perf/documents/document.h"

namespace schedq {
namespace {

// The same run, of one workload, one engine and one repetition.
std::vector<std::string> CommandOf(const RunRequest& request, const std::string& workload,
                                   EngineKind engine) {
  std::error_code ignored;
  std::vector<std::string> command = {
      std::filesystem::read_symlink("/proc/self/exe", ignored).string(),
      "run",
      "--repeat=1",
      "--format=json",
      "--engine=" + std::string(EngineName(engine)),
      "--name=^\\Q" + workload + "\\E$",
      "--seed=" + std::to_string(request.seed)};
  const std::vector<std::string> flags = FlagsThatDecide(request);
  command.insert(command.end(), flags.begin(), flags.end());
  return command;
}

}  // namespace

Status AddInstructionsOfRun(const RunRequest& request, const TestCase& test_case,
                            const Workload& workload, EngineKind engine, WorkloadResult* result) {
  const std::string name = test_case.name + "/" + workload.name;
  std::string output;
  const Result<InstructionCount> count =
      CountInstructions(CommandOf(request, name, engine), &output);
  if (!count) return Error(fmt::format("--instructions: {}: {}", name, count.error().message()));
  const Result<RunDocument> counted = ParseDocument<RunDocument>(output, "the counted run");
  if (!counted) return counted.error();
  const bool is_whole =
      counted->workloads.size() == 1 && counted->workloads[0].repetitions.size() == 1;
  const double pods = is_whole ? PodsBoundIn(counted->workloads[0].repetitions[0]) : 0;
  if (pods == 0) return Error("--instructions: " + name + ": no pod was bound under callgrind");
  for (Repetition& repetition : result->repetitions) {
    if (!repetition.real) continue;
    repetition.real->instructions_per_pod = static_cast<double>(count->instructions) / pods;
  }
  return Status::Ok();
}

}  // namespace schedq
