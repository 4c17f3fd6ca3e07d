#include "bench/format/cel/device_selector.h"

#include "bench/format/cel/cel_functions.h"
#include "bench/format/cel/cel_lexer.h"
#include "bench/format/cel/cel_parser.h"
#include "bench/format/cel/cel_run.h"
#include "bench/format/cel/cel_value.h"
#include "bench/format/cel/selector_program.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

bool IsDriver(const CelTree& tree, const CelNode& node) {
  return node.kind == CelNodeKind::kSelect && node.text == "driver" &&
         tree.Child(node, 0).kind == CelNodeKind::kDevice;
}

bool IsText(const CelNode& node) {
  return node.kind == CelNodeKind::kConstant && node.value.kind == CelKind::kString;
}

}  // namespace

Result<std::shared_ptr<const SelectorProgram>> SelectorProgram::Compile(std::string_view expression,
                                                                        const CelRules& rules) {
  if (expression.size() > kSelectorBytesMax) {
    return Error("1:1: the expression has " + std::to_string(expression.size()) +
                 " bytes, expected at most " + std::to_string(kSelectorBytesMax));
  }
  std::shared_ptr<SelectorProgram> program(new SelectorProgram(expression));
  CelProblem problem;
  const bool compiled = ParseCel(program->expression_, &program->tree_, &problem) &&
                        CheckCel(rules, &program->tree_, &program->constants_, &problem);
  if (!compiled) return CelErrorAt(expression, problem);
  return std::shared_ptr<const SelectorProgram>(std::move(program));
}

Result<DeviceSelector> DeviceSelector::Parse(std::string_view expression) {
  auto program = SelectorProgram::Compile(expression, CelRules{});
  if (!program.ok()) return program.error();
  return DeviceSelector(std::move(*program));
}

SelectorResult DeviceSelector::Evaluate(const DeviceView& device, std::string* error) const {
  CelRun run(program_->tree(), program_->constants().patterns, &device);
  const CelValue value = run.Run();
  if (value.kind == CelKind::kBool) {
    return value.boolean ? SelectorResult::kMatch : SelectorResult::kNoMatch;
  }
  if (error != nullptr) {
    *error = value.IsError() ? VisibleText(value.view())
                             : "CEL result of type " + std::string(CelTypeName(value.kind)) +
                                   " could not be converted to bool";
  }
  return SelectorResult::kError;
}

std::optional<std::string_view> DeviceSelector::RequiredDriver() const {
  const CelTree& tree = program_->tree();
  const CelNode* node = &tree.nodes[tree.root];
  // The first part of && is evaluated first, so that nothing before it can go beyond a bound.
  while (node->kind == CelNodeKind::kAnd) node = &tree.Child(*node, 0);
  if (node->kind != CelNodeKind::kCall || node->text != "_==_") return std::nullopt;
  const CelNode& left = tree.Child(*node, 0);
  const CelNode& right = tree.Child(*node, 1);
  if (IsDriver(tree, left) && IsText(right)) return right.value.view();
  if (IsDriver(tree, right) && IsText(left)) return left.value.view();
  return std::nullopt;
}

const std::string& DeviceSelector::expression() const { return program_->expression(); }

}  // namespace schedq
