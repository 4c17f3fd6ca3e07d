#include "perf/files/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace schedq {

Result<TemporaryFolder> TemporaryFolder::Make() {
  std::error_code ignored;
  std::string path = (std::filesystem::temp_directory_path(ignored) / "schedq-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return Error(path + ": no temporary folder can be made: " + std::strerror(errno));
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::TemporaryFolder(std::string path) : path_(std::move(path)), leftover_(path_) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), leftover_(std::move(other.leftover_)) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace schedq
