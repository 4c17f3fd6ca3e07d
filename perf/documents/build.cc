// What CMake and the linker know of this build. The commit is in a header of its own, which only
// this file includes, so that a new commit recompiles only this file.
#include <gnu/libc-version.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "perf/build_commit.h"
#include "perf/build_info.h"
#include "perf/documents/environment.h"

// jemalloc's control call; null unless jemalloc is linked or preloaded.
extern "C" __attribute__((weak)) int mallctl(const char* name, void* old_value, size_t* old_size,
                                             void* new_value, size_t new_size);

namespace schedq {
namespace {

std::string Allocator() {
  const char* version = nullptr;
  size_t size = sizeof(version);
  if (mallctl != nullptr && mallctl("version", &version, &size, nullptr, 0) == 0) {
    return std::string("jemalloc ") + version;
  }
  return std::string("glibc ") + gnu_get_libc_version();
}

// "name version;name version" into a map.
std::map<std::string, std::string> Libraries(std::string_view list) {
  std::map<std::string, std::string> libraries;
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(';'));
    list.remove_prefix(std::min(entry.size() + 1, list.size()));
    const size_t space = entry.find(' ');
    if (space == std::string_view::npos) continue;
    libraries.emplace(entry.substr(0, space), entry.substr(space + 1));
  }
  return libraries;
}

}  // namespace

Build ReadBuild() {
  Build build;
  build.version = kBuildVersion;
  build.commit = kBuildCommit;
  build.compiler = kBuildCompiler;
  build.flags = kBuildFlags;
  build.type = kBuildType;
  build.allocator = Allocator();
  build.libraries = Libraries(kBuildLibraries);
  return build;
}

std::string VersionText(const Build& build) {
  std::string text = "schedq " + build.version + "\n";
  text += "commit: " + build.commit + "\n";
  text += "compiler: " + build.compiler + "\n";
  text += "flags: " + build.flags + "\n";
  text += "build type: " + build.type + "\n";
  text += "allocator: " + build.allocator + "\n";
  for (const auto& [name, version] : build.libraries) text += name + ": " + version + "\n";
  return text;
}

}  // namespace schedq
