#include "bench/workload/builtin_suite.h"

#include <algorithm>

namespace schedq {

std::vector<std::string> BuiltinWorkloadFiles() {
  std::vector<std::string> paths;
  for (const BuiltinFile& file : BuiltinFiles()) {
    const bool is_template = file.path.find("/templates/") != std::string::npos;
    if (!is_template) paths.push_back(file.path);
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
