// A compiled expression: its text, its tree and its constants.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bench/format/cel/cel_checker.h"
#include "bench/format/cel/cel_node.h"
#include "engine/base/result.h"

namespace schedq {

// It is not moved once compiled, because its tree points into it.
class SelectorProgram {
 public:
  static Result<std::shared_ptr<const SelectorProgram>> Compile(std::string_view expression,
                                                                const CelRules& rules);

  const std::string& expression() const { return expression_; }
  const CelTree& tree() const { return tree_; }
  const CelConstants& constants() const { return constants_; }

 private:
  explicit SelectorProgram(std::string_view expression) : expression_(expression) {}

  std::string expression_;
  CelTree tree_;
  CelConstants constants_;
};

}  // namespace schedq
