// Text to YamlNode, through yaml-cpp's event interface.
//
// Bad input costs bounded time and memory: the limits below are checked while the events arrive, so
// an alias bomb or a deep nest ends with an error instead of a crash. yaml-cpp's exceptions stay
// inside.
#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include "bench/format/yaml/yaml_node.h"
#include "engine/base/result.h"

namespace schedq {

inline constexpr size_t kYamlTextBytesMax = 8u << 20;
inline constexpr size_t kYamlNodeCountMax = 1'000'000;  // After aliases are copied.
inline constexpr size_t kYamlCopyBytesMax = 64u << 20;  // Scalars, after aliases are copied.
inline constexpr int kYamlDepthMax = 100;

// Why a text is not acceptable, and where.
struct YamlProblem {
  TextPosition at;
  std::string what;
};

// One document; an empty text is a null node. Duplicate keys, a second document, tags other than
// the core ones, control characters and keys that are not scalars are problems. `<<` merges.
std::variant<YamlNode, YamlProblem> ParseYaml(std::string_view text);

}  // namespace schedq
