#include "bench/format/cel/cel_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/format/cel/cel_value.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

using Index = uint32_t;
constexpr Index kNone = std::numeric_limits<Index>::max();

constexpr std::array<std::string_view, 17> kReserved = {
    "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
    "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};

struct Operator {
  std::string_view symbol;
  std::string_view function;
  int level;
};
// Upstream's precedence: comparisons bind less than sums, sums less than products.
constexpr std::array<Operator, 12> kOperators = {{{"<", "_<_", 0},
                                                  {"<=", "_<=_", 0},
                                                  {">=", "_>=_", 0},
                                                  {">", "_>_", 0},
                                                  {"==", "_==_", 0},
                                                  {"!=", "_!=_", 0},
                                                  {"in", "@in", 0},
                                                  {"+", "_+_", 1},
                                                  {"-", "_-_", 1},
                                                  {"*", "_*_", 2},
                                                  {"/", "_/_", 2},
                                                  {"%", "_%_", 2}}};
constexpr int kOperatorLevels = 3;

struct Macro {
  std::string_view name;
  size_t arguments;
  CelNodeKind kind;
};
constexpr std::array<Macro, 7> kMacros = {{{"all", 2, CelNodeKind::kAll},
                                           {"exists", 2, CelNodeKind::kExists},
                                           {"exists_one", 2, CelNodeKind::kExistsOne},
                                           {"existsOne", 2, CelNodeKind::kExistsOne},
                                           {"map", 2, CelNodeKind::kMapLoop},
                                           {"map", 3, CelNodeKind::kMapLoop},
                                           {"filter", 2, CelNodeKind::kFilter}}};

// Macros of a newer library, which see index or key together with the item.
bool HasTwoVariables(std::string_view name, size_t arguments) {
  if (name.substr(0, 9) == "transform") return arguments >= 3;
  return arguments == 3 && (name == "all" || name == "exists" || name == "existsOne");
}

class Parser {
 public:
  Parser(const std::vector<CelToken>& tokens, CelTree* tree, CelProblem* problem)
      : tokens_(tokens), tree_(tree), problem_(problem) {}

  bool Run() {
    tree_->root = ParseExpression();
    if (!failed_ && token().kind != CelTokenKind::kEnd) FailAtToken("expected an operator");
    return !failed_;
  }

 private:
  const CelToken& token() const { return tokens_[at_]; }
  bool Is(std::string_view symbol) const {
    return token().kind == CelTokenKind::kSymbol && token().text == symbol;
  }
  bool Take(std::string_view symbol) {
    if (!Is(symbol)) return false;
    ++at_;
    return true;
  }
  bool Expect(std::string_view symbol) {
    if (Take(symbol)) return true;
    FailAtToken("expected '" + std::string(symbol) + "'");
    return false;
  }

  Index Fail(size_t offset, std::string what) {
    if (!failed_) *problem_ = {offset, std::move(what)};
    failed_ = true;
    return kNone;
  }
  Index FailAtToken(const std::string& expected) {
    constexpr size_t kQuotedBytesMax = 40;
    const std::string_view text = token().text;
    const std::string found = token().kind == CelTokenKind::kEnd
                                  ? "the expression ends"
                                  : "found '" + VisibleText(text.substr(0, kQuotedBytesMax)) + "'";
    return Fail(token().offset, found + ", " + expected);
  }

  Index Add(CelNode node, const std::vector<Index>& children) {
    if (failed_) return kNone;
    int depth = 0;
    for (const Index child : children) {
      depth = std::max<int>(depth, tree_->nodes[child].depth);
    }
    if (depth >= kCelDepthMax) return FailDepth(node.offset);
    node.depth = static_cast<uint16_t>(depth + 1);
    node.first_child = static_cast<uint32_t>(tree_->children.size());
    node.child_count = static_cast<uint32_t>(children.size());
    tree_->children.insert(tree_->children.end(), children.begin(), children.end());
    tree_->nodes.push_back(node);
    return static_cast<Index>(tree_->nodes.size() - 1);
  }
  Index FailDepth(size_t offset) {
    return Fail(offset, "nested deeper than " + std::to_string(kCelDepthMax) + " expressions");
  }

  static CelNode NodeOf(CelNodeKind kind, const CelToken& token) {
    CelNode node;
    node.kind = kind;
    node.offset = token.offset;
    node.text = token.text;
    return node;
  }
  Index AddCall(const CelToken& token, std::string_view function,
                const std::vector<Index>& children) {
    CelNode node = NodeOf(CelNodeKind::kCall, token);
    node.text = function;
    return Add(node, children);
  }
  Index AddConstant(const CelToken& token, const CelValue& value) {
    CelNode node = NodeOf(CelNodeKind::kConstant, token);
    node.value = value;
    return Add(node, {});
  }

  Index ParseExpression();
  Index ParseJunction(bool any);
  Index ParseBinary(int level);
  Index ParseUnary();
  Index ParseMember(bool negative);
  Index ParseField(Index operand, const CelToken& dot);
  Index ParsePrimary(bool negative);
  Index ParseNamed(bool global);
  Index ParseLiteral(bool negative);
  Index ParseText(const CelToken& literal);
  Index ParseList();
  Index ParseMap();
  std::vector<Index> ParseArguments();
  Index ExpandHas(const CelToken& name, const std::vector<Index>& arguments);
  Index ExpandBind(const CelToken& name, const std::vector<Index>& arguments);
  std::optional<Index> ExpandMethod(Index operand, const CelToken& name,
                                    const std::vector<Index>& arguments);

  const std::vector<CelToken>& tokens_;
  CelTree* tree_;
  CelProblem* problem_;
  size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

Index Parser::ParseExpression() {
  if (depth_ >= kCelDepthMax) return FailDepth(token().offset);
  ++depth_;
  Index result = ParseJunction(true);
  const CelToken question = token();
  if (!failed_ && Take("?")) {
    const Index when_true = ParseJunction(true);
    if (Expect(":")) {
      const Index when_false = ParseExpression();
      if (!failed_) {
        result = Add(NodeOf(CelNodeKind::kConditional, question), {result, when_true, when_false});
      }
    }
  }
  --depth_;
  return failed_ ? kNone : result;
}

// A chain of || whose parts are chains of &&.
Index Parser::ParseJunction(bool any) {
  const auto part = [&] { return any ? ParseJunction(false) : ParseBinary(0); };
  const std::string_view symbol = any ? "||" : "&&";
  const Index first = part();
  if (failed_ || !Is(symbol)) return first;
  const CelToken token_of_node = token();
  std::vector<Index> parts = {first};
  while (!failed_ && Take(symbol)) parts.push_back(part());
  return Add(NodeOf(any ? CelNodeKind::kOr : CelNodeKind::kAnd, token_of_node), parts);
}

Index Parser::ParseBinary(int level) {
  if (level == kOperatorLevels) return ParseUnary();
  Index left = ParseBinary(level + 1);
  while (!failed_ && token().kind == CelTokenKind::kSymbol) {
    const CelToken symbol = token();
    const auto* const found = std::find_if(
        kOperators.begin(), kOperators.end(),
        [&](const Operator& known) { return known.level == level && known.symbol == symbol.text; });
    if (found == kOperators.end()) break;
    ++at_;
    const Index right = ParseBinary(level + 1);
    if (failed_) break;
    left = AddCall(symbol, found->function, {left, right});
  }
  return failed_ ? kNone : left;
}

// Any number of ! or of -, of which pairs cancel out. A - before a number belongs to the number.
Index Parser::ParseUnary() {
  if (!Is("!") && !Is("-")) return ParseMember(false);
  const CelToken symbol = token();
  size_t count = 0;
  while (Take(symbol.text)) ++count;
  bool negative = false;
  const bool number = token().kind == CelTokenKind::kInt || token().kind == CelTokenKind::kDouble;
  if (symbol.text == "-" && number) {
    negative = true;
    --count;
  } else if (symbol.text == "!" && Is("-")) {
    ++at_;
    negative = true;
    const bool follows =
        token().kind == CelTokenKind::kInt || token().kind == CelTokenKind::kDouble;
    if (!follows) return FailAtToken("expected a number");
  }
  const Index operand = ParseMember(negative);
  if (failed_ || count % 2 == 0) return operand;
  return AddCall(symbol, symbol.text == "!" ? "!_" : "-_", {operand});
}

Index Parser::ParseMember(bool negative) {
  Index operand = ParsePrimary(negative);
  while (!failed_) {
    const CelToken symbol = token();
    if (Take(".")) {
      operand = ParseField(operand, symbol);
    } else if (Take("[")) {
      if (Is("?")) return Fail(token().offset, "optional values are not modelled");
      const Index index = ParseExpression();
      if (failed_ || !Expect("]")) return kNone;
      operand = Add(NodeOf(CelNodeKind::kIndex, symbol), {operand, index});
    } else {
      break;
    }
  }
  return failed_ ? kNone : operand;
}

Index Parser::ParseField(Index operand, const CelToken& dot) {
  if (Is("?")) return Fail(token().offset, "optional values are not modelled");
  const CelToken name = token();
  const bool plain = name.kind == CelTokenKind::kName;
  if (!plain && name.kind != CelTokenKind::kQuotedName) return FailAtToken("expected a name");
  ++at_;
  const CelToken open = token();
  if (plain && Take("(")) {
    std::vector<Index> arguments = ParseArguments();
    if (failed_) return kNone;
    if (const auto expanded = ExpandMethod(operand, name, arguments)) return *expanded;
    arguments.insert(arguments.begin(), operand);
    CelNode node = NodeOf(CelNodeKind::kCall, open);
    node.text = name.text;
    node.method = true;
    return Add(node, arguments);
  }
  CelNode node = NodeOf(CelNodeKind::kSelect, dot);
  node.text = name.text;
  return Add(node, {operand});
}

std::vector<Index> Parser::ParseArguments() {
  std::vector<Index> arguments;
  if (Take(")")) return arguments;
  do {
    arguments.push_back(ParseExpression());
  } while (!failed_ && Take(","));
  if (!failed_) Expect(")");
  return arguments;
}

Index Parser::ParsePrimary(bool negative) {
  if (Take("(")) {
    const Index inner = ParseExpression();
    return !failed_ && Expect(")") ? inner : kNone;
  }
  if (Is("[")) return ParseList();
  if (Is("{")) return ParseMap();
  const bool dot = Take(".");
  if (token().kind == CelTokenKind::kName) return ParseNamed(dot);
  if (dot) return FailAtToken("expected a name");
  return ParseLiteral(negative);
}

// A variable or a call of a function.
Index Parser::ParseNamed(bool global) {
  const CelToken name = token();
  ++at_;
  if (std::find(kReserved.begin(), kReserved.end(), name.text) != kReserved.end()) {
    return Fail(name.offset, "reserved identifier: " + std::string(name.text));
  }
  const CelToken open = token();
  if (Take("(")) {
    const std::vector<Index> arguments = ParseArguments();
    if (failed_) return kNone;
    if (name.text == "has" && arguments.size() == 1) return ExpandHas(name, arguments);
    return AddCall(open, name.text, arguments);
  }
  CelNode node = NodeOf(CelNodeKind::kName, name);
  node.method = global;  // With a leading dot, variables of macros are not meant.
  return Add(node, {});
}

Index Parser::ParseList() {
  const CelToken open = token();
  ++at_;
  std::vector<Index> items;
  while (!failed_ && !Is("]")) {
    if (Is("?")) return Fail(token().offset, "optional values are not modelled");
    items.push_back(ParseExpression());
    if (!Take(",")) break;
  }
  if (failed_ || !Expect("]")) return kNone;
  return Add(NodeOf(CelNodeKind::kList, open), items);
}

Index Parser::ParseMap() {
  const CelToken open = token();
  ++at_;
  std::vector<Index> items;
  while (!failed_ && !Is("}")) {
    if (Is("?")) return Fail(token().offset, "optional values are not modelled");
    items.push_back(ParseExpression());
    if (failed_ || !Expect(":")) return kNone;
    items.push_back(ParseExpression());
    if (!Take(",")) break;
  }
  if (failed_ || !Expect("}")) return kNone;
  return Add(NodeOf(CelNodeKind::kMap, open), items);
}

template <typename Number>
std::optional<Number> ParseWhole(std::string_view digits, bool negative) {
  int base = 10;
  if (digits.substr(0, 2) == "0x") {
    base = 16;
    digits.remove_prefix(2);
  }
  const std::string signed_digits = (negative ? "-" : "") + std::string(digits);
  Number number = 0;
  const char* const end = signed_digits.data() + signed_digits.size();
  const auto parsed = std::from_chars(signed_digits.data(), end, number, base);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

Index Parser::ParseLiteral(bool negative) {
  const CelToken literal = token();
  std::string_view text = literal.text;
  if (Take("true") || Take("false")) return AddConstant(literal, CelBool(text == "true"));
  if (Take("null")) return AddConstant(literal, CelOf(CelKind::kNull));
  switch (literal.kind) {
    case CelTokenKind::kInt: {
      ++at_;
      const auto number = ParseWhole<int64_t>(text, negative);
      if (!number) return Fail(literal.offset, "invalid int literal");
      return AddConstant(literal, CelInt(*number));
    }
    case CelTokenKind::kUint: {
      ++at_;
      text.remove_suffix(1);
      const auto number = ParseWhole<uint64_t>(text, false);
      if (!number) return Fail(literal.offset, "invalid uint literal");
      return AddConstant(literal, CelUint(*number));
    }
    case CelTokenKind::kDouble: {
      ++at_;
      // What is too small for a double is 0; what is too large is refused.
      const double number = std::strtod(std::string(text).c_str(), nullptr);
      if (std::isinf(number)) return Fail(literal.offset, "invalid double literal");
      return AddConstant(literal, CelDouble(negative ? -number : number));
    }
    case CelTokenKind::kString:
    case CelTokenKind::kBytes:
      ++at_;
      return ParseText(literal);
    default:
      return FailAtToken("expected a value");
  }
}

Index Parser::ParseText(const CelToken& literal) {
  const bool bytes = literal.kind == CelTokenKind::kBytes;
  std::string& content = tree_->texts.emplace_back();
  std::string what;
  if (!UnquoteCel(literal.text, bytes, &content, &what)) return Fail(literal.offset, what);
  return AddConstant(literal, CelText(bytes ? CelKind::kBytes : CelKind::kString, content));
}

// has(a.b): the tree's last node is the selection a.b, which becomes the test.
Index Parser::ExpandHas(const CelToken& name, const std::vector<Index>& arguments) {
  CelNode& selection = tree_->nodes[arguments[0]];
  if (selection.kind != CelNodeKind::kSelect) {
    return Fail(name.offset, "invalid argument to has() macro, expected a field as in has(a.b)");
  }
  selection.kind = CelNodeKind::kHas;
  return arguments[0];
}

Index Parser::ExpandBind(const CelToken& name, const std::vector<Index>& arguments) {
  const CelNode& variable = tree_->nodes[arguments[0]];
  if (variable.kind != CelNodeKind::kName) {
    return Fail(variable.offset, "cel.bind() variable names must be simple identifiers");
  }
  CelNode node = NodeOf(CelNodeKind::kBind, name);
  node.text = variable.text;
  return Add(node, {arguments[1], arguments[2]});
}

std::optional<Index> Parser::ExpandMethod(Index operand, const CelToken& name,
                                          const std::vector<Index>& arguments) {
  const CelNode& receiver = tree_->nodes[operand];
  if (receiver.kind == CelNodeKind::kName && receiver.text == "cel" && name.text == "bind" &&
      arguments.size() == 3) {
    return ExpandBind(name, arguments);
  }
  const auto* const macro = std::find_if(kMacros.begin(), kMacros.end(), [&](const Macro& known) {
    return known.name == name.text && known.arguments == arguments.size();
  });
  if (macro == kMacros.end()) {
    if (!HasTwoVariables(name.text, arguments.size())) return std::nullopt;
    return Fail(name.offset, "'" + std::string(name.text) + "' with two variables is not modelled");
  }
  const CelNode& variable = tree_->nodes[arguments[0]];
  if (variable.kind != CelNodeKind::kName) {
    return Fail(variable.offset, "argument must be a simple name");
  }
  if (variable.text == "__result__") {
    return Fail(variable.offset, "iteration variable overwrites accumulator variable");
  }
  CelNode node = NodeOf(macro->kind, name);
  node.text = variable.text;
  std::vector<Index> children = {operand};
  children.insert(children.end(), arguments.begin() + 1, arguments.end());
  return Add(node, children);
}

}  // namespace

bool ParseCel(std::string_view expression, CelTree* tree, CelProblem* problem) {
  std::vector<CelToken> tokens;
  if (!SplitCelTokens(expression, &tokens, problem)) return false;
  return Parser(tokens, tree, problem).Run();
}

}  // namespace schedq
