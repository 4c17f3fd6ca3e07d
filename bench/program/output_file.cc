#include "bench/program/output_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>

#include "perf/files/file_writer.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

Error Refuse(const NamedFile& file, const std::string& expected) {
  return Error(
      fmt::format("{} {}: cannot be written; expected {}", file.flag, file.path, expected));
}

// Missing folders will be made; the nearest one that exists must allow it.
Status CheckParents(const NamedFile& file, fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) {
    // A folder cannot be made where a link is.
    if (fs::is_symlink(folder, ignored)) {
      return Refuse(file, "a folder; " + folder.string() + " links to nothing");
    }
    folder = folder.parent_path();
  }
  if (!fs::is_directory(folder, ignored) || access(folder.c_str(), W_OK) != 0) {
    return Refuse(file, "a folder that may be written to");
  }
  return Status::Ok();
}

Status CheckWritable(const NamedFile& file, const OutputPlace& place) {
  std::error_code ignored;
  if (place.kind == OutputKind::kStream) {
    return access(file.path.c_str(), W_OK) == 0
               ? Status::Ok()
               : Refuse(file, "a device or pipe that may be written to");
  }
  if (fs::exists(place.path, ignored) && access(place.path.c_str(), W_OK) != 0) {
    return Refuse(file, "a file that may be written to");
  }
  return CheckParents(file, fs::absolute(place.path, ignored).parent_path());
}

// The same text for each path to one file, whether it exists or not.
std::string IdentityOf(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) == 0) return fmt::format("{}:{}", file.st_dev, file.st_ino);
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(path, ignored), ignored).string();
}

// A command that reads results from a folder reads its JSON files.
bool IsReadFrom(const std::string& folder, const fs::path& path) {
  std::error_code ignored;
  if (path.extension() != ".json" || !fs::is_directory(folder, ignored)) return false;
  const fs::path parent = fs::absolute(path, ignored).parent_path();
  return IdentityOf(parent.string()) == IdentityOf(folder);
}

}  // namespace

Status CheckFiles(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  std::error_code ignored;
  std::map<std::string, NamedFile> written;  // By identity.
  for (const NamedFile& file : outputs) {
    if (file.path.empty()) continue;
    if (fs::is_directory(file.path, ignored)) {
      return Error(
          fmt::format("{} {}: is a folder; expected the name of a file", file.flag, file.path));
    }
    const Result<OutputPlace> place = FindOutputPlace(file.path);
    if (!place) return Error(fmt::format("{} {}", file.flag, place.error().message()));
    if (Status status = CheckWritable(file, *place); !status) return status;
    if (place->kind == OutputKind::kStream) continue;
    const auto [other, is_new] = written.emplace(IdentityOf(place->path), file);
    if (!is_new) {
      return Error(fmt::format("{} {}: is the file of {} as well; expected two files", file.flag,
                               file.path, other->second.flag));
    }
    for (const NamedFile& input : inputs) {
      if (input.path.empty()) continue;
      if (IdentityOf(input.path) != IdentityOf(place->path) &&
          !IsReadFrom(input.path, place->path)) {
        continue;
      }
      return Error(fmt::format("{} {}: is read as {} {}; expected another file", file.flag,
                               file.path, input.flag, input.path));
    }
  }
  return Status::Ok();
}

Status CheckFolder(const NamedFile& folder) {
  std::error_code ignored;
  return CheckParents(folder, fs::absolute(folder.path, ignored));
}

std::string PartialPath(const std::string& path) {
  const fs::path whole(path);
  const fs::path name = whole.stem().string() + ".partial" + whole.extension().string();
  return (whole.parent_path() / name).string();
}

bool HasResultFor(const std::string& path, bool has_measured, bool is_whole) {
  if (has_measured || is_whole) return true;
  fmt::print(stderr, "schedq: nothing was measured before the end; {} is not written\n", path);
  return false;
}

std::string ResultPath(const std::string& path, bool is_whole) {
  std::error_code ignored;
  const Result<OutputPlace> place = FindOutputPlace(path);
  const bool is_kept =
      !is_whole && place && place->kind == OutputKind::kFile && fs::exists(place->path, ignored);
  if (!is_kept) return path;
  std::string partial = PartialPath(path);
  fmt::print(stderr, "schedq: {} stays as it is; what was measured now is in {}\n", path, partial);
  return partial;
}

}  // namespace schedq
