// Arithmetic, comparison and membership.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "bench/format/cel/cel_calls.h"
#include "bench/format/cel/cel_functions.h"
#include "bench/format/cel/cel_run.h"
#include "bench/format/cel/cel_value.h"

namespace schedq::cel {
namespace {

constexpr std::string_view kIntOverflow = "integer overflow";
constexpr std::string_view kUintOverflow = "unsigned integer overflow";

CelValue CheckedInt(bool overflow, int64_t value) {
  return overflow ? CelError(kIntOverflow) : CelInt(value);
}
CelValue CheckedUint(bool overflow, uint64_t value) {
  return overflow ? CelError(kUintOverflow) : CelUint(value);
}

// One text after the other.
CelValue JoinTexts(CelRun& run, const CelValue& left, const CelValue& right) {
  char* const place = run.NewText(size_t{left.size} + right.size);
  if (place == nullptr) return run.Stopped();
  const std::string_view second = right.view();
  const std::string_view first = left.view();
  std::copy(second.begin(), second.end(), std::copy(first.begin(), first.end(), place));
  return CelText(left.kind, {place, first.size() + second.size()});
}

CelValue JoinLists(CelRun& run, const CelValue& left, const CelValue& right) {
  const size_t size = size_t{left.size} + right.size;
  if (!run.Step(size)) return run.Stopped();
  CelValue* const items = run.NewItems(size);
  if (items == nullptr) return run.Stopped();
  std::copy(right.items, right.items + right.size,
            std::copy(left.items, left.items + left.size, items));
  return CelList(items, size);
}

// Whether the order of the operands is one that `wanted` names; an error where they have none.
template <typename Wanted>
CelValue Ordered(const CelValue* arguments, Wanted wanted) {
  const CelValue order = Compare(arguments[0], arguments[1]);
  return order.IsError() ? order : CelBool(wanted(order.integer));
}

}  // namespace

CelValue Compare(const CelValue& left, const CelValue& right) {
  if (CelIsNumber(left.kind) && CelIsNumber(right.kind)) {
    const int order = CelCompareNumbers(left, right);
    return order == 2 ? CelError("NaN values cannot be ordered") : CelInt(order);
  }
  const bool ordered =
      left.kind == CelKind::kBool || left.kind == CelKind::kString || left.kind == CelKind::kBytes;
  if (left.kind != right.kind || !ordered) return CelNoOverload();
  return CelInt(CelCompareKeys(left, right));
}

CelValue Add(CelRun& run, const CelValue* arguments, size_t) {
  const CelValue& left = arguments[0];
  const CelValue& right = arguments[1];
  if (left.kind != right.kind) return CelNoOverload();
  switch (left.kind) {
    case CelKind::kInt: {
      int64_t sum = 0;
      const bool overflow = __builtin_add_overflow(left.integer, right.integer, &sum);
      return CheckedInt(overflow, sum);
    }
    case CelKind::kUint: {
      uint64_t sum = 0;
      const bool overflow = __builtin_add_overflow(left.natural, right.natural, &sum);
      return CheckedUint(overflow, sum);
    }
    case CelKind::kDouble:
      return CelDouble(left.number + right.number);
    case CelKind::kString:
    case CelKind::kBytes:
      return JoinTexts(run, left, right);
    case CelKind::kList:
      return JoinLists(run, left, right);
    default:
      return CelNoOverload();
  }
}

CelValue Subtract(CelRun&, const CelValue* arguments, size_t) {
  const CelValue& left = arguments[0];
  const CelValue& right = arguments[1];
  if (left.kind != right.kind) return CelNoOverload();
  switch (left.kind) {
    case CelKind::kInt: {
      int64_t difference = 0;
      const bool overflow = __builtin_sub_overflow(left.integer, right.integer, &difference);
      return CheckedInt(overflow, difference);
    }
    case CelKind::kUint: {
      uint64_t difference = 0;
      const bool overflow = __builtin_sub_overflow(left.natural, right.natural, &difference);
      return CheckedUint(overflow, difference);
    }
    case CelKind::kDouble:
      return CelDouble(left.number - right.number);
    default:
      return CelNoOverload();
  }
}

CelValue Multiply(CelRun&, const CelValue* arguments, size_t) {
  const CelValue& left = arguments[0];
  const CelValue& right = arguments[1];
  if (left.kind != right.kind) return CelNoOverload();
  switch (left.kind) {
    case CelKind::kInt: {
      int64_t product = 0;
      const bool overflow = __builtin_mul_overflow(left.integer, right.integer, &product);
      return CheckedInt(overflow, product);
    }
    case CelKind::kUint: {
      uint64_t product = 0;
      const bool overflow = __builtin_mul_overflow(left.natural, right.natural, &product);
      return CheckedUint(overflow, product);
    }
    case CelKind::kDouble:
      return CelDouble(left.number * right.number);
    default:
      return CelNoOverload();
  }
}

CelValue Divide(CelRun&, const CelValue* arguments, size_t) {
  const CelValue& left = arguments[0];
  const CelValue& right = arguments[1];
  if (left.kind != right.kind) return CelNoOverload();
  switch (left.kind) {
    case CelKind::kInt: {
      if (right.integer == 0) return CelError("division by zero");
      const bool overflow =
          left.integer == std::numeric_limits<int64_t>::min() && right.integer == -1;
      return overflow ? CelError(kIntOverflow) : CelInt(left.integer / right.integer);
    }
    case CelKind::kUint:
      if (right.natural == 0) return CelError("division by zero");
      return CelUint(left.natural / right.natural);
    case CelKind::kDouble:
      return CelDouble(left.number / right.number);
    default:
      return CelNoOverload();
  }
}

CelValue Modulo(CelRun&, const CelValue* arguments, size_t) {
  const CelValue& left = arguments[0];
  const CelValue& right = arguments[1];
  if (left.kind != right.kind) return CelNoOverload();
  if (left.kind == CelKind::kInt) {
    if (right.integer == 0) return CelError("modulus by zero");
    const bool overflow =
        left.integer == std::numeric_limits<int64_t>::min() && right.integer == -1;
    return overflow ? CelError(kIntOverflow) : CelInt(left.integer % right.integer);
  }
  if (left.kind != CelKind::kUint) return CelNoOverload();
  return right.natural == 0 ? CelError("modulus by zero") : CelUint(left.natural % right.natural);
}

CelValue Negate(CelRun&, const CelValue* arguments, size_t) {
  const CelValue& operand = arguments[0];
  if (operand.kind == CelKind::kDouble) return CelDouble(-operand.number);
  if (operand.kind != CelKind::kInt) return CelNoOverload();
  int64_t negative = 0;
  const bool overflow = __builtin_sub_overflow(int64_t{0}, operand.integer, &negative);
  return CheckedInt(overflow, negative);
}

CelValue Negation(CelRun&, const CelValue* arguments, size_t) {
  const CelValue& operand = arguments[0];
  return operand.kind == CelKind::kBool ? CelBool(!operand.boolean) : CelNoOverload();
}

CelValue Equals(CelRun& run, const CelValue* arguments, size_t) {
  return run.Equal(arguments[0], arguments[1]);
}

CelValue NotEquals(CelRun& run, const CelValue* arguments, size_t) {
  const CelValue equal = run.Equal(arguments[0], arguments[1]);
  return equal.IsError() ? equal : CelBool(!equal.boolean);
}

CelValue Less(CelRun&, const CelValue* arguments, size_t) {
  return Ordered(arguments, [](int64_t order) { return order < 0; });
}
CelValue LessEquals(CelRun&, const CelValue* arguments, size_t) {
  return Ordered(arguments, [](int64_t order) { return order <= 0; });
}
CelValue Greater(CelRun&, const CelValue* arguments, size_t) {
  return Ordered(arguments, [](int64_t order) { return order > 0; });
}
CelValue GreaterEquals(CelRun&, const CelValue* arguments, size_t) {
  return Ordered(arguments, [](int64_t order) { return order >= 0; });
}

CelValue In(CelRun& run, const CelValue* arguments, size_t) {
  const CelValue& sought = arguments[0];
  const CelValue& container = arguments[1];
  if (container.kind == CelKind::kMap) return CelBool(run.HasKey(container, sought));
  if (container.kind != CelKind::kList) return CelNoOverload();
  // Items that cannot be compared are not the one sought.
  const bool found =
      std::any_of(container.items, container.items + container.size,
                  [&](const CelValue& item) { return run.Equal(sought, item).IsTrue(); });
  return CelBool(found);
}

}  // namespace schedq::cel
