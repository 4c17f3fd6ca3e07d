#include "bench/format/cel/cel_lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "bench/format/cel/cel_value.h"
#include "perf/text/utf8.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

bool IsDigit(char letter) { return letter >= '0' && letter <= '9'; }
bool IsHexDigit(char letter) {
  return IsDigit(letter) || (letter >= 'a' && letter <= 'f') || (letter >= 'A' && letter <= 'F');
}
bool IsLetter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

class Lexer {
 public:
  Lexer(std::string_view text, std::vector<CelToken>* tokens, CelProblem* problem)
      : text_(text), tokens_(tokens), problem_(problem) {}

  bool Run() {
    for (;;) {
      SkipBlanks();
      start_ = at_;
      if (at_ == text_.size()) {
        Add(CelTokenKind::kEnd);
        return true;
      }
      if (!TakeToken()) return false;
    }
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool StartsWith(std::string_view word) const { return text_.substr(at_, word.size()) == word; }

  void Add(CelTokenKind kind) {
    tokens_->push_back({kind, static_cast<uint32_t>(start_), text_.substr(start_, at_ - start_)});
  }
  bool Fail(std::string what) {
    *problem_ = {start_, std::move(what)};
    return false;
  }

  void SkipBlanks() {
    constexpr std::string_view kBlanks = " \t\r\n\f";
    for (;;) {
      while (at_ < text_.size() && kBlanks.find(text_[at_]) != std::string_view::npos) ++at_;
      if (!StartsWith("//")) return;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }

  bool TakeToken() {
    const char first = Peek();
    if (IsDigit(first) || (first == '.' && IsDigit(Peek(1)))) return TakeNumber();
    if (first == '"' || first == '\'') return TakeString(CelTokenKind::kString, false);
    if (IsLetter(first)) return TakeWord();
    if (first == '`') return TakeQuotedName();
    return TakeSymbol();
  }

  void TakeDigits() {
    while (IsDigit(Peek())) ++at_;
  }

  bool TakeNumber() {
    CelTokenKind kind = CelTokenKind::kInt;
    if (Peek() == '0' && Peek(1) == 'x' && IsHexDigit(Peek(2))) {
      at_ += 2;
      while (IsHexDigit(Peek())) ++at_;
    } else {
      TakeDigits();
      if (Peek() == '.' && IsDigit(Peek(1))) {
        kind = CelTokenKind::kDouble;
        ++at_;
        TakeDigits();
      }
      const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 2 : 1;
      if ((Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(sign))) {
        kind = CelTokenKind::kDouble;
        at_ += sign;
        TakeDigits();
      }
    }
    if (kind == CelTokenKind::kInt && (Peek() == 'u' || Peek() == 'U')) {
      kind = CelTokenKind::kUint;
      ++at_;
    }
    Add(kind);
    return true;
  }

  // A string with what stands before its quotes: r, b, br in any case.
  bool TakeWord() {
    const auto is = [](char letter, char lower) { return (letter | 0x20) == lower; };
    const auto quote = [](char letter) { return letter == '"' || letter == '\''; };
    size_t prefix = 0;
    const bool bytes = is(Peek(), 'b');
    if (bytes) ++prefix;
    const bool raw = is(Peek(prefix), 'r');
    if (raw) ++prefix;
    if (prefix > 0 && quote(Peek(prefix))) {
      at_ += prefix;
      return TakeString(bytes ? CelTokenKind::kBytes : CelTokenKind::kString, raw);
    }
    while (IsLetter(Peek()) || IsDigit(Peek())) ++at_;
    const std::string_view word = text_.substr(start_, at_ - start_);
    const bool symbol = word == "in" || word == "true" || word == "false" || word == "null";
    Add(symbol ? CelTokenKind::kSymbol : CelTokenKind::kName);
    return true;
  }

  bool TakeString(CelTokenKind kind, bool raw) {
    const std::string_view one = text_.substr(at_, 1);
    const std::string_view three = text_.substr(at_, 3);
    const bool lines = three.size() == 3 && three[1] == one[0] && three[2] == one[0];
    const std::string_view quote = lines ? three : one;
    at_ += quote.size();
    while (!StartsWith(quote)) {
      if (at_ == text_.size() || (!lines && (Peek() == '\n' || Peek() == '\r'))) {
        return Fail("the string has no end, expected " + std::string(quote));
      }
      at_ += !raw && Peek() == '\\' && at_ + 1 < text_.size() ? 2 : 1;
    }
    at_ += quote.size();
    Add(kind);
    return true;
  }

  bool TakeQuotedName() {
    ++at_;
    const size_t begin = at_;
    constexpr std::string_view kOthers = ".-/ ";
    while (IsLetter(Peek()) || IsDigit(Peek()) ||
           (at_ < text_.size() && kOthers.find(Peek()) != std::string_view::npos)) {
      ++at_;
    }
    if (Peek() != '`' || at_ == begin) return Fail("expected a name between backticks");
    tokens_->push_back({CelTokenKind::kQuotedName, static_cast<uint32_t>(start_),
                        text_.substr(begin, at_ - begin)});
    ++at_;
    return true;
  }

  bool TakeSymbol() {
    constexpr std::array<std::string_view, 24> kSymbols = {
        "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}",
        "(",  ")",  ".",  ",",  "-",  "!",  "?", ":", "+", "*", "/", "%"};
    for (const std::string_view symbol : kSymbols) {
      if (!StartsWith(symbol)) continue;
      at_ += symbol.size();
      Add(CelTokenKind::kSymbol);
      return true;
    }
    const size_t bytes = std::max<size_t>(Utf8Length(text_.substr(at_)), 1);
    return Fail("unexpected '" + VisibleText(text_.substr(at_, bytes)) + "'");
  }

  std::string_view text_;
  std::vector<CelToken>* tokens_;
  CelProblem* problem_;
  size_t at_ = 0;
  size_t start_ = 0;
};

int HexValue(char letter) {
  if (IsDigit(letter)) return letter - '0';
  return (letter | 0x20) - 'a' + 10;
}

// Takes `count` digits of a base from the text; nothing where there are fewer.
bool TakeCode(std::string_view& text, size_t count, uint32_t base, uint32_t* code) {
  if (text.size() < count) return false;
  *code = 0;
  for (const char letter : text.substr(0, count)) {
    if (!IsHexDigit(letter) || static_cast<uint32_t>(HexValue(letter)) >= base) return false;
    *code = *code * base + static_cast<uint32_t>(HexValue(letter));
  }
  text.remove_prefix(count);
  return true;
}

// Takes an escape, of which the backslash is gone already.
bool TakeEscape(std::string_view& text, bool bytes, std::string* content) {
  constexpr std::string_view kLetters = "abfnrtv\"'\\?`";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\"'\\?`";
  const char letter = text.empty() ? '\0' : text[0];
  const size_t simple = text.empty() ? std::string_view::npos : kLetters.find(letter);
  if (simple != std::string_view::npos) {
    content->push_back(kMeanings[simple]);
    text.remove_prefix(1);
    return true;
  }
  uint32_t code = 0;
  bool taken = false;
  if (letter >= '0' && letter <= '3') {
    taken = TakeCode(text, 3, 8, &code);
  } else if (!text.empty()) {
    const bool wide = letter == 'u' || letter == 'U';
    if (!wide && letter != 'x' && letter != 'X') return false;
    if (wide && bytes) return false;
    text.remove_prefix(1);
    taken = TakeCode(text, wide ? (letter == 'u' ? 4 : 8) : 2, 16, &code);
  }
  if (!taken) return false;
  if (bytes) {
    content->push_back(static_cast<char>(code));
    return true;
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code > 0x10ffff || surrogate) return false;
  AppendUtf8(code, content);
  return true;
}

}  // namespace

Error CelErrorAt(std::string_view expression, const CelProblem& problem) {
  const std::string_view before = expression.substr(0, problem.offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0.
  const size_t column = CelCodePoints(before.substr(line_start)) + 1;
  return Error(std::to_string(line) + ":" + std::to_string(column) + ": " +
               VisibleText(problem.what));
}

bool SplitCelTokens(std::string_view expression, std::vector<CelToken>* tokens,
                    CelProblem* problem) {
  const size_t bad = FindWhatIsNotUtf8(expression);
  if (bad != std::string_view::npos) {
    *problem = {bad, "the expression is not UTF-8"};
    return false;
  }
  return Lexer(expression, tokens, problem).Run();
}

bool UnquoteCel(std::string_view literal, bool bytes, std::string* content, std::string* what) {
  if (bytes) literal.remove_prefix(1);
  const bool raw = (literal[0] | 0x20) == 'r';
  if (raw) literal.remove_prefix(1);
  const bool lines = literal.size() >= 6 && literal[1] == literal[0] && literal[2] == literal[0];
  const size_t quote = lines ? 3 : 1;
  literal = literal.substr(quote, literal.size() - 2 * quote);
  content->clear();
  while (!literal.empty()) {
    const char letter = literal[0];
    literal.remove_prefix(1);
    if (letter == '\r') {
      // Every end of a line is one \n.
      if (!literal.empty() && literal[0] == '\n') literal.remove_prefix(1);
      content->push_back('\n');
    } else if (letter != '\\' || raw) {
      content->push_back(letter);
    } else if (!TakeEscape(literal, bytes, content)) {
      *what = "the string has an escape that is none";
      return false;
    }
  }
  return true;
}

}  // namespace schedq
