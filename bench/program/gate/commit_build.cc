#include "bench/program/gate/commit_build.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "bench/interrupt.h"
#include "bench/run_program.h"
#include "perf/files/file_io.h"
#include "perf/files/leftovers.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShortCommit = 12;

// The last line that the program printed. An error: it failed; `what` was wanted.
Result<std::string> Ask(const std::vector<std::string>& arguments, const std::string& folder,
                        const std::string& what) {
  const Result<ProgramEnd> end = RunProgram(arguments, folder);
  if (!end) return end.error();
  if (end->exit_code != 0) return Error(what + ": " + end->LastLine());
  return ProgramEnd{0, end->out, ""}.LastLine();
}

// Where a commit's program is kept, and where it comes from.
struct Places {
  fs::path folder;  // Complete, or absent.
  // Beside it, a folder for each process: what a build that was killed has left running writes on
  // in its own.
  fs::path building;
  fs::path lock;

  std::string Program() const { return (folder / "schedq").string(); }
  std::string Checksum() const { return (folder / "checksum").string(); }
};

Places PlacesOf(const std::string& top, const std::string& commit, const std::string& preset) {
  const fs::path gate = fs::path(top) / "build" / "gate";
  const std::string name = preset == kQuickPreset ? commit : commit + '-' + preset;
  return {gate / name, gate / (name + ".building-" + std::to_string(getpid())),
          gate / (name + ".lock")};
}

// Removes what builds of this commit have left that were killed. Only for the owner of the lock.
void RemoveKilledBuilds(const Places& places) {
  const std::string prefix = places.folder.filename().string() + ".building-";
  std::error_code ignored;
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(places.folder.parent_path(), ignored)) {
    if (entry.path().filename().string().starts_with(prefix)) left.push_back(entry.path());
  }
  for (const fs::path& each : left) fs::remove_all(each, ignored);
}

Result<std::string> ChecksumOf(const std::string& file) {
  return Ask({"git", "hash-object", "--no-filters", file}, "", file + ": cannot be read");
}

// Whether the program is there, whole, and the one that was built.
bool IsComplete(const Places& places) {
  std::error_code ignored;
  if (!fs::exists(places.Checksum(), ignored)) return false;
  const Result<std::string> kept = ReadWholeFile(places.Checksum());
  const Result<std::string> found = ChecksumOf(places.Program());
  return kept && found && *kept == *found + '\n';
}

// Held by one process on the machine, and gone with it.
class Lock {
 public:
  explicit Lock(const std::string& path)
      : path_(path), file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (file_ >= 0) close(file_);
  }

  // Waits as long as another process builds, unless a signal arrives.
  Status Take(const BuildProgress& progress) const {
    constexpr std::chrono::milliseconds kPoll{100};
    bool was_told = false;
    if (file_ < 0) return Error(path_ + ": cannot be opened, expected a file to lock");
    while (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) {
        return Error(path_ + ": cannot be locked: " + std::strerror(errno));
      }
      if (Interrupted()) return Error("interrupted while another gate built the same commit");
      if (!was_told) progress("wait for another gate that builds the same commit");
      was_told = true;
      std::this_thread::sleep_for(kPoll);
    }
    return Status::Ok();
  }

 private:
  const std::string path_;
  const int file_;
};

// The folder of a build under way; its end removes it.
class BuildFolder {
 public:
  explicit BuildFolder(fs::path path) : path_(std::move(path)), leftover_(path_.string()) {}
  BuildFolder(const BuildFolder&) = delete;
  BuildFolder& operator=(const BuildFolder&) = delete;
  ~BuildFolder() { RemoveTree(path_.native()); }

  const fs::path& path() const { return path_; }

 private:
  const fs::path path_;
  const Leftover leftover_;
};

// Unpacks and builds below `folder`. The path of the program.
Result<std::string> BuildBelow(const fs::path& folder, const std::string& top,
                               const std::string& commit, const std::string& preset,
                               const BuildProgress& progress) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return Error(folder.string() + ": the folder cannot be made: " + code.message());
  const fs::path build = folder / "build" / preset;
  const std::string archive = (folder / "tree.tar").string();
  const std::string program = (build / "schedq").string();
  struct Step {
    std::string name;
    std::vector<std::string> arguments;
    std::string folder;
  };
  const std::vector<Step> steps = {
      {"unpack", {"git", "archive", "--output", archive, commit}, top},
      {"unpack", {"tar", "-xf", archive, "-C", folder.string()}, ""},
      {"configure", {"cmake", "--preset", preset}, folder.string()},
      {"build",
       {"cmake", "--build", build.string(), "--parallel", "--target", "schedq"},
       folder.string()},
      {"try", {program, "--version"}, ""}};
  for (const Step& step : steps) {
    const std::string what = step.name + " " + commit.substr(0, kShortCommit);
    progress(what);
    if (const auto done = Ask(step.arguments, step.folder, what); !done) return done.error();
  }
  return program;
}

// The program and its checksum appear together, by one rename.
Status Keep(const std::string& program, const fs::path& building, const Places& places) {
  const fs::path kept = building / "kept";
  std::error_code code;
  fs::create_directory(kept, code);
  if (!code) fs::copy_file(program, kept / "schedq", code);
  if (code) return Error(program + ": cannot be kept: " + code.message());
  const Result<std::string> checksum = ChecksumOf((kept / "schedq").string());
  if (!checksum) return checksum.error();
  Status written = WriteFileAtomically((kept / "checksum").string(), *checksum + '\n');
  if (!written) return written;
  // What is there is broken, or it would have been used.
  fs::remove_all(places.folder, code);
  fs::rename(kept, places.folder, code);
  if (code) return Error(places.folder.string() + ": cannot be replaced: " + code.message());
  return Status::Ok();
}

}  // namespace

Result<std::string> BuildCommit(const std::string& reference, const std::string& preset,
                                const BuildProgress& progress) {
  const auto commit = Ask({"git", "rev-parse", "--verify", "--quiet", reference + "^{commit}"}, "",
                          reference + ": is no folder, program or commit, expected one of them");
  if (!commit) return commit.error();
  const auto top = Ask({"git", "rev-parse", "--show-toplevel"}, "", "no repository");
  if (!top) return top.error();
  const Places places = PlacesOf(*top, *commit, preset);
  if (IsComplete(places)) return places.Program();
  std::error_code code;
  fs::create_directories(places.folder.parent_path(), code);
  const Lock lock(places.lock.string());
  if (Status taken = lock.Take(progress); !taken) return taken.error();
  // Another gate may have built it in the meantime.
  if (IsComplete(places)) return places.Program();
  RemoveKilledBuilds(places);
  const BuildFolder building(places.building);
  const auto program = BuildBelow(building.path(), *top, *commit, preset, progress);
  if (!program) return program.error();
  if (Status kept = Keep(*program, building.path(), places); !kept) return kept.error();
  return places.Program();
}

}  // namespace schedq
