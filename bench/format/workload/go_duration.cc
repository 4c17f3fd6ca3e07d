#include "bench/format/workload/go_duration.h"

#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace schedq {
namespace {

__extension__ using Wide = __int128;

// Longer names stand first, so that "ms" is not read as "m".
constexpr std::array<std::pair<std::string_view, int64_t>, 8> kUnits = {{
    {"ns", 1},
    {"us", 1'000},
    {"\xc2\xb5s", 1'000},  // Micro sign.
    {"\xce\xbcs", 1'000},  // Greek mu.
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
}};

// Removes digits from the front of `text`; the fraction's weight is 1 / scale. Digits beyond the
// 18th are below a nanosecond.
struct Number {
  Wide whole = 0;
  Wide fraction = 0;
  Wide scale = 1;
  bool any = false;
  bool too_large = false;
};

bool IsDigit(std::string_view text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

Number TakeNumber(std::string_view* text) {
  Number number;
  constexpr Wide kMax = std::numeric_limits<int64_t>::max();
  for (; IsDigit(*text); text->remove_prefix(1)) {
    number.any = true;
    number.whole = number.whole * 10 + (text->front() - '0');
    if (number.whole > kMax) {
      number.too_large = true;
      number.whole = kMax;
    }
  }
  if (text->empty() || text->front() != '.') return number;
  text->remove_prefix(1);
  constexpr Wide kScaleMax = 1'000'000'000'000'000'000;
  for (; IsDigit(*text); text->remove_prefix(1)) {
    number.any = true;
    if (number.scale >= kScaleMax) continue;
    number.fraction = number.fraction * 10 + (text->front() - '0');
    number.scale *= 10;
  }
  return number;
}

}  // namespace

std::optional<Duration> ParseGoDuration(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text == "0") return Duration(0);
  if (text.empty()) return std::nullopt;
  Wide sum_ns = 0;
  while (!text.empty()) {
    const Number number = TakeNumber(&text);
    if (!number.any || number.too_large) return std::nullopt;
    int64_t unit_ns = 0;
    for (const auto& [name, size_ns] : kUnits) {
      if (text.substr(0, name.size()) == name) {
        unit_ns = size_ns;
        text.remove_prefix(name.size());
        break;
      }
    }
    if (unit_ns == 0) return std::nullopt;
    // A unit ends where the next number begins: "1sx" and "1min" are not durations.
    if (!text.empty() && !IsDigit(text) && text[0] != '.') return std::nullopt;
    sum_ns += number.whole * unit_ns + number.fraction * unit_ns / number.scale;
    if (sum_ns > std::numeric_limits<int64_t>::max()) return std::nullopt;
  }
  const auto value = static_cast<int64_t>(sum_ns);
  return Duration(negative ? -value : value);
}

}  // namespace schedq
