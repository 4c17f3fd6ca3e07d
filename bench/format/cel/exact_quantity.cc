#include "bench/format/cel/exact_quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <system_error>

namespace schedq {
namespace {

using Wide = ExactQuantity::Wide;

constexpr Wide kNano = 1'000'000'000;
// 10^28 units in billionths: ten times as much still fits 128 bits.
constexpr Wide kNanoMax = kNano * kNano * kNano * kNano * 10;
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();
constexpr int kDecimalDigitsMax = 18;  // A number of so many digits fits 64 bits.

Wide Saturated(Wide nano) {
  if (nano > kNanoMax) return kNanoMax;
  return nano < -kNanoMax ? -kNanoMax : nano;
}

struct Suffix {
  int64_t exponent = 0;
  bool binary = false;  // Powers of two instead of ten.
};

std::optional<Suffix> ParseExponent(std::string_view digits) {
  const bool plus = !digits.empty() && digits[0] == '+';
  if (plus) digits.remove_prefix(1);
  if (plus && !digits.empty() && digits[0] == '-') return std::nullopt;
  int64_t exponent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  const bool whole = end == digits.data() + digits.size();
  const bool in_range = exponent >= std::numeric_limits<int32_t>::min() &&
                        exponent <= std::numeric_limits<int32_t>::max();
  if (digits.empty() || error != std::errc() || !whole || !in_range) return std::nullopt;
  return Suffix{exponent, false};
}

std::optional<Suffix> ParseSuffix(std::string_view text) {
  if (text.empty()) return Suffix{};
  constexpr std::string_view kDecimal = "num_kMGTPE";  // 10^-9, 10^-6, 10^-3, -, 10^3, ...
  constexpr std::string_view kBinary = "KMGTPE";
  if (text.size() == 1 && text != "_") {
    const size_t found = kDecimal.find(text[0]);
    if (found == std::string_view::npos) return std::nullopt;
    return Suffix{static_cast<int64_t>(found) * 3 - 9, false};
  }
  if (text.size() == 2 && text[1] == 'i') {
    const size_t found = kBinary.find(text[0]);
    if (found == std::string_view::npos) return std::nullopt;
    return Suffix{static_cast<int64_t>(found + 1) * 10, true};
  }
  if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
  return ParseExponent(text.substr(1));
}

struct Written {
  bool negative = false;
  std::string_view whole;     // Digits before the point, without leading zeros.
  std::string_view fraction;  // Digits after it.
  std::string_view suffix;
};

std::string_view TakeDigits(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

std::optional<Written> Split(std::string_view text) {
  Written written;
  written.negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  written.whole = TakeDigits(text);
  bool any = !written.whole.empty();
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    written.fraction = TakeDigits(text);
    any = any || !written.fraction.empty();
  }
  written.suffix = text;
  if (!any) return std::nullopt;
  written.whole.remove_prefix(std::min(written.whole.find_first_not_of('0'), written.whole.size()));
  return written;
}

// The digits times 10^exponent * 2^shift in billionths, rounded up.
Wide Scale(const Written& written, int64_t exponent, int64_t shift) {
  Wide value = 0;
  bool rest = false;
  // Digits beyond the last place of the result only decide whether it is rounded up. Halves and
  // their like of binary suffixes have further places, which the shift brings back.
  int64_t places = static_cast<int64_t>(written.whole.size()) + exponent + 9;
  const Wide limit = kNanoMax >> shift;
  const auto take = [&](std::string_view digits) {
    for (const char digit : digits) {
      if (value > limit) return;
      if (places-- > 0) {
        value = value * 10 + (digit - '0');
      } else {
        rest = rest || digit != '0';
      }
    }
  };
  take(written.whole);
  take(written.fraction);
  for (; places > 0 && value != 0 && value <= limit; --places) value *= 10;
  if (value > limit) return kNanoMax;
  return Saturated((value << shift) + (rest ? 1 : 0));
}

// Fractions of binary units keep the places that the shift needs: 0.0009765625Ki is 1.
Wide ScaleBinary(const Written& written, int64_t shift) {
  Wide value = Scale(Written{false, written.whole, {}, {}}, 0, shift);
  // fraction * 2^shift, in billionths: digit by digit, so that no place is lost before the end.
  std::array<uint8_t, 128> digits{};
  const size_t count = std::min(written.fraction.size(), digits.size());
  bool rest = written.fraction.find_first_not_of('0', count) != std::string_view::npos;
  for (size_t i = 0; i < count; ++i) digits[i] = static_cast<uint8_t>(written.fraction[i] - '0');
  Wide whole = 0;
  for (int64_t bit = 0; bit < shift; ++bit) {
    int carry = 0;
    for (size_t i = count; i-- > 0;) {
      const int doubled = digits[i] * 2 + carry;
      digits[i] = static_cast<uint8_t>(doubled % 10);
      carry = doubled / 10;
    }
    whole = whole * 2 + carry;
  }
  Wide nano = 0;
  for (size_t i = 0; i < 9; ++i) nano = nano * 10 + (i < count ? digits[i] : 0);
  for (size_t i = 9; i < count; ++i) rest = rest || digits[i] != 0;
  return Saturated(value + whole * kNano + nano + (rest ? 1 : 0));
}

int64_t PowerOfTen(int64_t exponent) {
  int64_t power = 1;
  for (int64_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// value * 10^places; nullopt beyond 64 bits.
std::optional<int64_t> TimesPowerOfTen(int64_t value, int64_t places) {
  if (value == 0) return 0;
  if (places > kDecimalDigitsMax) return std::nullopt;
  int64_t product = 0;
  if (__builtin_mul_overflow(value, PowerOfTen(places), &product)) return std::nullopt;
  return product;
}

struct Small {
  int64_t value = 0;
  int32_t scale = 0;
};

// The 64-bit form that the API server gives a quantity when it reads it; nullopt for the others.
std::optional<Small> SmallForm(const Written& written, const Suffix& suffix) {
  const auto whole = static_cast<int64_t>(written.whole.size());
  const auto fraction = static_cast<int64_t>(written.fraction.size());
  int64_t factor = 1;
  int64_t scale = suffix.exponent;
  // The API server counts the digits of the whole number, at least one.
  int64_t spare = kDecimalDigitsMax - std::max<int64_t>(whole, 1) - fraction;
  if (suffix.binary) {
    if (fraction > 0) return std::nullopt;
    factor = int64_t{1} << suffix.exponent;
    spare = 15 - std::max<int64_t>(whole, 1) - suffix.exponent * 3 / 10 - 1;
    scale = 0;
  }
  scale -= fraction;
  if (spare < 0 || scale < -9) return std::nullopt;
  int64_t value = 0;
  for (const char digit : written.whole) value = value * 10 + (digit - '0');
  for (const char digit : written.fraction) value = value * 10 + (digit - '0');
  if (__builtin_mul_overflow(value, factor, &value)) return std::nullopt;
  return Small{written.negative ? -value : value, static_cast<int32_t>(scale)};
}

// The sum of two 64-bit forms, at the finer of their scales.
std::optional<Small> Sum(Small left, Small right) {
  if (right.value == 0) return left;
  if (left.value == 0) return right;
  if (left.scale < right.scale) std::swap(left, right);
  const auto coarse = TimesPowerOfTen(left.value, int64_t{left.scale} - right.scale);
  int64_t sum = 0;
  if (!coarse || __builtin_add_overflow(*coarse, right.value, &sum)) return std::nullopt;
  return Small{sum, right.scale};
}

}  // namespace

ExactQuantity ExactQuantity::Of(int64_t units) {
  ExactQuantity quantity;
  quantity.nano_ = Wide{units} * kNano;
  quantity.value_ = units;
  return quantity;
}

std::optional<ExactQuantity> ExactQuantity::Parse(std::string_view text) {
  const auto written = Split(text);
  if (!written) return std::nullopt;
  const auto suffix = ParseSuffix(written->suffix);
  if (!suffix) return std::nullopt;
  ExactQuantity quantity;
  if (suffix->binary) {
    quantity.nano_ = ScaleBinary(*written, suffix->exponent);
    // The API server caps these, and only these.
    constexpr Wide kMax = Wide{kInt64Max} * kNano;
    quantity.capped_ = quantity.nano_ > kMax;
    if (quantity.capped_) quantity.nano_ = kMax;
  } else {
    quantity.nano_ = Scale(*written, suffix->exponent, 0);
  }
  if (written->negative) quantity.nano_ = -quantity.nano_;
  const auto small = SmallForm(*written, *suffix);
  quantity.small_ = small.has_value();
  if (small) {
    quantity.value_ = small->value;
    quantity.scale_ = small->scale;
  }
  return quantity;
}

int ExactQuantity::Compare(const ExactQuantity& other) const {
  return nano_ < other.nano_ ? -1 : (nano_ > other.nano_ ? 1 : 0);
}

ExactQuantity ExactQuantity::Plus(const ExactQuantity& other) const {
  ExactQuantity sum;
  sum.nano_ = Saturated(nano_ + other.nano_);
  sum.small_ = false;
  if (!small_ || !other.small_) return sum;
  if (const auto small = Sum({value_, scale_}, {other.value_, other.scale_})) {
    sum.small_ = true;
    sum.value_ = small->value;
    sum.scale_ = small->scale;
  }
  return sum;
}

ExactQuantity ExactQuantity::Minus(const ExactQuantity& other) const {
  ExactQuantity negative = other;
  negative.nano_ = -other.nano_;
  negative.small_ = other.small_ && other.value_ != std::numeric_limits<int64_t>::min();
  negative.value_ = negative.small_ ? -other.value_ : 0;
  return Plus(negative);
}

std::optional<int64_t> ExactQuantity::Integer() const {
  if (!small_ || scale_ < 0) return std::nullopt;
  return TimesPowerOfTen(value_, scale_);
}

double ExactQuantity::Approximate() const {
  if (small_) return static_cast<double>(value_) * std::pow(10.0, scale_);
  return static_cast<double>(nano_) / 1e9;
}

int64_t ExactQuantity::Divide(int64_t by) const {
  const Wide magnitude = nano_ < 0 ? -nano_ : nano_;
  const Wide rounded = (magnitude + by - 1) / by;
  const auto value = static_cast<int64_t>(rounded > kInt64Max ? Wide{kInt64Max} : rounded);
  return nano_ < 0 ? -value : value;
}

}  // namespace schedq
