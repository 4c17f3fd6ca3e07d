#include "bench/program/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace schedq {

Status CheckWritable(const std::string& flag, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return Error(fmt::format("{} {}: is a folder; expected the name of a file", flag, path));
  }
  // Missing folders will be made; the nearest one that exists must allow it.
  fs::path folder = fs::absolute(path, ignored).parent_path();
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, ignored) || access(folder.c_str(), W_OK) != 0) {
    return Error(fmt::format("{} {}: cannot be written; expected a folder that may be written to",
                             flag, path));
  }
  return Status::Ok();
}

}  // namespace schedq
