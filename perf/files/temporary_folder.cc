#include "perf/files/temporary_folder.h"

#include <sys/random.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace schedq {
namespace {

constexpr int kNamesTriedMax = 100;

// Six characters, as mkdtemp draws them. That call would make the folder before its path is known.
std::string RandomName() {
  constexpr std::string_view kCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::array<unsigned char, 6> bytes{};
  const ssize_t drawn = getrandom(bytes.data(), bytes.size(), 0);
  static_cast<void>(drawn);  // Without it the names are tried in vain, which is an error.
  std::string name;
  for (const unsigned char byte : bytes) name += kCharacters[byte % kCharacters.size()];
  return name;
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::Make() {
  std::error_code ignored;
  const std::filesystem::path place = std::filesystem::temp_directory_path(ignored);
  for (int i = 0;; ++i) {
    std::string path = (place / ("schedq-" + RandomName())).string();
    Leftover leftover(path, [&path] { return mkdir(path.c_str(), 0700); });
    if (leftover.made() == 0) return TemporaryFolder(std::move(path), std::move(leftover));
    if (errno == EEXIST && i < kNamesTriedMax) continue;
    return Error(path + ": no temporary folder can be made: " + std::strerror(errno));
  }
}

TemporaryFolder::TemporaryFolder(std::string path, Leftover leftover)
    : path_(std::move(path)), leftover_(std::move(leftover)) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), leftover_(std::move(other.leftover_)) {}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) RemoveTree(path_);
}

}  // namespace schedq
