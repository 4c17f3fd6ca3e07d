// The tree of a YAML text, with the place of every key and value.
//
// Purpose: the strict reader needs places for its messages, and must tell a plain scalar from a
// quoted one. The tree holds no aliases: the parser copies them, within its limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace schedq {

// Lines and columns (bytes) count from 1; 0 stands for unknown.
struct TextPosition {
  int line = 0;
  int column = 0;
};

// The position of the byte at `offset`; an offset behind the text stands for its end.
TextPosition PositionAt(std::string_view text, size_t offset);

enum class YamlKind : uint8_t { kNull, kScalar, kSequence, kMap };

std::string_view YamlKindName(YamlKind kind);

struct YamlEntry;

struct YamlNode {
  YamlKind kind = YamlKind::kNull;
  bool plain = false;  // A scalar without quotes, so that true, 12 and yes are not strings.
  TextPosition at;
  std::string text;                // For kScalar.
  std::vector<YamlNode> items;     // For kSequence.
  std::vector<YamlEntry> entries;  // For kMap, in the order of the text; keys are unique.

  bool IsNull() const { return kind == YamlKind::kNull; }
};

struct YamlEntry {
  std::string key;
  TextPosition at;
  YamlNode value;
};

}  // namespace schedq
