#include "bench/format/suite/file_source.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "bench/format/yaml/yaml_parser.h"

namespace schedq {

Result<std::string> ReadDiskFile(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) return Error("does not exist, expected a readable file");
  if (!std::filesystem::is_regular_file(status)) return Error("is not a file, expected one");
  if (std::filesystem::file_size(path, ignored) > kYamlTextBytesMax) {
    return Error("is too large, expected at most " + std::to_string(kYamlTextBytesMax) + " bytes");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Error("cannot be opened, expected a readable file");
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) return Error("cannot be read, expected a readable file");
  return text;
}

std::string PathBeside(const std::string& from, const std::string& path) {
  const std::filesystem::path named(path);
  if (named.is_absolute()) return named.lexically_normal().string();
  return (std::filesystem::path(from).parent_path() / named).lexically_normal().string();
}

}  // namespace schedq
