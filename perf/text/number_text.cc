#include "perf/text/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <system_error>

namespace schedq {
namespace {

// Puts a comma before every group of three digits of the integer part.
std::string Grouped(std::string text) {
  const size_t first = text.starts_with('-') ? 1 : 0;
  size_t end = text.find('.');
  if (end == std::string::npos) end = text.size();
  while (end > first + 3) {
    end -= 3;
    text.insert(end, 1, ',');
  }
  return text;
}

struct Scale {
  double factor;
  const char* unit;
  double from = factor;  // The smallest value that is told in this unit.
};

// In the largest unit that the value reaches. The margin keeps what rounds up
// to the next unit from reading as "1,000".
std::string Scaled(double value, std::span<const Scale> scales) {
  const Scale* chosen = &scales.front();
  for (const Scale& scale : scales) {
    if (std::abs(value) >= scale.from * 0.9995) chosen = &scale;
  }
  return NumberText(value / chosen->factor) + ' ' + chosen->unit;
}

}  // namespace

std::optional<double> ParseFiniteNumber(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string NumberText(double value, int digits) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 1e-4 || size >= 1e15) return fmt::format("{:.{}e}", value, digits - 1);
  // What rounds up to the next power of ten has one digit more before the point: 9.996 is "10.0".
  const double rounded = size * (1 + 0.5 * std::pow(10, -digits));
  const int integer_digits = static_cast<int>(std::floor(std::log10(rounded))) + 1;
  const int decimals = std::max(0, digits - integer_digits);
  return Grouped(fmt::format("{:.{}f}", value, decimals));
}

std::string GoFloatText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  std::array<char, 400> buffer;  // Large enough for every double.
  char* const end = buffer.data() + buffer.size();
  const auto scientific = std::to_chars(buffer.data(), end, value, std::chars_format::scientific);
  std::string text(buffer.data(), scientific.ptr);
  const int exponent = std::atoi(text.c_str() + text.find('e') + 1);
  constexpr int kFixedExponentMax = 5;  // 100000, then 1e+06.
  if (exponent < -4 || exponent > kFixedExponentMax) return text;
  const auto fixed = std::to_chars(buffer.data(), end, value, std::chars_format::fixed);
  return std::string(buffer.data(), fixed.ptr);
}

std::string CountText(uint64_t count) { return Grouped(fmt::format("{}", count)); }

std::string DurationText(double nanoseconds) {
  static constexpr std::array<Scale, 6> kScales = {{{1, "ns"},
                                                    {1e3, "us"},
                                                    {1e6, "ms"},
                                                    {1e9, "s"},
                                                    {60e9, "min", 120e9},
                                                    {3600e9, "h", 7200e9}}};
  return Scaled(nanoseconds, kScales);
}

std::string BytesText(double bytes) {
  static constexpr std::array<Scale, 4> kScales = {
      {{1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}}};
  return Scaled(bytes, kScales);
}

std::string ChangeText(double relative_change) {
  if (!std::isfinite(relative_change)) return fmt::format("{:+}", relative_change);
  return fmt::format("{:+.1f} %", relative_change * 100);
}

}  // namespace schedq
