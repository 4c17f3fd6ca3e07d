// Tokens to a tree: checks names of variables and functions, and the pairing of if, range, with and
// end, so that a template that parses fails only because of its values.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "bench/format/template/template_lexer.h"
#include "bench/format/template/template_node.h"

namespace schedq {

inline constexpr size_t kTemplateSourceBytesMax = 1u << 20;
inline constexpr int kTemplateDepthMax = 400;  // Of nested blocks and parentheses together.

std::variant<std::vector<TemplateNode>, TemplateProblem> ParseTemplate(std::string_view source);

}  // namespace schedq
