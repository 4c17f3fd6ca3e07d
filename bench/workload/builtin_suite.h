// The suite of bench/workloads, inside the program.
#pragma once

#include <string>
#include <vector>

#include "bench/workload/file_source.h"

namespace schedq {

struct BuiltinFile {
  std::string path;  // builtin/basic.yaml, builtin/templates/pod.yaml, ...
  std::string text;
};

// Generated from bench/workloads when the build is configured.
const std::vector<BuiltinFile>& BuiltinFiles();

// The workload files among them, sorted by name.
std::vector<std::string> BuiltinWorkloadFiles();

// Reads builtin files by their paths and nothing else.
FileSource BuiltinSource();

}  // namespace schedq
