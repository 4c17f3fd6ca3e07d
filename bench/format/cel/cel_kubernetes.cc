// What Kubernetes adds to CEL: quantities and versions.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "bench/format/cel/cel_calls.h"
#include "bench/format/cel/cel_functions.h"
#include "bench/format/cel/cel_run.h"
#include "bench/format/cel/cel_value.h"
#include "bench/format/cel/exact_quantity.h"
#include "bench/format/cel/semantic_version.h"

namespace schedq::cel {
namespace {

std::optional<SemanticVersion> ParseVersion(const CelValue* arguments, size_t count) {
  const bool tolerant = count == 2 && arguments[1].boolean;
  const std::string_view text = arguments[0].view();
  return tolerant ? SemanticVersion::ParseTolerant(text) : SemanticVersion::Parse(text);
}

bool IsVersionCall(const CelValue* arguments, size_t count) {
  return arguments[0].kind == CelKind::kString &&
         (count == 1 || arguments[1].kind == CelKind::kBool);
}

// -1, 0 or 1; an error for what are neither two quantities nor two versions.
CelValue Order(const CelValue* arguments) {
  const CelValue& left = arguments[0];
  const CelValue& right = arguments[1];
  if (left.kind != right.kind) return CelNoOverload();
  if (left.kind == CelKind::kQuantity) return CelInt(left.quantity->Compare(*right.quantity));
  if (left.kind == CelKind::kVersion) return CelInt(left.version->Compare(*right.version));
  return CelNoOverload();
}

// The second operand of add and sub: a quantity or an integer.
std::optional<ExactQuantity> Operand(const CelValue* arguments) {
  if (arguments[0].kind != CelKind::kQuantity) return std::nullopt;
  if (arguments[1].kind == CelKind::kQuantity) return *arguments[1].quantity;
  if (arguments[1].kind == CelKind::kInt) return ExactQuantity::Of(arguments[1].integer);
  return std::nullopt;
}

CelValue PartOf(const CelValue& value, uint64_t (SemanticVersion::*part)() const) {
  if (value.kind != CelKind::kVersion) return CelNoOverload();
  return CelInt(static_cast<int64_t>((value.version->*part)()));
}

}  // namespace

CelValue ToQuantity(CelRun& run, const CelValue* arguments, size_t) {
  if (arguments[0].kind != CelKind::kString) return CelNoOverload();
  const auto quantity = ExactQuantity::Parse(arguments[0].view());
  return quantity ? run.Keep(*quantity) : run.Fail("not a quantity: ", arguments[0].view());
}

CelValue IsQuantity(CelRun&, const CelValue* arguments, size_t) {
  if (arguments[0].kind != CelKind::kString) return CelNoOverload();
  return CelBool(ExactQuantity::Parse(arguments[0].view()).has_value());
}

CelValue ToVersion(CelRun& run, const CelValue* arguments, size_t count) {
  if (!IsVersionCall(arguments, count)) return CelNoOverload();
  auto version = ParseVersion(arguments, count);
  return version ? run.Keep(std::move(*version))
                 : run.Fail("not a semantic version: ", arguments[0].view());
}

CelValue IsVersion(CelRun&, const CelValue* arguments, size_t count) {
  if (!IsVersionCall(arguments, count)) return CelNoOverload();
  return CelBool(ParseVersion(arguments, count).has_value());
}

CelValue IsLessThan(CelRun&, const CelValue* arguments, size_t) {
  const CelValue order = Order(arguments);
  return order.IsError() ? order : CelBool(order.integer < 0);
}

CelValue IsGreaterThan(CelRun&, const CelValue* arguments, size_t) {
  const CelValue order = Order(arguments);
  return order.IsError() ? order : CelBool(order.integer > 0);
}

CelValue CompareTo(CelRun&, const CelValue* arguments, size_t) { return Order(arguments); }

CelValue Sign(CelRun&, const CelValue* arguments, size_t) {
  if (arguments[0].kind != CelKind::kQuantity) return CelNoOverload();
  return CelInt(arguments[0].quantity->Sign());
}

CelValue IsInteger(CelRun&, const CelValue* arguments, size_t) {
  if (arguments[0].kind != CelKind::kQuantity) return CelNoOverload();
  return CelBool(arguments[0].quantity->Integer().has_value());
}

CelValue AsInteger(CelRun&, const CelValue* arguments, size_t) {
  if (arguments[0].kind != CelKind::kQuantity) return CelNoOverload();
  const auto integer = arguments[0].quantity->Integer();
  return integer ? CelInt(*integer) : CelError("cannot convert value to integer");
}

CelValue AsApproximateFloat(CelRun&, const CelValue* arguments, size_t) {
  if (arguments[0].kind != CelKind::kQuantity) return CelNoOverload();
  return CelDouble(arguments[0].quantity->Approximate());
}

CelValue AddQuantity(CelRun& run, const CelValue* arguments, size_t) {
  const auto operand = Operand(arguments);
  return operand ? run.Keep(arguments[0].quantity->Plus(*operand)) : CelNoOverload();
}

CelValue SubtractQuantity(CelRun& run, const CelValue* arguments, size_t) {
  const auto operand = Operand(arguments);
  return operand ? run.Keep(arguments[0].quantity->Minus(*operand)) : CelNoOverload();
}

CelValue Major(CelRun&, const CelValue* arguments, size_t) {
  return PartOf(arguments[0], &SemanticVersion::major);
}

CelValue Minor(CelRun&, const CelValue* arguments, size_t) {
  return PartOf(arguments[0], &SemanticVersion::minor);
}

CelValue Patch(CelRun&, const CelValue* arguments, size_t) {
  return PartOf(arguments[0], &SemanticVersion::patch);
}

}  // namespace schedq::cel
