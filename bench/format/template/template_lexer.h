// Splits a template into text and the tokens of its actions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace schedq {

enum class TemplateTokenKind : uint8_t {
  kText,      // Text between actions, after the trim markers of its neighbours were applied.
  kOpen,      // {{
  kClose,     // }}
  kSpace,     // Separates arguments; `.a .b` is not `.a.b`.
  kName,      // if, range, printf, true
  kField,     // .name
  kVariable,  // $name or $
  kNumber,
  kString,     // The text without its quotes.
  kCharacter,  // 'a'
  kDot,
  kPipe,  // |
  kOpenParen,
  kCloseParen,
  kDeclare,  // :=
  kAssign,   // =
  kComma,
  kEnd,
};

struct TemplateToken {
  TemplateTokenKind kind = TemplateTokenKind::kEnd;
  size_t offset = 0;
  std::string text;
};

// An error in a template, at a byte of its source.
struct TemplateProblem {
  size_t offset = 0;
  std::string what;
};

// The tokens end with kEnd. Comments are dropped.
std::variant<std::vector<TemplateToken>, TemplateProblem> LexTemplate(std::string_view source);

}  // namespace schedq
