// A CEL expression without a device, to the text of its value: "3", "error: division by zero", or
// "refused: 1:3: ..." for an expression that is not evaluated at all.
#pragma once

#include <string>
#include <string_view>

#include "bench/format/cel/cel_checker.h"
#include "bench/format/cel/cel_run.h"
#include "bench/format/cel/cel_value.h"
#include "bench/format/cel/selector_program.h"

namespace schedq {

inline std::string CelTextOf(std::string_view expression) {
  const auto program = SelectorProgram::Compile(expression, CelRules{false, false});
  if (!program.ok()) return "refused: " + program.error().message();
  CelRun run((*program)->tree(), (*program)->constants().patterns, nullptr);
  return CelValueText(run.Run());
}

}  // namespace schedq
