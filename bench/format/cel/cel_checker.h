// Gives every name and call of a parsed expression its meaning, and refuses what has wrong types,
// as upstream's compiler does.
//
// Purpose: what passes here can fail only by its values. Constant lists, quantities, versions and
// patterns are made here once.
// Bound: recursion as deep as the tree, kCelDepthMax.
#pragma once

#include <memory>
#include <vector>

#include "bench/format/cel/cel_lexer.h"
#include "bench/format/cel/cel_node.h"
#include "bench/format/cel/cel_value.h"
#include "bench/format/cel/exact_quantity.h"
#include "bench/format/cel/semantic_version.h"
#include "perf/text/pattern.h"

namespace schedq {

// What constants of the tree point to.
struct CelConstants {
  std::vector<std::unique_ptr<const ExactQuantity>> quantities;
  std::vector<std::unique_ptr<const SemanticVersion>> versions;
  std::vector<std::unique_ptr<CelValue[]>> items;
  std::vector<Pattern> patterns;
};

struct CelRules {
  bool has_device = true;  // The variable `device` exists.
  bool gives_bool = true;  // The result must be a bool, or of unknown type.
};

// False: `problem` says what is wrong.
bool CheckCel(const CelRules& rules, CelTree* tree, CelConstants* constants, CelProblem* problem);

}  // namespace schedq
