#include "bench/format/cel/cel_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "perf/text/visible_text.h"

namespace schedq {
namespace {

template <typename T>
int Order(T left, T right) {
  return left < right ? -1 : (left > right ? 1 : 0);
}

// As cel-go compares: beyond the integers' range by the range, else as doubles.
int CompareWithInt(double left, int64_t right) {
  if (left < -kCelTwoTo63) return -1;
  if (left > kCelTwoTo63) return 1;
  return Order(left, static_cast<double>(right));
}

int CompareWithUint(double left, uint64_t right) {
  if (left < 0) return -1;
  if (left > kCelTwoTo64) return 1;
  return Order(left, static_cast<double>(right));
}

int CompareIntUint(int64_t left, uint64_t right) {
  return left < 0 ? -1 : Order(static_cast<uint64_t>(left), right);
}

std::string Quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte >= 0x7f || letter == '"' || letter == '\\') {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += letter;
    }
  }
  return out + "\"";
}

std::string DoubleText(double number) {
  if (std::isnan(number)) return "nan";
  std::array<char, 64> buffer;
  char* const end = buffer.data() + buffer.size();
  const auto written = std::to_chars(buffer.data(), end, number, std::chars_format::scientific);
  return std::string(buffer.data(), written.ptr);
}

std::string ItemsText(const CelValue& value) {
  const bool map = value.kind == CelKind::kMap;
  std::string out = map ? "{" : "[";
  for (uint32_t i = 0; i < value.size; ++i) {
    if (i > 0) out += ", ";
    if (map) {
      out += CelValueText(value.items[2 * i]) + ": " + CelValueText(value.items[2 * i + 1]);
    } else {
      out += CelValueText(value.items[i]);
    }
  }
  return out + (map ? "}" : "]");
}

}  // namespace

std::string_view CelTypeName(CelKind kind) {
  constexpr std::array<std::string_view, 14> kNames = {"error",
                                                       "null_type",
                                                       "bool",
                                                       "int",
                                                       "uint",
                                                       "double",
                                                       "string",
                                                       "bytes",
                                                       "list",
                                                       "map",
                                                       "type",
                                                       "kubernetes.DRADevice",
                                                       "kubernetes.Quantity",
                                                       "kubernetes.Semver"};
  return kNames[static_cast<size_t>(kind)];
}

size_t CelCodePoints(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
  }));
}

size_t CelStepBytes(std::string_view text) { return std::max<size_t>(Utf8Length(text), 1); }

size_t CelSize(const CelValue& value) {
  switch (value.kind) {
    case CelKind::kString:
      return CelCodePoints(value.view());
    case CelKind::kBytes:
    case CelKind::kList:
      return value.size;
    case CelKind::kMap:
      break;
    default:
      return 1;
  }
  switch (value.form) {
    case CelMapForm::kEntries:
      return value.size;
    case CelMapForm::kAttributes:
      return value.attributes->domains().size();
    case CelMapForm::kDomainAttributes:
      return value.domain_attributes == nullptr ? 0 : value.domain_attributes->size();
    case CelMapForm::kCapacities:
      return value.capacities->domains().size();
    case CelMapForm::kDomainCapacities:
      return value.domain_capacities == nullptr ? 0 : value.domain_capacities->size();
  }
  return 0;
}

int CelCompareNumbers(const CelValue& left, const CelValue& right) {
  const bool nan = (left.kind == CelKind::kDouble && std::isnan(left.number)) ||
                   (right.kind == CelKind::kDouble && std::isnan(right.number));
  if (nan) return 2;
  switch (left.kind) {
    case CelKind::kInt:
      if (right.kind == CelKind::kInt) return Order(left.integer, right.integer);
      if (right.kind == CelKind::kUint) return CompareIntUint(left.integer, right.natural);
      return -CompareWithInt(right.number, left.integer);
    case CelKind::kUint:
      if (right.kind == CelKind::kUint) return Order(left.natural, right.natural);
      if (right.kind == CelKind::kInt) return -CompareIntUint(right.integer, left.natural);
      return -CompareWithUint(right.number, left.natural);
    default:
      if (right.kind == CelKind::kInt) return CompareWithInt(left.number, right.integer);
      if (right.kind == CelKind::kUint) return CompareWithUint(left.number, right.natural);
      return Order(left.number, right.number);
  }
}

int CelCompareKeys(const CelValue& left, const CelValue& right) {
  const bool numbers = CelIsNumber(left.kind) && CelIsNumber(right.kind);
  if (numbers) return CelCompareNumbers(left, right);
  if (left.kind != right.kind) {
    // All numbers together: the least of their kinds stands for each.
    const auto rank = [](CelKind kind) { return CelIsNumber(kind) ? CelKind::kInt : kind; };
    return Order(rank(left.kind), rank(right.kind));
  }
  if (left.kind == CelKind::kBool) return Order(left.boolean, right.boolean);
  return Order(left.view().compare(right.view()), 0);
}

std::string CelValueText(const CelValue& value) {
  switch (value.kind) {
    case CelKind::kError:
      return "error: " + std::string(value.view());
    case CelKind::kNull:
      return "null";
    case CelKind::kBool:
      return value.boolean ? "true" : "false";
    case CelKind::kInt:
      return std::to_string(value.integer);
    case CelKind::kUint:
      return std::to_string(value.natural) + "u";
    case CelKind::kDouble:
      return DoubleText(value.number);
    case CelKind::kString:
      return Quoted(value.view());
    case CelKind::kBytes:
      return "b" + Quoted(value.view());
    case CelKind::kType:
      return std::string(CelTypeName(value.type));
    case CelKind::kVersion:
      return "semver(" + Quoted(value.version->text()) + ")";
    case CelKind::kList:
      return ItemsText(value);
    case CelKind::kMap:
      if (value.form == CelMapForm::kEntries) return ItemsText(value);
      break;
    case CelKind::kDevice:
    case CelKind::kQuantity:
      break;
  }
  return "<" + std::string(CelTypeName(value.kind)) + ">";
}

}  // namespace schedq
