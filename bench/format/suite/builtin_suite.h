// The files of bench/suites, which the build puts into the program.
#pragma once

#include <string>
#include <vector>

#include "bench/format/suite/file_source.h"

namespace schedq {

struct BuiltinFile {
  std::string path;  // builtin/basic.yaml, builtin/templates/pod.yaml, ...
  std::string text;
};

// CMake generates the function from bench/suites when it configures.
const std::vector<BuiltinFile>& BuiltinFiles();

// The suites. kDefaultSuite runs where the command line names neither suite nor file.
inline constexpr const char* kDefaultSuite = "builtin";
inline constexpr const char* kKepSuite = "kep";
inline constexpr const char* kStormsSuite = "storms";

// The workload files of a suite, sorted by name; empty for an unknown suite.
std::vector<std::string> BuiltinWorkloadFiles(const std::string& suite = kDefaultSuite);

// Reads builtin files by their paths, and no other files.
FileSource BuiltinSource();

}  // namespace schedq
