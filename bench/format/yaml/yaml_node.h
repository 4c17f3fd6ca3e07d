// What a YAML text says, with the place of every key and value.
//
// Purpose: the strict reader needs positions for its messages and the difference between a plain
// and a quoted scalar; the tree holds no aliases (they are copied while parsing, within a budget).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace schedq {

// Counted from 1; 0 where unknown.
struct TextPosition {
  int line = 0;
  int column = 0;
};

enum class YamlKind : uint8_t { kNull, kScalar, kSequence, kMap };

std::string_view YamlKindName(YamlKind kind);

struct YamlEntry;

struct YamlNode {
  YamlKind kind = YamlKind::kNull;
  bool plain = false;  // A scalar without quotes: true, 12 and yes are not strings.
  TextPosition at;
  std::string text;                // kScalar.
  std::vector<YamlNode> items;     // kSequence.
  std::vector<YamlEntry> entries;  // kMap, in the order of the text, keys unique.

  bool IsNull() const { return kind == YamlKind::kNull; }
};

struct YamlEntry {
  std::string key;
  TextPosition at;
  YamlNode value;
};

}  // namespace schedq
