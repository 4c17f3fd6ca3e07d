// Parses text to YamlNodes through yaml-cpp's event interface.
//
// Bad input costs bounded time and memory. The parser checks the limits below at each event, so
// that exponential aliases and deep nesting end with an error instead of a crash. No exception of
// yaml-cpp leaves the parser.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "bench/format/yaml/yaml_node.h"

namespace schedq {

inline constexpr size_t kYamlTextBytesMax = 8u << 20;
inline constexpr size_t kYamlNodeCountMax = 1'000'000;  // After aliases are copied.
inline constexpr size_t kYamlCopyBytesMax = 64u << 20;  // Bytes of scalars after that.
inline constexpr int kYamlDepthMax = 100;

// The reason why a text is refused, and its place.
struct YamlProblem {
  TextPosition at;
  std::string what;
};

// Parses one document; an empty text is a null node. Duplicate keys, a second document, tags other
// than the core ones, control characters and keys that are not scalars are problems. `<<` merges.
std::variant<YamlNode, YamlProblem> ParseYaml(std::string_view text);

}  // namespace schedq
