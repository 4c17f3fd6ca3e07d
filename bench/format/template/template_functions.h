// The functions that a template may call: those of Go that workload files need, and the arithmetic
// that scheduler_perf adds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/format/template/value.h"
#include "engine/base/result.h"

namespace schedq {

struct TemplateFunction {
  std::string_view name;
  int arguments_min;
  int arguments_max;  // -1: any number.
  // nullptr for `and` and `or`, which the evaluator decides argument by argument.
  Result<Value> (*call)(const std::vector<Value>& arguments);
};

// The function's number in the table, or nullopt.
std::optional<int> FindTemplateFunction(std::string_view name);
const TemplateFunction& GetTemplateFunction(int number);
// All names, for messages.
std::string TemplateFunctionNames();

// True for a function of Go that is not in the table.
bool IsUnsupportedTemplateFunction(std::string_view name);

}  // namespace schedq
