#include "bench/format/objects/quantity.h"

#include <charconv>
#include <cstddef>
#include <limits>
#include <string>
#include <system_error>

namespace schedq {
namespace {

__extension__ using Wide = __int128;

constexpr Wide kNano = 1'000'000'000;
// The largest 64-bit integer in billionths.
constexpr Wide kNanoMax = Wide{std::numeric_limits<int64_t>::max()} * kNano;

struct Suffix {
  int decimal = 0;  // Power of ten.
  int binary = 0;   // Power of two.
};

std::optional<Suffix> ParseSuffix(std::string_view text) {
  if (text.empty()) return Suffix{};
  constexpr std::string_view kDecimal = "num kMGTPE";  // 10^-9, 10^-6, 10^-3, -, 10^3, ...
  if (text.size() == 1 && text != " ") {
    const size_t found = kDecimal.find(text[0]);
    if (found != std::string_view::npos) return Suffix{static_cast<int>(found) * 3 - 9, 0};
  }
  constexpr std::string_view kBinary = "KMGTPE";
  if (text.size() == 2 && text[1] == 'i') {
    const size_t found = kBinary.find(text[0]);
    if (found == std::string_view::npos) return std::nullopt;
    return Suffix{0, static_cast<int>(found + 1) * 10};
  }
  if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
  text.remove_prefix(1);
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return Suffix{exponent, 0};
}

// digits * 10^exponent, rounded up; nullopt beyond `limit`.
std::optional<Wide> Scale(std::string_view digits, int exponent, Wide limit) {
  Wide value = 0;
  bool rest = false;
  // Digits beyond the last place of the result only decide whether it is rounded up.
  int places = static_cast<int>(digits.size()) + exponent;
  for (char digit : digits) {
    if (places-- > 0) {
      value = value * 10 + (digit - '0');
      if (value > limit) return std::nullopt;
    } else {
      rest = rest || digit != '0';
    }
  }
  if (value == 0 && !rest) return Wide{0};
  for (int i = 0; i < exponent && value != 0; ++i) {
    value *= 10;
    if (value > limit) return std::nullopt;
  }
  return value + (rest ? 1 : 0);
}

}  // namespace

std::optional<Quantity> Quantity::Parse(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  constexpr size_t kTextBytesMax = 100;
  if (text.size() > kTextBytesMax) return std::nullopt;
  std::string digits;
  int fraction = 0;
  bool point = false;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !point) {
      point = true;
    } else if (text[at] >= '0' && text[at] <= '9') {
      digits += text[at];
      if (point) ++fraction;
    } else {
      break;
    }
  }
  if (digits.empty()) return std::nullopt;
  const auto suffix = ParseSuffix(text.substr(at));
  constexpr int kExponentMax = 1000;
  if (!suffix || suffix->decimal > kExponentMax || suffix->decimal < -kExponentMax) {
    return std::nullopt;
  }
  Wide nano = 0;
  if (suffix->binary == 0) {
    const auto scaled = Scale(digits, suffix->decimal - fraction + 9, kNanoMax);
    if (!scaled) return std::nullopt;
    nano = *scaled;
  } else {
    // The scaling is exact while digits * 2^60 * 10^9 fits 127 bits. A result of 64 bits always
    // fits with up to 9 fractional digits; further digits are rounded up before.
    const auto scaled = Scale(digits, -fraction + 9, kNanoMax >> suffix->binary);
    if (!scaled) return std::nullopt;
    nano = *scaled << suffix->binary;
  }
  return Quantity(negative ? -nano : nano);
}

int64_t Quantity::Divide(int64_t by) const {
  const Wide magnitude = nano_ < 0 ? -nano_ : nano_;
  const Wide rounded = (magnitude + by - 1) / by;
  constexpr Wide kMax = std::numeric_limits<int64_t>::max();
  const auto value = static_cast<int64_t>(rounded > kMax ? kMax : rounded);
  return nano_ < 0 ? -value : value;
}

}  // namespace schedq
