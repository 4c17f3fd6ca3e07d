#include "bench/format/template/template_lexer.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "perf/text/utf8.h"

namespace schedq {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::variant<std::vector<TemplateToken>, TemplateProblem> Run() {
    while (!problem_ && at_ < source_.size()) {
      LexText();
      if (!problem_ && at_ < source_.size()) LexAction();
    }
    if (problem_) return *problem_;
    Emit(TemplateTokenKind::kEnd, source_.size(), "");
    return std::move(tokens_);
  }

 private:
  void Fail(size_t offset, std::string what) {
    if (!problem_) problem_ = TemplateProblem{offset, std::move(what)};
  }
  void Emit(TemplateTokenKind kind, size_t offset, std::string text) {
    tokens_.push_back({kind, offset, std::move(text)});
  }
  bool StartsWith(std::string_view prefix) const {
    return source_.substr(at_).substr(0, prefix.size()) == prefix;
  }

  // Reads text up to the next {{. If that is "{{- ", the white space before it is dropped.
  void LexText() {
    const size_t open = std::min(source_.find("{{", at_), source_.size());
    size_t begin = at_;
    size_t end = open;
    if (trim_next_text_) {
      while (begin < end && IsSpace(source_[begin])) ++begin;
    }
    trim_next_text_ = false;
    const bool trims_left =
        open + 3 < source_.size() && source_[open + 2] == '-' && IsSpace(source_[open + 3]);
    if (trims_left) {
      while (end > begin && IsSpace(source_[end - 1])) --end;
    }
    if (end > begin) {
      Emit(TemplateTokenKind::kText, begin, std::string(source_.substr(begin, end - begin)));
    }
    at_ = open;
  }

  void LexAction() {
    const size_t open = at_;
    at_ += 2;
    if (at_ + 1 < source_.size() && source_[at_] == '-' && IsSpace(source_[at_ + 1])) at_ += 2;
    if (StartsWith("/*")) {
      LexComment(open);
      return;
    }
    Emit(TemplateTokenKind::kOpen, open, "{{");
    int depth = 0;
    while (!problem_) {
      if (at_ >= source_.size()) return Fail(open, "unclosed action, expected }}");
      if (AtClose()) {
        if (depth > 0) return Fail(at_, "unclosed left parenthesis, expected )");
        Emit(TemplateTokenKind::kClose, at_, "}}");
        SkipClose();
        return;
      }
      LexToken(&depth);
    }
  }

  bool AtClose() const {
    if (StartsWith("}}")) return true;
    return IsSpace(source_[at_]) && source_.substr(at_ + 1).substr(0, 3) == "-}}";
  }
  void SkipClose() {
    if (!StartsWith("}}")) {
      trim_next_text_ = true;
      at_ += 2;
    }
    at_ += 2;
  }

  void LexComment(size_t open) {
    const size_t end = source_.find("*/", at_ + 2);
    if (end == std::string_view::npos) return Fail(open, "unclosed comment, expected */");
    at_ = end + 2;
    if (at_ >= source_.size() || !AtClose()) {
      return Fail(open, "comment ends before the action does, expected */}}");
    }
    SkipClose();
  }

  void LexToken(int* depth) {
    const char c = source_[at_];
    const size_t start = at_;
    if (IsSpace(c)) {
      while (at_ < source_.size() && IsSpace(source_[at_]) && !AtClose()) ++at_;
      return Emit(TemplateTokenKind::kSpace, start, " ");
    }
    if (c == '"') return LexQuoted();
    if (c == '`') return LexRaw();
    if (c == '\'') return LexCharacter();
    if (c == '$') return LexPrefixed(TemplateTokenKind::kVariable);
    if (c == '.') {
      const bool number = start + 1 < source_.size() && IsDigit(source_[start + 1]);
      return number ? LexNumber() : LexField();
    }
    if (IsDigit(c) || c == '+' || c == '-') return LexNumber();
    if (IsNameStart(c)) return LexName();
    LexMark(c, depth);
  }

  void LexMark(char c, int* depth) {
    const size_t start = at_++;
    if (c == '|') return Emit(TemplateTokenKind::kPipe, start, "|");
    if (c == ',') return Emit(TemplateTokenKind::kComma, start, ",");
    if (c == '=') return Emit(TemplateTokenKind::kAssign, start, "=");
    if (c == ':' && at_ < source_.size() && source_[at_] == '=') {
      ++at_;
      return Emit(TemplateTokenKind::kDeclare, start, ":=");
    }
    if (c == '(') {
      ++*depth;
      return Emit(TemplateTokenKind::kOpenParen, start, "(");
    }
    if (c == ')') {
      if (--*depth < 0) return Fail(start, "unexpected ), expected a ( before it");
      return Emit(TemplateTokenKind::kCloseParen, start, ")");
    }
    Fail(start, std::string("unexpected character \"") + c + "\" in an action");
  }

  // A word ends before white space or one of these.
  bool AtTerminator() const {
    if (at_ >= source_.size()) return true;
    const char c = source_[at_];
    return IsSpace(c) || c == '.' || c == ',' || c == '|' || c == ':' || c == '=' || c == ')' ||
           c == '(' || StartsWith("}}");
  }

  void LexPrefixed(TemplateTokenKind kind) {
    const size_t start = at_++;
    while (at_ < source_.size() && IsNamePart(source_[at_])) ++at_;
    if (!AtTerminator()) return Fail(at_, "unexpected character after a name");
    Emit(kind, start, std::string(source_.substr(start, at_ - start)));
  }

  void LexField() {
    const size_t start = at_;
    if (start + 1 >= source_.size() || !IsNameStart(source_[start + 1])) {
      ++at_;
      if (!AtTerminator()) return Fail(at_, "unexpected character after a dot");
      return Emit(TemplateTokenKind::kDot, start, ".");
    }
    LexPrefixed(TemplateTokenKind::kField);
    if (!problem_) tokens_.back().text.erase(0, 1);
  }

  void LexName() {
    const size_t start = at_;
    while (at_ < source_.size() && IsNamePart(source_[at_])) ++at_;
    if (!AtTerminator()) return Fail(at_, "unexpected character after a name");
    Emit(TemplateTokenKind::kName, start, std::string(source_.substr(start, at_ - start)));
  }

  void LexNumber() {
    const size_t start = at_++;
    while (at_ < source_.size()) {
      const char c = source_[at_];
      const char before = source_[at_ - 1];
      const bool hexadecimal =
          source_.substr(start, 3).find_first_of("xX") != std::string_view::npos;
      const bool exponent_sign =
          (c == '+' || c == '-') && (before == 'e' || before == 'E') && !hexadecimal;
      if (!IsNamePart(c) && c != '.' && !exponent_sign) break;
      ++at_;
    }
    Emit(TemplateTokenKind::kNumber, start, std::string(source_.substr(start, at_ - start)));
  }

  void LexRaw() {
    const size_t start = at_;
    const size_t end = source_.find('`', at_ + 1);
    if (end == std::string_view::npos) return Fail(start, "unterminated raw string, expected `");
    at_ = end + 1;
    Emit(TemplateTokenKind::kString, start,
         std::string(source_.substr(start + 1, end - start - 1)));
  }

  void LexQuoted() {
    const size_t start = at_;
    std::string text;
    if (LexEscaped('"', &text)) Emit(TemplateTokenKind::kString, start, std::move(text));
  }

  void LexCharacter() {
    const size_t start = at_;
    std::string text;
    if (LexEscaped('\'', &text)) Emit(TemplateTokenKind::kCharacter, start, std::move(text));
  }

  bool LexEscaped(char quote, std::string* out) {
    const size_t start = at_++;
    while (at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n') {
      if (source_[at_] != '\\') {
        *out += source_[at_++];
      } else if (!LexEscape(quote, out)) {
        return false;
      }
    }
    if (at_ >= source_.size() || source_[at_] == '\n') {
      Fail(start, std::string("unterminated quoted string, expected ") + quote);
      return false;
    }
    ++at_;
    return true;
  }

  bool LexEscape(char quote, std::string* out) {
    static constexpr std::string_view kNames = "abfnrtv\\";
    static constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\";
    const size_t start = at_;
    const char c = at_ + 1 < source_.size() ? source_[at_ + 1] : '\0';
    at_ += 2;
    if (const size_t found = kNames.find(c); c != '\0' && found != std::string_view::npos) {
      *out += kValues[found];
      return true;
    }
    if (c == quote) {
      *out += quote;
      return true;
    }
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : c >= '0' && c <= '7' ? 3 : 0;
    const size_t first = digits == 3 ? at_ - 1 : at_;
    const std::string_view text = source_.substr(std::min(first, source_.size()), digits);
    uint32_t rune = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), rune, digits == 3 ? 8 : 16);
    if (digits == 0 || text.size() != digits || error != std::errc() ||
        end != text.data() + digits || rune > 0x10ffff || (digits == 3 && rune > 255)) {
      Fail(start, "unknown escape in a quoted string");
      return false;
    }
    if (digits <= 3) {
      *out += static_cast<char>(rune);
    } else {
      AppendUtf8(rune, out);
    }
    at_ = first + digits;
    return true;
  }

  std::string_view source_;
  size_t at_ = 0;
  bool trim_next_text_ = false;
  std::vector<TemplateToken> tokens_;
  std::optional<TemplateProblem> problem_;
};

}  // namespace

std::variant<std::vector<TemplateToken>, TemplateProblem> LexTemplate(std::string_view source) {
  return Lexer(source).Run();
}

}  // namespace schedq
