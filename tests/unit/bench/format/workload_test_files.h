// Files in memory, for tests of workload decoding.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/suite/file_source.h"
#include "bench/format/workload/decoder.h"
#include "bench/format/workload/model.h"
#include "engine/base/result.h"

namespace schedq {

using TestFiles = std::map<std::string, std::string>;

inline FileSource SourceOf(TestFiles files) {
  return [files = std::move(files)](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return Error("does not exist, expected a readable file");
    return found->second;
  };
}

inline constexpr const char* kTestPod =
    "apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: p-\nspec:\n  containers:\n"
    "  - name: c\n";

// Decodes `text` as w.yaml beside a few templates and `more` files.
inline Result<std::vector<TestCase>> DecodeText(const std::string& text, TestFiles more = {}) {
  more["w.yaml"] = text;
  more["pod.yaml"] = kTestPod;
  more["claim.yaml"] =
      "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec: {}\n";
  return DecodeWorkloadFile("w.yaml", SourceOf(std::move(more)));
}

// A case `C` with these operations, and one workload `W` with these parameters.
inline std::string CaseOf(const std::string& ops, const std::string& params = "") {
  return "- name: C\n  workloadTemplate:\n" + ops + "  workloads:\n  - name: W\n" +
         (params.empty() ? "" : "    params: {" + params + "}\n");
}

}  // namespace schedq
