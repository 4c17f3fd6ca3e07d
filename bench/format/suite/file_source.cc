#include "bench/format/suite/file_source.h"

#include <filesystem>

#include "bench/format/yaml/yaml_parser.h"
#include "perf/files/input_file.h"

namespace schedq {

Result<std::string> ReadDiskFile(const std::string& path) {
  return ReadInput(path, InputFrom::kFileOrStandardInput, {.bytes_max = kYamlTextBytesMax});
}

std::string PathBeside(const std::string& from, const std::string& path) {
  const std::filesystem::path named(path);
  if (named.is_absolute()) return named.lexically_normal().string();
  std::string resolved =
      (std::filesystem::path(from).parent_path() / named).lexically_normal().string();
  // Only the command line can name standard input.
  return resolved == "-" ? "./-" : resolved;
}

}  // namespace schedq
