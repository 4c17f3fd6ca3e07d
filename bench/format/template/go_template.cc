#include "bench/format/template/go_template.h"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "bench/format/template/template_evaluator.h"
#include "bench/format/template/template_parser.h"

namespace schedq {
namespace {

size_t OffsetAt(std::string_view text, TextPosition at) {
  size_t offset = 0;
  for (int line = 1; line < at.line; ++line) {
    const size_t newline = text.find('\n', offset);
    if (newline == std::string_view::npos) return text.size();
    offset = newline + 1;
  }
  return std::min(offset + static_cast<size_t>(std::max(at.column - 1, 0)), text.size());
}

}  // namespace

Error GoTemplate::ErrorOf(const TemplateProblem& problem) const {
  const TextPosition at = PositionAt(source_, problem.offset);
  return Error(file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " +
               problem.what);
}

Result<GoTemplate> GoTemplate::Compile(std::string file, std::string source) {
  GoTemplate compiled(std::move(file), std::move(source));
  auto parsed = ParseTemplate(compiled.source_);
  if (const auto* problem = std::get_if<TemplateProblem>(&parsed)) {
    return compiled.ErrorOf(*problem);
  }
  compiled.nodes_ = std::move(std::get<0>(parsed));
  return compiled;
}

GoTemplate GoTemplate::Literal(std::string file, std::string text) {
  GoTemplate literal(std::move(file), text);
  TemplateNode node;
  node.text = std::move(text);
  literal.nodes_.push_back(std::move(node));
  return literal;
}

Result<std::string> GoTemplate::Render(const Value& data) const {
  TemplateOutput output;
  if (const auto problem = EvaluateTemplate(nodes_, data, false, &output)) {
    return ErrorOf(*problem);
  }
  return std::move(output.text);
}

TextPosition GoTemplate::Locate(const Value& data, TextPosition in_output) const {
  TemplateOutput output;
  if (EvaluateTemplate(nodes_, data, true, &output) || output.origins.empty()) return in_output;
  const size_t offset = OffsetAt(output.text, in_output);
  const auto after = std::upper_bound(
      output.origins.begin(), output.origins.end(), offset,
      [](size_t wanted, const TemplateOrigin& origin) { return wanted < origin.output_offset; });
  const TemplateOrigin& origin = after == output.origins.begin() ? *after : *(after - 1);
  const size_t advanced = origin.is_text ? offset - origin.output_offset : 0;
  return PositionAt(source_, origin.source_offset + advanced);
}

bool GoTemplate::IsConstant() const {
  return std::all_of(nodes_.begin(), nodes_.end(),
                     [](const TemplateNode& node) { return node.kind == TemplateNodeKind::kText; });
}

}  // namespace schedq
