#include "bench/format/template/template_parser.h"

#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bench/format/template/template_functions.h"
#include "bench/format/template/value.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_scalar.h"

namespace schedq {
namespace {

using Kind = TemplateTokenKind;

// The number that Go's parser makes of a token. Imaginary numbers and hexadecimal floats are not
// supported.
std::optional<Value> ParseConstantNumber(std::string_view text) {
  const YamlNode scalar{YamlKind::kScalar, true, {}, std::string(text), {}, {}};
  if (const auto integer = YamlInteger(scalar)) return Value(*integer);
  if (const auto number = ParseDecimal(text)) return Value(*number);
  return std::nullopt;
}

// The code point of a character constant; nullopt unless it is exactly one.
std::optional<int64_t> ParseRune(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() != size) return std::nullopt;
  if (size == 1) return first;
  int64_t rune = first & (0xff >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    rune = (rune << 6) | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  return rune;
}

class Parser {
 public:
  explicit Parser(std::vector<TemplateToken> tokens) : tokens_(std::move(tokens)) {}

  std::variant<std::vector<TemplateNode>, TemplateProblem> Run() {
    std::vector<TemplateNode> nodes = ParseList();
    if (!problem_ && Peek().kind != Kind::kEnd) {
      Fail(Peek().offset, "unexpected {{" + Keyword() + "}}, expected an if, range or with before");
    }
    if (problem_) return *problem_;
    return nodes;
  }

 private:
  struct Depth {
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kTemplateDepthMax) {
        parser_.Fail(parser_.Peek().offset, "nested too deep, expected at most " +
                                                std::to_string(kTemplateDepthMax) + " levels");
      }
    }
    ~Depth() { --parser_.depth_; }
    Parser& parser_;
  };

  void Fail(size_t offset, std::string what) {
    if (!problem_) problem_ = TemplateProblem{offset, std::move(what)};
  }
  const TemplateToken& Peek() const { return tokens_[at_]; }
  TemplateToken Next() {
    TemplateToken token = tokens_[at_];
    if (token.kind != Kind::kEnd) ++at_;
    return token;
  }
  void SkipSpace() {
    while (Peek().kind == Kind::kSpace) ++at_;
  }

  // The word after {{, or "" when it is not a name. The parser stays where it is.
  std::string Keyword() const {
    size_t at = at_ + 1;
    while (at < tokens_.size() && tokens_[at].kind == Kind::kSpace) ++at;
    return at < tokens_.size() && tokens_[at].kind == Kind::kName ? tokens_[at].text : "";
  }
  void SkipOpenAndKeyword() {
    Next();
    SkipSpace();
    Next();
  }
  bool ExpectClose(const std::string& after) {
    SkipSpace();
    const TemplateToken token = Next();
    if (token.kind != Kind::kClose) {
      Fail(token.offset, "unexpected \"" + token.text + "\" after " + after + ", expected }}");
    }
    return !problem_;
  }

  // Parses up to {{end}}, {{else}} or the end of the template, without consuming it.
  std::vector<TemplateNode> ParseList() {
    const Depth depth(*this);
    std::vector<TemplateNode> nodes;
    while (!problem_ && Peek().kind != Kind::kEnd) {
      if (Peek().kind == Kind::kText) {
        TemplateToken token = Next();
        TemplateNode node;
        node.offset = token.offset;
        node.text = std::move(token.text);
        nodes.push_back(std::move(node));
        continue;
      }
      const std::string keyword = Keyword();
      if (keyword == "end" || keyword == "else") break;
      ParseAction(keyword, &nodes);
    }
    return nodes;
  }

  void ParseAction(const std::string& keyword, std::vector<TemplateNode>* nodes) {
    TemplateNode node;
    node.offset = Peek().offset;
    if (keyword == "if" || keyword == "with" || keyword == "range") {
      ParseControl(keyword, &node);
    } else if (keyword == "break" || keyword == "continue") {
      node.kind = keyword == "break" ? TemplateNodeKind::kBreak : TemplateNodeKind::kContinue;
      if (range_depth_ == 0) Fail(node.offset, "{{" + keyword + "}} outside {{range}}");
      SkipOpenAndKeyword();
      ExpectClose(keyword);
    } else if (keyword == "define" || keyword == "template" || keyword == "block") {
      Fail(node.offset, "{{" + keyword + "}} is not supported, expected one template a file");
    } else {
      node.kind = TemplateNodeKind::kAction;
      Next();
      ParsePipe(Kind::kClose, false, &node.pipe);
    }
    if (!problem_) nodes->push_back(std::move(node));
  }

  void ParseControl(const std::string& keyword, TemplateNode* node) {
    const Depth depth(*this);
    const size_t open = Peek().offset;
    const size_t variables = variables_.size();
    const bool is_range = keyword == "range";
    node->kind = is_range            ? TemplateNodeKind::kRange
                 : keyword == "with" ? TemplateNodeKind::kWith
                                     : TemplateNodeKind::kIf;
    SkipOpenAndKeyword();
    ParsePipe(Kind::kClose, is_range, &node->pipe);
    if (is_range) ++range_depth_;
    node->body = ParseList();
    if (is_range) --range_depth_;
    if (problem_) return;
    if (Peek().kind == Kind::kEnd) return Fail(open, "{{" + keyword + "}} has no {{end}}");
    if (Keyword() == "end") {
      SkipOpenAndKeyword();
      ExpectClose("end");
    } else {
      ParseElse(keyword, open, node);
    }
    variables_.resize(variables);
  }

  // Parses {{else}}, {{else if ...}} or {{else with ...}}. The latter two share the outer {{end}}.
  void ParseElse(const std::string& keyword, size_t open, TemplateNode* node) {
    SkipOpenAndKeyword();
    SkipSpace();
    const std::string next = Peek().kind == Kind::kName ? Peek().text : "";
    if (next == keyword && keyword != "range") {
      // Presents `else if x` as `if x` to ParseControl.
      TemplateToken reopened{Kind::kOpen, Peek().offset, "{{"};
      tokens_[--at_] = reopened;
      TemplateNode nested;
      nested.offset = reopened.offset;
      ParseControl(keyword, &nested);
      node->otherwise.push_back(std::move(nested));
      return;
    }
    if (!ExpectClose("else")) return;
    node->otherwise = ParseList();
    if (problem_) return;
    if (Peek().kind == Kind::kEnd) return Fail(open, "{{" + keyword + "}} has no {{end}}");
    if (Keyword() != "end") return Fail(Peek().offset, "a second {{else}}, expected {{end}}");
    SkipOpenAndKeyword();
    ExpectClose("end");
  }

  // Parses `$a, $b := command | command` and the `closer` after it.
  void ParsePipe(Kind closer, bool is_range, TemplatePipe* pipe) {
    const Depth depth(*this);
    SkipSpace();
    pipe->offset = Peek().offset;
    ParseDeclaration(is_range, pipe);
    while (!problem_) {
      SkipSpace();
      const TemplateToken token = Peek();
      if (token.kind == closer) {
        Next();
        if (pipe->commands.empty()) Fail(token.offset, "missing value, expected one before }}");
        break;
      }
      if (!pipe->commands.empty()) {
        if (token.kind != Kind::kPipe) {
          return Fail(token.offset, "unexpected \"" + token.text + "\" in an action");
        }
        Next();
        SkipSpace();
      }
      ParseCommand(pipe->commands.empty(), pipe);
    }
    if (!pipe->assigns) {
      for (const std::string& name : pipe->variables) variables_.push_back(name);
    }
  }

  void ParseDeclaration(bool is_range, TemplatePipe* pipe) {
    const size_t start = at_;
    std::vector<std::string> names;
    while (Peek().kind == Kind::kVariable) {
      names.push_back(Next().text);
      SkipSpace();
      const Kind kind = Peek().kind;
      if (kind == Kind::kComma && is_range && names.size() < 2) {
        Next();
        SkipSpace();
        continue;
      }
      if (kind != Kind::kDeclare && kind != Kind::kAssign) break;
      pipe->assigns = kind == Kind::kAssign;
      for (const std::string& name : names) {
        if (pipe->assigns && !IsKnownVariable(name)) return FailUnknownVariable(name);
      }
      Next();
      pipe->variables = std::move(names);
      return;
    }
    at_ = start;
  }

  bool IsKnownVariable(const std::string& name) const {
    if (name == "$") return true;
    for (const std::string& known : variables_) {
      if (known == name) return true;
    }
    return false;
  }
  void FailUnknownVariable(const std::string& name) {
    Fail(Peek().offset, "undefined variable " + name + ", expected a := before");
  }

  void ParseCommand(bool is_first, TemplatePipe* pipe) {
    TemplateCommand command;
    while (!problem_) {
      SkipSpace();
      const Kind kind = Peek().kind;
      if (kind == Kind::kClose || kind == Kind::kCloseParen || kind == Kind::kPipe ||
          kind == Kind::kEnd) {
        break;
      }
      command.terms.push_back(ParseTerm());
      const Kind after = Peek().kind;
      if (after != Kind::kSpace && after != Kind::kClose && after != Kind::kCloseParen &&
          after != Kind::kPipe && !problem_) {
        Fail(Peek().offset, "unexpected \"" + Peek().text + "\" in an action");
      }
    }
    if (problem_) return;
    if (command.terms.empty()) return Fail(Peek().offset, "empty command, expected a value");
    CheckCommand(is_first, command);
    pipe->commands.push_back(std::move(command));
  }

  void CheckCommand(bool is_first, const TemplateCommand& command) {
    const TemplateTerm& head = command.terms[0];
    const bool is_value = head.kind == TemplateTermKind::kConstant ||
                          head.kind == TemplateTermKind::kNil ||
                          head.kind == TemplateTermKind::kDot;
    if (head.kind == TemplateTermKind::kNil) return Fail(head.offset, "nil is not a command");
    if (is_value && !is_first) {
      return Fail(head.offset, "a value in a later stage of a pipeline, expected a function");
    }
    const bool has_arguments = command.terms.size() > 1 || !is_first;
    if (head.kind != TemplateTermKind::kFunction && has_arguments) {
      return Fail(head.offset, "can't give arguments to what is not a function");
    }
    if (head.kind != TemplateTermKind::kFunction) return;
    const TemplateFunction& function = GetTemplateFunction(head.function);
    const int count = static_cast<int>(command.terms.size()) - (is_first ? 1 : 0);
    if (count < function.arguments_min ||
        (function.arguments_max >= 0 && count > function.arguments_max)) {
      std::string wanted = std::to_string(function.arguments_min);
      if (function.arguments_max < 0) wanted = "at least " + wanted;
      Fail(head.offset, "wrong number of arguments for " + std::string(function.name) + ": " +
                            std::to_string(count) + ", expected " + wanted);
    }
  }

  TemplateTerm ParseTerm() {
    TemplateToken token = Next();
    TemplateTerm term;
    term.offset = token.offset;
    bool takes_fields = false;
    switch (token.kind) {
      case Kind::kDot:
        break;
      case Kind::kField:
        term.kind = TemplateTermKind::kField;
        term.names.push_back(std::move(token.text));
        takes_fields = true;
        break;
      case Kind::kVariable:
        if (!IsKnownVariable(token.text)) FailUnknownVariable(token.text);
        term.kind = TemplateTermKind::kVariable;
        term.variable = std::move(token.text);
        takes_fields = true;
        break;
      case Kind::kOpenParen:
        term.kind = TemplateTermKind::kPipe;
        term.pipe = std::make_unique<TemplatePipe>();
        ParsePipe(Kind::kCloseParen, false, term.pipe.get());
        takes_fields = true;
        break;
      case Kind::kName:
        ParseName(token, &term);
        break;
      default:
        ParseConstant(token, &term);
    }
    while (takes_fields && !problem_ && Peek().kind == Kind::kField) {
      term.names.push_back(Next().text);
    }
    return term;
  }

  void ParseName(const TemplateToken& token, TemplateTerm* term) {
    if (token.text == "true" || token.text == "false") {
      term->kind = TemplateTermKind::kConstant;
      term->constant = Value(token.text == "true");
      return;
    }
    if (token.text == "nil") {
      term->kind = TemplateTermKind::kNil;
      return;
    }
    term->kind = TemplateTermKind::kFunction;
    if (const auto number = FindTemplateFunction(token.text)) {
      term->function = *number;
      return;
    }
    const char* what =
        IsUnsupportedTemplateFunction(token.text) ? "is not supported" : "not defined";
    Fail(token.offset, "function \"" + token.text + "\" " + what + ", expected one of " +
                           TemplateFunctionNames());
  }

  void ParseConstant(const TemplateToken& token, TemplateTerm* term) {
    term->kind = TemplateTermKind::kConstant;
    if (token.kind == Kind::kString) {
      term->constant = Value(token.text);
      return;
    }
    if (token.kind == Kind::kNumber) {
      if (auto number = ParseConstantNumber(token.text)) {
        term->constant = std::move(*number);
        return;
      }
      return Fail(token.offset, "bad number syntax: \"" + token.text + "\"");
    }
    if (token.kind == Kind::kCharacter) {
      if (const auto rune = ParseRune(token.text)) {
        term->constant = Value(*rune);
        return;
      }
      return Fail(token.offset, "malformed character constant, expected one character");
    }
    Fail(token.offset, "unexpected \"" + token.text + "\" in an action");
  }

  std::vector<TemplateToken> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  int range_depth_ = 0;
  std::vector<std::string> variables_;
  std::optional<TemplateProblem> problem_;
};

}  // namespace

std::variant<std::vector<TemplateNode>, TemplateProblem> ParseTemplate(std::string_view source) {
  if (source.size() > kTemplateSourceBytesMax) {
    return TemplateProblem{
        0, "too large, expected at most " + std::to_string(kTemplateSourceBytesMax) + " bytes"};
  }
  auto tokens = LexTemplate(source);
  if (auto* problem = std::get_if<TemplateProblem>(&tokens)) return *problem;
  return Parser(std::move(std::get<0>(tokens))).Run();
}

}  // namespace schedq
