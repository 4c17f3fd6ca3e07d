#include "perf/files/file_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "perf/files/broken_pipe_held.h"
#include "perf/files/leftovers.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

constexpr int kLinksMax = 40;  // As the kernel follows.
constexpr int kNamesTriedMax = 100;
constexpr mode_t kPermissions = 0777;
constexpr std::chrono::seconds kReaderWait{10};
constexpr std::chrono::milliseconds kReaderPoll{10};

Error SystemError(const std::string& path, const char* what) {
  return Error(path + ": " + what + ": " + std::strerror(errno));
}

// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }

  int number() const { return number_; }
  bool ok() const { return number_ >= 0; }
  // Some file systems tell of a full disk only here.
  bool Close() { return close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

bool WriteAll(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written >= 0) {
      content.remove_prefix(static_cast<size_t>(written));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    pollfd waited{descriptor, POLLOUT, 0};
    const std::chrono::milliseconds wait = kReaderWait;
    if (poll(&waited, 1, static_cast<int>(wait.count())) == 0) {
      errno = ETIMEDOUT;
      return false;
    }
  }
  return true;
}

// The folders that a file needed. Its destructor removes those that are empty, unless kept.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders() {
    for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) rmdir(folder->c_str());
  }

  std::error_code Make(const fs::path& folder) {
    std::error_code code;
    std::vector<fs::path> missing;
    for (fs::path each = folder; !each.empty() && !fs::exists(each, code);) {
      missing.push_back(each);
      const fs::path parent = each.parent_path();
      if (parent == each) break;
      each = parent;
    }
    code.clear();
    for (auto each = missing.rbegin(); each != missing.rend(); ++each) {
      if (fs::create_directory(*each, code)) made_.push_back(each->string());
      if (code) return code;
    }
    if (!folder.empty() && !fs::is_directory(folder, code) && !code) {
      return std::make_error_code(std::errc::not_a_directory);
    }
    return code;
  }
  void Keep() { made_.clear(); }

 private:
  std::vector<std::string> made_;
};

// The temporary file. Its destructor removes it unless it was renamed. Its name is short, so that
// it fits wherever the target's name fits.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& folder) {
    for (int i = 0; i < kNamesTriedMax && descriptor_ < 0; ++i) {
      path_ = (folder / TemporaryName()).string();
      leftover_.emplace(path_, [this] {
        // 0666: the umask decides.
        return open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      });
      descriptor_ = leftover_->made();
      if (descriptor_ >= 0 || errno != EEXIST) return;
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (was_made_ && !renamed_) unlink(path_.c_str());
  }

  bool ok() {
    was_made_ = descriptor_ >= 0;
    return was_made_;
  }

  bool Write(std::string_view content) {
    return WriteAll(descriptor_, content) && fsync(descriptor_) == 0;
  }

  // Whose file it is and who may read it stay as they were. Only the superuser may give a file
  // away, so that a refusal means nothing.
  bool TakeOver(const struct stat& old) {
    const bool is_given = fchown(descriptor_, old.st_uid, old.st_gid) == 0;
    static_cast<void>(is_given);
    return fchmod(descriptor_, old.st_mode & kPermissions) == 0;
  }

  bool RenameTo(const std::string& target) {
    // Some file systems tell of a full disk only when the file is closed.
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (close(descriptor) != 0) return false;
    renamed_ = rename(path_.c_str(), target.c_str()) == 0;
    return renamed_;
  }

 private:
  static std::string TemporaryName() {
    static std::atomic<uint64_t> number{0};
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    return ".schedq-" + std::to_string(getpid()) + "-" + std::to_string(now) + "-" +
           std::to_string(number.fetch_add(1)) + ".tmp";
  }

  std::string path_;
  std::optional<Leftover> leftover_;
  int descriptor_ = -1;
  bool was_made_ = false;
  bool renamed_ = false;
};

// After a rename the folder, too, must reach the disk. Some file systems cannot flush a folder.
void FlushFolder(const fs::path& folder) {
  const Descriptor descriptor(
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.ok()) fsync(descriptor.number());
}

bool IsSameFile(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// The process's own stdout or stderr, when the file is one of them; else -1.
int OwnStream(const struct stat& file) {
  for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat stream {};
    if (fstat(number, &stream) == 0 && IsSameFile(stream, file)) return number;
  }
  return -1;
}

// A pipe without a reader cannot be opened without blocking: it is asked again and again.
int OpenStream(const std::string& path) {
  const auto deadline = std::chrono::steady_clock::now() + kReaderWait;
  for (;;) {
    const int number = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const bool lacks_reader = number < 0 && errno == ENXIO;
    if (!lacks_reader || std::chrono::steady_clock::now() >= deadline) return number;
    std::this_thread::sleep_for(kReaderPoll);
  }
}

// Where a link points; nullopt: it is none.
std::optional<std::string> LinkTarget(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  if (size < 0) return std::nullopt;
  fs::path next(std::string(target.data(), static_cast<size_t>(size)));
  if (next.is_relative()) next = fs::path(path).parent_path() / next;
  return next.string();
}

}  // namespace

Result<OutputPlace> FindOutputPlace(const std::string& path) {
  struct stat file {};
  const bool exists = stat(path.c_str(), &file) == 0;
  if (!exists && errno != ENOENT && errno != ENOTDIR) return SystemError(path, "cannot be written");
  if (exists && !S_ISDIR(file.st_mode)) {
    if (!S_ISREG(file.st_mode) || OwnStream(file) >= 0) {
      return OutputPlace{OutputKind::kStream, path};
    }
  }
  OutputPlace place{OutputKind::kFile, path};
  // A link of /proc is a file that is open; its name may be gone.
  for (int i = 0; i < kLinksMax; ++i) {
    std::optional<std::string> target = LinkTarget(place.path);
    if (!target) return place;
    std::error_code ignored;
    const fs::path folder = fs::canonical(fs::path(place.path).parent_path(), ignored);
    if (folder.string().starts_with("/proc/")) return OutputPlace{OutputKind::kStream, path};
    place.path = std::move(*target);
  }
  errno = ELOOP;
  return SystemError(path, "cannot be written");
}

Status ReplaceFile(const std::string& path, std::string_view content) {
  const fs::path folder = fs::path(path).parent_path();
  MadeFolders folders;
  if (const std::error_code code = folders.Make(folder)) {
    return Error(folder.string() + ": the folder cannot be made: " + code.message());
  }
  struct stat old {};
  const bool is_there = stat(path.c_str(), &old) == 0;
  if (is_there && !S_ISDIR(old.st_mode) && access(path.c_str(), W_OK) != 0) {
    return SystemError(path, "cannot be written");
  }
  TemporaryFile file(folder);
  if (!file.ok()) return SystemError(path, "cannot be created");
  if (!file.Write(content)) return SystemError(path, "cannot be written");
  if (is_there && !file.TakeOver(old)) return SystemError(path, "cannot be written");
  if (!file.RenameTo(path)) return SystemError(path, "cannot be replaced");
  folders.Keep();
  FlushFolder(folder);
  return Status::Ok();
}

Status WriteInto(const std::string& path, std::string_view content) {
  const BrokenPipeHeld held;
  // It may be where this process prints: what was printed before comes before.
  std::fflush(nullptr);
  struct stat file {};
  if (stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) && OwnStream(file) >= 0) {
    if (!WriteAll(OwnStream(file), content)) return SystemError(path, "cannot be written");
    return Status::Ok();
  }
  Descriptor stream(OpenStream(path));
  if (!stream.ok() && errno == ENXIO) {
    return Error(path + ": cannot be written: nobody reads this pipe, expected a reader within " +
                 std::to_string(kReaderWait.count()) + " s");
  }
  if (!stream.ok()) return SystemError(path, "cannot be opened");
  if (!WriteAll(stream.number(), content) || !stream.Close()) {
    return SystemError(path, "cannot be written");
  }
  return Status::Ok();
}

}  // namespace schedq
