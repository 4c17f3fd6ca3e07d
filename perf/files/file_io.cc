#include "perf/files/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "perf/files/input_file.h"

namespace schedq {
namespace {

Error SystemError(const std::string& path, const char* what) {
  return Error(path + ": " + what + ": " + std::strerror(errno));
}

// The temporary file. Its destructor removes it unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target) : path_(target + ".XXXXXX") {
    descriptor_ = mkostemp(path_.data(), O_CLOEXEC);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    if (!renamed_) unlink(path_.c_str());
  }

  bool ok() const { return descriptor_ >= 0; }

  bool Write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      content.remove_prefix(static_cast<size_t>(written));
    }
    // mkostemp lets only the user read the file; a result file has the usual permissions.
    return fchmod(descriptor_, 0644) == 0 && fsync(descriptor_) == 0;
  }

  bool RenameTo(const std::string& target) {
    renamed_ = rename(path_.c_str(), target.c_str()) == 0;
    return renamed_;
  }

 private:
  std::string path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace

Result<std::string> ReadWholeFile(const std::string& path) {
  Result<std::string> text = ReadInput(path, InputFrom::kFile);
  if (!text) return Error(path + ": " + text.error().message());
  return text;
}

Status WriteFileAtomically(const std::string& path, std::string_view content) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) {
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    if (code) return Error(folder.string() + ": the folder cannot be made: " + code.message());
  }
  TemporaryFile file(path);
  if (!file.ok()) return SystemError(path, "cannot be created");
  if (!file.Write(content)) return SystemError(path, "cannot be written");
  if (!file.RenameTo(path)) return SystemError(path, "cannot be replaced");
  return Status::Ok();
}

}  // namespace schedq
