// The syntax tree of a template.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/format/template/value.h"

namespace schedq {

struct TemplatePipe;

enum class TemplateTermKind : uint8_t {
  kDot,       // .
  kField,     // .a.b: names
  kVariable,  // $x.a.b: slot, names
  kConstant,  // 12, "text", true
  kNil,       // nil
  kFunction,  // a name in the table of functions
  kPipe,      // ( ... ).a.b: pipe, names
};

struct TemplateTerm {
  TemplateTermKind kind = TemplateTermKind::kDot;
  size_t offset = 0;  // The place in the source, for messages.
  std::vector<std::string> names;
  std::string variable;
  Value constant;
  int function = 0;
  std::unique_ptr<TemplatePipe> pipe;
};

struct TemplateCommand {
  std::vector<TemplateTerm> terms;  // The operand or function, then its arguments; never empty.
};

struct TemplatePipe {
  size_t offset = 0;
  std::vector<std::string> variables;  // `$a, $b :=`
  bool assigns = false;                // The pipe has `=` instead of `:=`.
  std::vector<TemplateCommand> commands;
};

enum class TemplateNodeKind : uint8_t { kText, kAction, kIf, kWith, kRange, kBreak, kContinue };

struct TemplateNode {
  TemplateNodeKind kind = TemplateNodeKind::kText;
  size_t offset = 0;
  std::string text;
  TemplatePipe pipe;
  std::vector<TemplateNode> body;
  std::vector<TemplateNode> otherwise;  // The branch of else; `else if` is one nested kIf.
};

}  // namespace schedq
