// Parses a CEL expression to a tree and expands its macros: has, all, exists, exists_one, map,
// filter, cel.bind.
//
// Bound: kCelDepthMax nested expressions, as upstream's parser has it, both while parsing and in
// the tree that comes out, so that everything that walks the tree may recurse.
#pragma once

#include <string_view>

#include "bench/format/cel/cel_lexer.h"
#include "bench/format/cel/cel_node.h"

namespace schedq {

inline constexpr int kCelDepthMax = 250;

// The tree's texts point into `expression`, which must outlive it. False: `problem` says why.
bool ParseCel(std::string_view expression, CelTree* tree, CelProblem* problem);

}  // namespace schedq
