#include "bench/format/suite/builtin_suite.h"

#include <algorithm>
#include <filesystem>

#include "engine/base/result.h"

namespace schedq {

// A suite is a folder: the root of the builtin files or a folder in it.
std::vector<std::string> BuiltinWorkloadFiles(const std::string& suite) {
  const std::filesystem::path root(kDefaultSuite);
  const std::filesystem::path folder = suite == kDefaultSuite ? root : root / suite;
  std::vector<std::string> paths;
  for (const BuiltinFile& file : BuiltinFiles()) {
    if (std::filesystem::path(file.path).parent_path() == folder) paths.push_back(file.path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

FileSource BuiltinSource() {
  return [](const std::string& path) -> Result<std::string> {
    for (const BuiltinFile& file : BuiltinFiles()) {
      if (file.path == path) return file.text;
    }
    return Error("is not in the built-in suite, expected one of its files");
  };
}

}  // namespace schedq
