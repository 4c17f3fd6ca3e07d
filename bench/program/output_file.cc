#include "bench/program/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "perf/files/file_writer.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

}  // namespace

Status CheckWritable(const std::string& flag, const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return Error(fmt::format("{} {}: is a folder; expected the name of a file", flag, path));
  }
  const Result<OutputPlace> place = FindOutputPlace(path);
  if (!place) return Error(fmt::format("{} {}", flag, place.error().message()));
  const auto refuse = [&](const char* expected) {
    return Error(fmt::format("{} {}: cannot be written; expected {}", flag, path, expected));
  };
  if (place->kind == OutputKind::kStream) {
    return access(path.c_str(), W_OK) == 0 ? Status::Ok()
                                           : refuse("a device or pipe that may be written to");
  }
  if (fs::exists(place->path, ignored) && access(place->path.c_str(), W_OK) != 0) {
    return refuse("a file that may be written to");
  }
  // Missing folders will be made; the nearest one that exists must allow it.
  fs::path folder = fs::absolute(place->path, ignored).parent_path();
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, ignored) || access(folder.c_str(), W_OK) != 0) {
    return refuse("a folder that may be written to");
  }
  return Status::Ok();
}

std::string PartialPath(const std::string& path) {
  const fs::path whole(path);
  const fs::path name = whole.stem().string() + ".partial" + whole.extension().string();
  return (whole.parent_path() / name).string();
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
