// A parsed expression: a tree in one array.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "bench/format/cel/cel_value.h"

namespace schedq {

enum class CelNodeKind : uint8_t {
  kConstant,
  kName,    // A name that is not resolved; the checker leaves none.
  kDevice,  // The variable `device`.
  kSlot,    // A variable of a macro.
  kSelect,  // child.text
  kHas,     // has(child.text)
  kIndex,   // children[0][children[1]]
  kCall,    // A function; a method has its receiver as the first child.
  kAnd,     // Of two or more children.
  kOr,
  kConditional,  // Three children.
  kList,
  kMap,  // Keys and values in turn.
  kAll,  // Macros: a range, then bodies that see the slot.
  kExists,
  kExistsOne,
  kMapLoop,  // Two children, or three: range, condition, result.
  kFilter,
  kBind,  // A value, then a body.
};

struct CelNode {
  CelNodeKind kind = CelNodeKind::kConstant;
  // A call's: whether it is written as a method, and whether more than one overload fits the types
  // that are known.
  bool method = false;
  bool open_overload = false;
  uint8_t function = 0;      // Its number in the table of functions.
  uint16_t depth = 1;        // Of the tree below, this node included.
  uint16_t slot = 0;         // Of the variable that a macro declares or a kSlot reads.
  uint32_t offset = 0;       // Into the expression.
  uint32_t first_child = 0;  // Into CelTree::children.
  uint32_t child_count = 0;
  uint32_t pattern = 0;   // Its number in the program's patterns, plus 1; 0: none.
  uint32_t cost = 0;      // A constant's: what computing it costs upstream.
  std::string_view text;  // A field, a function's name, a variable's name.
  CelValue value{};       // Of a constant.
};

// Invariant: a node's children come before it in `nodes`.
struct CelTree {
  std::vector<CelNode> nodes;
  std::vector<uint32_t> children;
  std::deque<std::string> texts;  // Contents of literals.
  uint32_t root = 0;

  const uint32_t* ChildrenOf(const CelNode& node) const {
    return children.data() + node.first_child;
  }
  const CelNode& Child(const CelNode& node, uint32_t index) const {
    return nodes[ChildrenOf(node)[index]];
  }
};

}  // namespace schedq
