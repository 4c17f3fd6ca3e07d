// Conversions between types, as cel-go makes them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "bench/format/cel/cel_calls.h"
#include "bench/format/cel/cel_functions.h"
#include "bench/format/cel/cel_run.h"
#include "bench/format/cel/cel_value.h"
#include "perf/text/number_text.h"
#include "perf/text/visible_text.h"

namespace schedq::cel {
namespace {

CelValue NotConvertible(CelRun& run, CelKind from, CelKind to) {
  std::string what = "type conversion error from '";
  what += CelTypeName(from);
  what += "' to '";
  return run.Fail(what, std::string(CelTypeName(to)) + "'");
}

// All of the text as a number; a sign is taken where `negative` numbers exist.
template <typename Number>
bool ParseAll(std::string_view text, bool negative, Number* number) {
  if (negative && !text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text[0] == '-') return false;
  }
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, *number);
  return !text.empty() && parsed.ec == std::errc() && parsed.ptr == end;
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(),
                    [](char letter, char wanted) { return (letter | 0x20) == wanted; });
}

// The numbers that Go reads as a float64, but for hexadecimal ones.
bool ParseDouble(std::string_view text, double* number) {
  constexpr size_t kBytesMax = 1000;
  std::string_view body = text;
  const bool sign = !body.empty() && (body[0] == '-' || body[0] == '+');
  if (sign) body.remove_prefix(1);
  const bool infinite = EqualsIgnoringCase(body, "inf") || EqualsIgnoringCase(body, "infinity");
  const bool nan = !sign && EqualsIgnoringCase(body, "nan");
  const bool decimal = !body.empty() && body.size() <= kBytesMax &&
                       body.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
  if (!infinite && !nan && !decimal) return false;
  const std::string copy(text);
  char* end = nullptr;
  *number = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size() && (infinite || !std::isinf(*number));
}

}  // namespace

CelValue Size(CelRun&, const CelValue* arguments, size_t) {
  const CelValue& value = arguments[0];
  const bool sized = value.kind == CelKind::kString || value.kind == CelKind::kBytes ||
                     value.kind == CelKind::kList || value.kind == CelKind::kMap;
  return sized ? CelInt(static_cast<int64_t>(CelSize(value))) : CelNoOverload();
}

CelValue TypeOf(CelRun&, const CelValue* arguments, size_t) { return CelType(arguments[0].kind); }

CelValue ToDyn(CelRun&, const CelValue* arguments, size_t) { return arguments[0]; }

CelValue ToBool(CelRun& run, const CelValue* arguments, size_t) {
  const CelValue& value = arguments[0];
  if (value.kind == CelKind::kBool) return value;
  if (value.kind != CelKind::kString) return CelNoOverload();
  constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "TRUE", "true", "True"};
  constexpr std::array<std::string_view, 6> kFalse = {"0", "f", "F", "FALSE", "false", "False"};
  const auto is = [&](std::string_view word) { return value.view() == word; };
  if (std::any_of(kTrue.begin(), kTrue.end(), is)) return CelBool(true);
  if (std::any_of(kFalse.begin(), kFalse.end(), is)) return CelBool(false);
  return NotConvertible(run, value.kind, CelKind::kBool);
}

CelValue ToBytes(CelRun&, const CelValue* arguments, size_t) {
  const CelValue& value = arguments[0];
  if (value.kind == CelKind::kBytes) return value;
  return value.kind == CelKind::kString ? CelText(CelKind::kBytes, value.view()) : CelNoOverload();
}

CelValue ToDouble(CelRun& run, const CelValue* arguments, size_t) {
  const CelValue& value = arguments[0];
  switch (value.kind) {
    case CelKind::kDouble:
      return value;
    case CelKind::kInt:
      return CelDouble(static_cast<double>(value.integer));
    case CelKind::kUint:
      return CelDouble(static_cast<double>(value.natural));
    case CelKind::kString: {
      double number = 0;
      if (ParseDouble(value.view(), &number)) return CelDouble(number);
      return NotConvertible(run, value.kind, CelKind::kDouble);
    }
    default:
      return CelNoOverload();
  }
}

CelValue ToInt(CelRun& run, const CelValue* arguments, size_t) {
  const CelValue& value = arguments[0];
  switch (value.kind) {
    case CelKind::kInt:
      return value;
    case CelKind::kUint: {
      const bool fits = value.natural <= static_cast<uint64_t>(INT64_MAX);
      return fits ? CelInt(value.integer) : CelError("integer overflow");
    }
    case CelKind::kDouble: {
      const bool fits = value.number > -kCelTwoTo63 && value.number < kCelTwoTo63;
      return fits ? CelInt(static_cast<int64_t>(value.number)) : CelError("integer overflow");
    }
    case CelKind::kString: {
      int64_t number = 0;
      if (ParseAll(value.view(), true, &number)) return CelInt(number);
      return NotConvertible(run, value.kind, CelKind::kInt);
    }
    default:
      return CelNoOverload();
  }
}

CelValue ToUint(CelRun& run, const CelValue* arguments, size_t) {
  const CelValue& value = arguments[0];
  switch (value.kind) {
    case CelKind::kUint:
      return value;
    case CelKind::kInt:
      return value.integer >= 0 ? CelUint(value.natural) : CelError("unsigned integer overflow");
    case CelKind::kDouble: {
      const bool fits = value.number >= 0 && value.number < kCelTwoTo64;
      return fits ? CelUint(static_cast<uint64_t>(value.number))
                  : CelError("unsigned integer overflow");
    }
    case CelKind::kString: {
      uint64_t number = 0;
      if (ParseAll(value.view(), false, &number)) return CelUint(number);
      return NotConvertible(run, value.kind, CelKind::kUint);
    }
    default:
      return CelNoOverload();
  }
}

CelValue ToString(CelRun& run, const CelValue* arguments, size_t) {
  const CelValue& value = arguments[0];
  switch (value.kind) {
    case CelKind::kString:
      return value;
    case CelKind::kBool:
      return CelString(value.boolean ? "true" : "false");
    case CelKind::kInt:
      return run.Copy(std::to_string(value.integer));
    case CelKind::kUint:
      return run.Copy(std::to_string(value.natural));
    case CelKind::kDouble:
      return run.Copy(GoFloatText(value.number));
    case CelKind::kBytes: {
      const bool text = FindWhatIsNotUtf8(value.view()) == std::string_view::npos;
      return text ? CelString(value.view())
                  : CelError("invalid UTF-8 in bytes, cannot convert to string");
    }
    default:
      return CelNoOverload();
  }
}

}  // namespace schedq::cel
