#include "bench/format/template/template_evaluator.h"

#include <utility>

#include "bench/format/template/template_functions.h"
#include "engine/base/result.h"

namespace schedq {
namespace {

// The text that an action prints for a value.
std::string PrintedValue(const Value& value) {
  return value.IsNil() ? "<no value>" : FormatValue(value);
}

class Evaluator {
 public:
  Evaluator(const Value& data, bool keep_origins, TemplateOutput* output)
      : keep_origins_(keep_origins), output_(output) {
    variables_.emplace_back("$", data);
  }

  std::optional<TemplateProblem> Run(const std::vector<TemplateNode>& nodes) {
    const Value data = variables_[0].second;
    RunList(nodes, data);
    return std::move(problem_);
  }

 private:
  enum class Flow { kNext, kBreak, kContinue };

  void Fail(size_t offset, std::string what) {
    if (!problem_) problem_ = TemplateProblem{offset, std::move(what)};
  }

  // Returns false when the template has used up its steps or has failed.
  bool Step(size_t offset) {
    if (++step_count_ > kTemplateStepCountMax) {
      Fail(offset, "endless template, expected at most " + std::to_string(kTemplateStepCountMax) +
                       " steps");
    }
    return !problem_;
  }

  void Write(size_t offset, const std::string& text, bool is_text) {
    if (output_->text.size() + text.size() > kTemplateOutputBytesMax) {
      return Fail(offset, "too much output, expected at most " +
                              std::to_string(kTemplateOutputBytesMax) + " bytes");
    }
    if (keep_origins_) output_->origins.push_back({output_->text.size(), offset, is_text});
    output_->text += text;
  }

  Flow RunList(const std::vector<TemplateNode>& nodes, const Value& dot) {
    for (const TemplateNode& node : nodes) {
      if (!Step(node.offset)) return Flow::kBreak;
      const Flow flow = RunNode(node, dot);
      if (problem_ || flow != Flow::kNext) return flow;
    }
    return Flow::kNext;
  }

  Flow RunNode(const TemplateNode& node, const Value& dot) {
    switch (node.kind) {
      case TemplateNodeKind::kText:
        Write(node.offset, node.text, true);
        return Flow::kNext;
      case TemplateNodeKind::kAction: {
        const Value value = EvaluatePipe(node.pipe, dot);
        if (!problem_ && node.pipe.variables.empty()) {
          Write(node.offset, PrintedValue(value), false);
        }
        return Flow::kNext;
      }
      case TemplateNodeKind::kIf:
      case TemplateNodeKind::kWith:
        return RunCondition(node, dot);
      case TemplateNodeKind::kRange:
        return RunRange(node, dot);
      case TemplateNodeKind::kBreak:
        return Flow::kBreak;
      case TemplateNodeKind::kContinue:
        return Flow::kContinue;
    }
    return Flow::kNext;
  }

  Flow RunCondition(const TemplateNode& node, const Value& dot) {
    const size_t mark = variables_.size();
    const Value value = EvaluatePipe(node.pipe, dot);
    if (problem_) return Flow::kBreak;
    const bool truth = value.Truth();
    const bool rebinds = truth && node.kind == TemplateNodeKind::kWith;
    const Flow flow = RunList(truth ? node.body : node.otherwise, rebinds ? value : dot);
    variables_.resize(mark);
    return flow;
  }

  Flow RunRange(const TemplateNode& node, const Value& dot) {
    const size_t mark = variables_.size();
    const Value value = EvaluatePipe(node.pipe, dot);
    if (problem_) return Flow::kBreak;
    // The pipe has declared its variables with the whole value; each round gives them an element.
    if (!node.pipe.assigns) variables_.resize(mark);
    const std::optional<int64_t> length = RangeLength(node, value);
    if (!length) return Flow::kBreak;
    Flow flow = Flow::kNext;
    if (const ValueMap* map = value.AsMap()) {
      for (const auto& [key, item] : *map) {
        flow = RunTurn(node, Value(key), item);
        if (problem_ || flow == Flow::kBreak) break;
      }
    } else {
      const ValueList* list = value.AsList();
      for (int64_t i = 0; i < *length; ++i) {
        flow =
            RunTurn(node, Value(i), list != nullptr ? (*list)[static_cast<size_t>(i)] : Value(i));
        if (problem_ || flow == Flow::kBreak) break;
      }
    }
    if (problem_) return Flow::kBreak;
    if (*length == 0) {
      flow = RunList(node.otherwise, dot);
      variables_.resize(mark);
      return flow;
    }
    variables_.resize(mark);
    return Flow::kNext;
  }

  std::optional<int64_t> RangeLength(const TemplateNode& node, const Value& value) {
    int64_t length = 0;
    if (const int64_t* count = value.AsInt()) {
      length = *count < 0 ? 0 : *count;
      if (node.pipe.variables.size() > 1) {
        Fail(node.offset,
             "can't use " + std::to_string(*count) + " to iterate over more than one variable");
        return std::nullopt;
      }
    } else if (const ValueList* list = value.AsList()) {
      length = static_cast<int64_t>(list->size());
    } else if (const ValueMap* map = value.AsMap()) {
      length = static_cast<int64_t>(map->size());
    } else if (!value.IsNil()) {
      Fail(node.offset, "range can't iterate over " + FormatValue(value).substr(0, 60) + " (" +
                            std::string(value.TypeName()) + "), expected an int, a list or a map");
      return std::nullopt;
    }
    if (length > kTemplateRangeMax) {
      Fail(node.offset, "range over " + std::to_string(length) + " elements, expected at most " +
                            std::to_string(kTemplateRangeMax));
      return std::nullopt;
    }
    return length;
  }

  Flow RunTurn(const TemplateNode& node, const Value& key, const Value& item) {
    if (!Step(node.offset)) return Flow::kBreak;
    const size_t mark = variables_.size();
    const std::vector<std::string>& names = node.pipe.variables;
    if (names.size() == 1) Bind(node.pipe, names[0], item);
    if (names.size() == 2) {
      Bind(node.pipe, names[0], key);
      Bind(node.pipe, names[1], item);
    }
    const Flow flow = RunList(node.body, item);
    variables_.resize(mark);
    return flow;
  }

  void Bind(const TemplatePipe& pipe, const std::string& name, const Value& value) {
    if (!pipe.assigns) {
      variables_.emplace_back(name, value);
      return;
    }
    for (auto at = variables_.rbegin(); at != variables_.rend(); ++at) {
      if (at->first == name) {
        at->second = value;
        return;
      }
    }
  }

  Value EvaluatePipe(const TemplatePipe& pipe, const Value& dot) {
    Value value;
    bool is_first = true;
    for (const TemplateCommand& command : pipe.commands) {
      value = EvaluateCommand(command, dot, is_first ? nullptr : &value);
      if (problem_) return Value();
      is_first = false;
    }
    for (const std::string& name : pipe.variables) Bind(pipe, name, value);
    return value;
  }

  // `previous` is the value of the command before in the pipe; it becomes the last argument.
  Value EvaluateCommand(const TemplateCommand& command, const Value& dot, const Value* previous) {
    const TemplateTerm& head = command.terms[0];
    if (!Step(head.offset)) return Value();
    if (head.kind != TemplateTermKind::kFunction) return EvaluateTerm(head, dot);
    const TemplateFunction& function = GetTemplateFunction(head.function);
    if (function.call == nullptr) return EvaluateLogic(command, dot, previous);
    std::vector<Value> arguments;
    for (size_t i = 1; i < command.terms.size(); ++i) {
      arguments.push_back(EvaluateTerm(command.terms[i], dot));
      if (problem_) return Value();
    }
    if (previous != nullptr) arguments.push_back(*previous);
    Result<Value> result = function.call(arguments);
    if (!result) {
      Fail(head.offset,
           "error calling " + std::string(function.name) + ": " + result.error().message());
      return Value();
    }
    const std::string* text = result->AsString();
    if (text != nullptr && text->size() > kTemplateStringBytesMax) {
      Fail(head.offset, "too long a string, expected at most " +
                            std::to_string(kTemplateStringBytesMax) + " bytes");
    }
    return std::move(*result);
  }

  // The value of `and` and `or` is the first argument that decides, else the last one.
  Value EvaluateLogic(const TemplateCommand& command, const Value& dot, const Value* previous) {
    const bool stops_at = GetTemplateFunction(command.terms[0].function).name == "or";
    Value value;
    for (size_t i = 1; i < command.terms.size(); ++i) {
      value = EvaluateTerm(command.terms[i], dot);
      if (problem_ || value.Truth() == stops_at) return value;
    }
    return previous != nullptr ? *previous : value;
  }

  Value EvaluateTerm(const TemplateTerm& term, const Value& dot) {
    if (!Step(term.offset)) return Value();
    switch (term.kind) {
      case TemplateTermKind::kDot:
        return dot;
      case TemplateTermKind::kField:
        return Descend(term, dot);
      case TemplateTermKind::kVariable:
        return Descend(term, Lookup(term.variable));
      case TemplateTermKind::kConstant:
        return term.constant;
      case TemplateTermKind::kNil:
        return Value();
      case TemplateTermKind::kPipe: {
        const Value value = EvaluatePipe(*term.pipe, dot);
        if (problem_) return Value();
        return Descend(term, value);
      }
      case TemplateTermKind::kFunction: {
        TemplateCommand call;  // A function that stands as an argument is called without any.
        call.terms.emplace_back();
        call.terms[0].kind = TemplateTermKind::kFunction;
        call.terms[0].function = term.function;
        call.terms[0].offset = term.offset;
        if (GetTemplateFunction(term.function).arguments_min > 0) {
          Fail(term.offset, "wrong number of arguments for " +
                                std::string(GetTemplateFunction(term.function).name) +
                                ": 0, expected parentheses around a call");
          return Value();
        }
        return EvaluateCommand(call, dot, nullptr);
      }
    }
    return Value();
  }

  const Value& Lookup(const std::string& name) const {
    for (auto at = variables_.rbegin(); at != variables_.rend(); ++at) {
      if (at->first == name) return at->second;
    }
    return variables_[0].second;
  }

  // Follows a chain of fields. A field that a map does not hold is nil.
  Value Descend(const TemplateTerm& term, const Value& from) {
    Value value = from;
    for (const std::string& name : term.names) {
      const ValueMap* map = value.AsMap();
      if (map == nullptr) {
        Fail(term.offset, value.IsNil() ? "nil pointer evaluating interface {}." + name
                                        : "can't evaluate field " + name + " in type " +
                                              std::string(value.TypeName()));
        return Value();
      }
      const auto found = map->find(name);
      Value next = found == map->end() ? Value() : found->second;
      value = std::move(next);
    }
    return value;
  }

  const bool keep_origins_;
  TemplateOutput* const output_;
  std::vector<std::pair<std::string, Value>> variables_;
  int64_t step_count_ = 0;
  std::optional<TemplateProblem> problem_;
};

}  // namespace

std::optional<TemplateProblem> EvaluateTemplate(const std::vector<TemplateNode>& nodes,
                                                const Value& data, bool keep_origins,
                                                TemplateOutput* output) {
  return Evaluator(data, keep_origins, output).Run(nodes);
}

}  // namespace schedq
