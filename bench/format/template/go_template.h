// A template file: Go's text/template, as scheduler_perf uses it.
//
// Purpose: a template is compiled once and rendered for every object.
// Supported: fields, variables (:= and =), if, else if, else, with, range (over ints, lists and
// maps; break and continue), pipes, parentheses, comments, trim markers, and the functions of
// template_functions.h. Compile refuses define, template, block, call, html, js, slice and
// urlquery.
// Threads: immutable after Compile; Render may run on several threads.
// Bound: see template_evaluator.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/template/template_lexer.h"
#include "bench/format/template/template_node.h"
#include "bench/format/template/value.h"
#include "bench/format/yaml/yaml_node.h"
#include "engine/base/result.h"

namespace schedq {

class GoTemplate {
 public:
  // Messages begin with `file`: `file:line:column: what`.
  static Result<GoTemplate> Compile(std::string file, std::string source);
  // Wraps a file that is not a template; {{ means nothing in it.
  static GoTemplate Literal(std::string file, std::string text);

  Result<std::string> Render(const Value& data) const;

  // The place in this file that a place of the output for `data` came from.
  TextPosition Locate(const Value& data, TextPosition in_output) const;

  const std::string& file() const { return file_; }
  // True if the template has no actions, so that every rendering is the same.
  bool IsConstant() const;

 private:
  GoTemplate(std::string file, std::string source)
      : file_(std::move(file)), source_(std::move(source)) {}
  Error ErrorOf(const TemplateProblem& problem) const;

  std::string file_;
  std::string source_;
  std::vector<TemplateNode> nodes_;
};

}  // namespace schedq
