#include "bench/format/suite/selection.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "bench/format/suite/builtin_suite.h"
#include "bench/format/suite/file_source.h"
#include "bench/format/suite/label_filter.h"
#include "bench/format/workload/decoder.h"
#include "bench/format/workload/given_params.h"
#include "perf/text/pattern.h"

namespace schedq {
Result<std::vector<TestCase>> SelectWorkloads(const WorkloadSelection& selection) {
  const Result<Pattern> name = Pattern::Parse(selection.name);
  if (!name) return Error("--name " + name.error().message());
  Result<GivenParams> given = GivenParams::Parse(selection.params);
  if (!given) return given.error();
  const LabelFilter filter(selection.labels);
  const bool builtin = selection.paths.empty();
  const FileSource source =
      builtin ? BuiltinSource() : FileSource([&selection](const std::string& path) {
        if (selection.files_read != nullptr) selection.files_read->push_back(path);
        return ReadDiskFile(path);
      });
  std::vector<TestCase> selected;
  const std::string suite = selection.suite.empty() ? kDefaultSuite : selection.suite;
  for (const std::string& path : builtin ? BuiltinWorkloadFiles(suite) : selection.paths) {
    Result<std::vector<TestCase>> cases = DecodeWorkloadFile(path, source, &*given);
    if (!cases) return cases.error();
    for (TestCase& test_case : *cases) {
      std::vector<Workload>& workloads = test_case.workloads;
      const auto unwanted = [&](const Workload& workload) {
        return !filter.Accepts(workload.labels) ||
               !name->IsFoundIn(test_case.name + "/" + workload.name);
      };
      workloads.erase(std::remove_if(workloads.begin(), workloads.end(), unwanted),
                      workloads.end());
      if (!workloads.empty()) selected.push_back(std::move(test_case));
    }
  }
  if (const Status used = given->CheckAllUsed(); !used) return used.error();
  if (selected.empty() && !selection.may_be_empty) {
    return Error("no workload is left by --name \"" + selection.name + "\" and --labels \"" +
                 selection.labels + "\", expected at least one");
  }
  return selected;
}

}  // namespace schedq
