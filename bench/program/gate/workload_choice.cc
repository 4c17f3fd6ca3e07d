#include "bench/program/gate/workload_choice.h"

#include <algorithm>
#include <string_view>

#include "bench/format/suite/needs.h"
#include "bench/format/suite/selection.h"
#include "bench/format/workload/model.h"

namespace schedq {
namespace {

bool IsFile(const std::string& input) { return !input.starts_with("--"); }

}  // namespace

bool ChoosesWorkloads(const RunFlags& flags) {
  return !flags.name.empty() || !flags.labels.empty() ||
         std::any_of(flags.inputs.begin(), flags.inputs.end(), IsFile);
}

Result<std::vector<std::string>> WorkloadsOf(const RunFlags& flags) {
  constexpr std::string_view kSuite = "--suite=";
  WorkloadSelection selection;
  selection.name = flags.name;
  selection.labels = flags.labels;
  selection.may_be_empty = true;
  for (const std::string& input : flags.inputs) {
    if (input.starts_with(kSuite)) selection.suite = input.substr(kSuite.size());
    if (IsFile(input)) selection.paths.push_back(input);
  }
  const Result<std::vector<TestCase>> cases = SelectWorkloads(selection);
  if (!cases) return cases.error();
  std::vector<std::string> names;
  for (const TestCase& test_case : *cases) {
    for (const Workload& workload : test_case.workloads) {
      if (CanRun(workload)) names.push_back(test_case.name + '/' + workload.name);
    }
  }
  return names;
}

}  // namespace schedq
