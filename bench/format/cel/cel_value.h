// A value of CEL: a number, a text, a list, the device, an error and so on.
//
// Purpose: what an evaluation computes with. A value is 16 bytes and owns nothing: texts, lists,
// maps, quantities and versions lie in the device, in the program or in the evaluation's arena.
// Threads: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/format/cel/device_view.h"
#include "bench/format/cel/exact_quantity.h"
#include "bench/format/cel/semantic_version.h"

namespace schedq {

enum class CelKind : uint8_t {
  kError,
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kList,
  kMap,
  kType,
  kDevice,
  kQuantity,
  kVersion,
};

// Where the entries of a map lie.
enum class CelMapForm : uint8_t {
  kEntries,     // Pairs of key and value, sorted by key.
  kAttributes,  // All attributes of a device: domain to map.
  kDomainAttributes,
  kCapacities,
  kDomainCapacities,
};

struct CelValue {
  CelKind kind;
  CelMapForm form;
  uint32_t size;  // Bytes of a text, items of a list, entries of a map in form kEntries.
  union {
    bool boolean;
    int64_t integer;
    uint64_t natural;
    double number;
    const char* text;  // Of a string, of bytes, of an error.
    const CelValue* items;
    const DeviceAttributes* attributes;
    const DeviceAttributes::Entries* domain_attributes;  // nullptr: none.
    const DeviceCapacities* capacities;
    const DeviceCapacities::Entries* domain_capacities;  // nullptr: none.
    const DeviceView* device;
    const ExactQuantity* quantity;
    const SemanticVersion* version;
    CelKind type;
  };

  std::string_view view() const { return {text, size}; }
  bool IsError() const { return kind == CelKind::kError; }
  bool IsTrue() const { return kind == CelKind::kBool && boolean; }
  bool IsFalse() const { return kind == CelKind::kBool && !boolean; }
};
static_assert(sizeof(CelValue) == 16, "evaluations pass values in two registers");

inline CelValue CelOf(CelKind kind) {
  CelValue value;
  value.kind = kind;
  value.form = CelMapForm::kEntries;
  value.size = 0;
  value.integer = 0;
  return value;
}
inline CelValue CelBool(bool boolean) {
  CelValue value = CelOf(CelKind::kBool);
  value.boolean = boolean;
  return value;
}
inline CelValue CelInt(int64_t integer) {
  CelValue value = CelOf(CelKind::kInt);
  value.integer = integer;
  return value;
}
inline CelValue CelUint(uint64_t natural) {
  CelValue value = CelOf(CelKind::kUint);
  value.natural = natural;
  return value;
}
inline CelValue CelDouble(double number) {
  CelValue value = CelOf(CelKind::kDouble);
  value.number = number;
  return value;
}
// The text must outlive the value.
inline CelValue CelText(CelKind kind, std::string_view text) {
  CelValue value = CelOf(kind);
  value.size = static_cast<uint32_t>(text.size());
  value.text = text.data();
  return value;
}
inline CelValue CelString(std::string_view text) { return CelText(CelKind::kString, text); }
inline CelValue CelError(std::string_view text) { return CelText(CelKind::kError, text); }
inline CelValue CelList(const CelValue* items, size_t size) {
  CelValue value = CelOf(CelKind::kList);
  value.size = static_cast<uint32_t>(size);
  value.items = items;
  return value;
}
// `entries` are pairs of key and value, sorted by CelCompareKeys.
inline CelValue CelMap(const CelValue* entries, size_t size) {
  CelValue value = CelList(entries, size);
  value.kind = CelKind::kMap;
  return value;
}
inline CelValue CelQuantity(const ExactQuantity* quantity) {
  CelValue value = CelOf(CelKind::kQuantity);
  value.quantity = quantity;
  return value;
}
inline CelValue CelVersion(const SemanticVersion* version) {
  CelValue value = CelOf(CelKind::kVersion);
  value.version = version;
  return value;
}
inline CelValue CelType(CelKind type) {
  CelValue value = CelOf(CelKind::kType);
  value.type = type;
  return value;
}

// "int", "string", "kubernetes.Quantity", ...
std::string_view CelTypeName(CelKind kind);

inline constexpr double kCelTwoTo63 = 9223372036854775808.0;
inline constexpr double kCelTwoTo64 = 18446744073709551616.0;

// The number of code points of a text.
size_t CelCodePoints(std::string_view text);

// The bytes of the code point that a text begins with, 1 where it is malformed.
size_t CelStepBytes(std::string_view text);

// The size as size() and costs see it: code points of a string, bytes, items, entries; 1 for what
// has no size.
size_t CelSize(const CelValue& value);

// Whether keys or values of these kinds are numbers, which compare across their kinds.
inline bool CelIsNumber(CelKind kind) {
  return kind == CelKind::kInt || kind == CelKind::kUint || kind == CelKind::kDouble;
}

// -1, 0 or 1 for two numbers; 2 where one is not a number (NaN).
int CelCompareNumbers(const CelValue& left, const CelValue& right);

// An order over all keys of maps: by kind, numbers as one kind.
int CelCompareKeys(const CelValue& left, const CelValue& right);

// The value as text that tells kinds apart, for tests and tools: "1", "1u", "1e+00", "\"a\"".
std::string CelValueText(const CelValue& value);

}  // namespace schedq
