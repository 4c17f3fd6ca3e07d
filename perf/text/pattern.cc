#include "perf/text/pattern.h"

#include <re2/re2.h>
#include <re2/stringpiece.h>

#include <cstddef>
#include <utility>

#include "perf/text/visible_text.h"

namespace schedq {
namespace {

constexpr size_t kQuotedBytesMax = 60;  // Of an expression in a message.

re2::StringPiece PieceOf(std::string_view text) { return {text.data(), text.size()}; }

Error NotAnExpression(std::string_view expression, const std::string& reason) {
  std::string quoted(expression.substr(0, kQuotedBytesMax));
  if (quoted.size() < expression.size()) quoted += "...";
  return Error("'" + VisibleText(quoted) + "': " + VisibleText(reason) +
               ", expected a regular expression (RE2)");
}

}  // namespace

Result<Pattern> Pattern::Parse(std::string_view expression) {
  if (expression.size() > kPatternBytesMax) {
    return NotAnExpression(expression, "is longer than " + std::to_string(kPatternBytesMax));
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemoryMax);
  auto compiled = std::make_shared<const re2::RE2>(PieceOf(expression), options);
  // RE2's message may quote the whole expression; its code does not.
  if (!compiled->ok()) {
    const std::string& why = compiled->error();
    return NotAnExpression(expression, why.substr(0, why.find(':')));
  }
  return Pattern(std::move(compiled));
}

bool Pattern::IsFoundIn(std::string_view text) const {
  return RE2::PartialMatch(PieceOf(text), *compiled_);
}

std::optional<std::string_view> Pattern::Find(std::string_view text) const {
  re2::StringPiece found;
  const re2::StringPiece piece = PieceOf(text);
  if (!compiled_->Match(piece, 0, piece.size(), RE2::UNANCHORED, &found, 1)) return std::nullopt;
  return std::string_view(found.data(), found.size());
}

std::string PatternOfExactly(std::string_view text) {
  // RE2's own quoting escapes slashes too, and users read these expressions.
  std::string expression = "^";
  for (const char letter : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(letter) != std::string_view::npos) {
      expression += '\\';
    }
    expression += letter;
  }
  return expression + "$";
}

}  // namespace schedq
