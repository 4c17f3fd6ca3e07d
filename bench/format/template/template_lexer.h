// Cuts a template into text and the tokens of its actions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace schedq {

enum class TemplateTokenKind : uint8_t {
  kText,      // Between actions, trimmed as its neighbours ask.
  kOpen,      // {{
  kClose,     // }}
  kSpace,     // Separates arguments; `.a .b` is not `.a.b`.
  kName,      // if, range, printf, true
  kField,     // .name
  kVariable,  // $name or $
  kNumber,
  kString,     // Unquoted.
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

// What is wrong with a template, at a byte of its source.
struct TemplateProblem {
  size_t offset = 0;
  std::string what;
};

// Ends with a kEnd token. Comments are dropped.
std::variant<std::vector<TemplateToken>, TemplateProblem> LexTemplate(std::string_view source);

}  // namespace schedq
