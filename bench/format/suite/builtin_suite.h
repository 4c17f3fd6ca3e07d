// The suite of bench/suites, inside the program.
#pragma once

#include <string>
#include <vector>

#include "bench/format/suite/file_source.h"

namespace schedq {

struct BuiltinFile {
  std::string path;  // builtin/basic.yaml, builtin/templates/pod.yaml, ...
  std::string text;
};

// Generated from bench/suites when the build is configured.
const std::vector<BuiltinFile>& BuiltinFiles();

// The suites: kDefaultSuite is what runs when nobody names anything.
inline constexpr const char* kDefaultSuite = "builtin";
inline constexpr const char* kKepSuite = "kep";

// The workload files of a suite, sorted by name; none: there is no such suite.
std::vector<std::string> BuiltinWorkloadFiles(const std::string& suite = kDefaultSuite);

// Reads builtin files by their paths and nothing else.
FileSource BuiltinSource();

}  // namespace schedq
