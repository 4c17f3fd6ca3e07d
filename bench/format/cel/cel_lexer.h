// Splits a CEL expression into tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace schedq {

enum class CelTokenKind : uint8_t {
  kEnd,
  kName,        // An identifier, reserved words among them.
  kQuotedName,  // `name`
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kSymbol,  // An operator, a bracket, `in`, `true`, `false`, `null`.
};

struct CelToken {
  CelTokenKind kind = CelTokenKind::kEnd;
  uint32_t offset = 0;
  std::string_view text;  // As written; of a kQuotedName without its quotes.
};

// What is wrong with an expression, and at which byte.
struct CelProblem {
  size_t offset = 0;
  std::string what;
};

// "line:column: what"; columns count code points.
Error CelErrorAt(std::string_view expression, const CelProblem& problem);

// The tokens, the last of which is kEnd. On failure `problem` is set and the tokens are useless.
bool SplitCelTokens(std::string_view expression, std::vector<CelToken>* tokens,
                    CelProblem* problem);

// The content of a literal of kind kString or kBytes; false where an escape is none.
bool UnquoteCel(std::string_view literal, bool bytes, std::string* content, std::string* what);

}  // namespace schedq
