#include "bench/format/yaml/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

namespace schedq {
namespace {

bool IsDigit(char character) { return character >= '0' && character <= '9'; }

// The text is a sign (optional), digits with one optional point, and an optional exponent. It has
// at least one digit.
bool LooksDecimal(std::string_view text) {
  size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  int digits = 0;
  for (; at < text.size() && IsDigit(text[at]); ++at) ++digits;
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && IsDigit(text[at]); ++at) ++digits;
  }
  if (digits == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    const size_t exponent = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    if (at == exponent) return false;
  }
  return at == text.size();
}

std::optional<int64_t> ParseInBase(std::string_view digits, int base, bool negative) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  const uint64_t limit = (uint64_t{1} << 63) - (negative ? 0 : 1);
  if (value > limit) return std::nullopt;
  return negative ? static_cast<int64_t>(-value) : static_cast<int64_t>(value);
}

}  // namespace

std::optional<bool> YamlBool(const YamlNode& node) {
  static constexpr std::array<std::string_view, 11> kTrue = {
      "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
  static constexpr std::array<std::string_view, 11> kFalse = {
      "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
  if (node.kind != YamlKind::kScalar || !node.plain) return std::nullopt;
  if (std::find(kTrue.begin(), kTrue.end(), node.text) != kTrue.end()) return true;
  if (std::find(kFalse.begin(), kFalse.end(), node.text) != kFalse.end()) return false;
  return std::nullopt;
}

std::optional<int64_t> YamlInteger(const YamlNode& node) {
  if (node.kind != YamlKind::kScalar || !node.plain || node.text.empty()) return std::nullopt;
  std::string text;
  for (char character : node.text) {
    if (character != '_') text += character;
  }
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
  if (digits.empty() || !IsDigit(digits[0])) return std::nullopt;
  if (digits.size() > 1 && digits[0] == '0') {
    const char mark = digits[1];
    if (mark == 'x' || mark == 'X') return ParseInBase(digits.substr(2), 16, negative);
    if (mark == 'b' || mark == 'B') return ParseInBase(digits.substr(2), 2, negative);
    if (mark == 'o' || mark == 'O') return ParseInBase(digits.substr(2), 8, negative);
    return ParseInBase(digits.substr(1), 8, negative);
  }
  return ParseInBase(digits, 10, negative);
}

std::optional<double> YamlNumber(const YamlNode& node) {
  if (const auto integer = YamlInteger(node)) return static_cast<double>(*integer);
  if (node.kind != YamlKind::kScalar || !node.plain) return std::nullopt;
  return ParseDecimal(node.text);
}

std::optional<double> ParseDecimal(std::string_view text) {
  if (!LooksDecimal(text)) return std::nullopt;
  // strtod tells too large from too small; from_chars does not.
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<int64_t> ParseDecimalInteger(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty() || !IsDigit(text[0])) return std::nullopt;
  return ParseInBase(text, 10, negative);
}

}  // namespace schedq
