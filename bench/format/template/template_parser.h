// Parses a template to a tree. It checks the names of variables and functions and the pairing of
// if, range, with and end, so that only values can make a parsed template fail.
#pragma once

#include <cstddef>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/format/template/template_lexer.h"
#include "bench/format/template/template_node.h"

namespace schedq {

inline constexpr size_t kTemplateSourceBytesMax = 1u << 20;
inline constexpr int kTemplateDepthMax = 400;  // Nested blocks and parentheses together.

std::variant<std::vector<TemplateNode>, TemplateProblem> ParseTemplate(std::string_view source);

}  // namespace schedq
