// What the functions of the table in cel_functions.cc do. Each gets operands that are no errors, in
// the number of one of its overloads but of any kind.
#pragma once

#include <cstddef>

#include "bench/format/cel/cel_run.h"
#include "bench/format/cel/cel_value.h"

namespace schedq::cel {

// Operators (cel_operators.cc).
CelValue Add(CelRun& run, const CelValue* arguments, size_t count);
CelValue Subtract(CelRun& run, const CelValue* arguments, size_t count);
CelValue Multiply(CelRun& run, const CelValue* arguments, size_t count);
CelValue Divide(CelRun& run, const CelValue* arguments, size_t count);
CelValue Modulo(CelRun& run, const CelValue* arguments, size_t count);
CelValue Negate(CelRun& run, const CelValue* arguments, size_t count);
CelValue Negation(CelRun& run, const CelValue* arguments, size_t count);
CelValue Equals(CelRun& run, const CelValue* arguments, size_t count);
CelValue NotEquals(CelRun& run, const CelValue* arguments, size_t count);
CelValue Less(CelRun& run, const CelValue* arguments, size_t count);
CelValue LessEquals(CelRun& run, const CelValue* arguments, size_t count);
CelValue Greater(CelRun& run, const CelValue* arguments, size_t count);
CelValue GreaterEquals(CelRun& run, const CelValue* arguments, size_t count);
CelValue In(CelRun& run, const CelValue* arguments, size_t count);

// Conversions (cel_conversions.cc).
CelValue Size(CelRun& run, const CelValue* arguments, size_t count);
CelValue TypeOf(CelRun& run, const CelValue* arguments, size_t count);
CelValue ToDyn(CelRun& run, const CelValue* arguments, size_t count);
CelValue ToBool(CelRun& run, const CelValue* arguments, size_t count);
CelValue ToBytes(CelRun& run, const CelValue* arguments, size_t count);
CelValue ToDouble(CelRun& run, const CelValue* arguments, size_t count);
CelValue ToInt(CelRun& run, const CelValue* arguments, size_t count);
CelValue ToString(CelRun& run, const CelValue* arguments, size_t count);
CelValue ToUint(CelRun& run, const CelValue* arguments, size_t count);

// Strings (cel_strings.cc, cel_searches.cc).
CelValue Contains(CelRun& run, const CelValue* arguments, size_t count);
CelValue StartsWith(CelRun& run, const CelValue* arguments, size_t count);
CelValue EndsWith(CelRun& run, const CelValue* arguments, size_t count);
CelValue Matches(CelRun& run, const CelValue* arguments, size_t count);
CelValue Find(CelRun& run, const CelValue* arguments, size_t count);
CelValue CharAt(CelRun& run, const CelValue* arguments, size_t count);
CelValue IndexOf(CelRun& run, const CelValue* arguments, size_t count);
CelValue LastIndexOf(CelRun& run, const CelValue* arguments, size_t count);
CelValue LowerAscii(CelRun& run, const CelValue* arguments, size_t count);
CelValue UpperAscii(CelRun& run, const CelValue* arguments, size_t count);
CelValue Replace(CelRun& run, const CelValue* arguments, size_t count);
CelValue Split(CelRun& run, const CelValue* arguments, size_t count);
CelValue Substring(CelRun& run, const CelValue* arguments, size_t count);
CelValue Trim(CelRun& run, const CelValue* arguments, size_t count);
CelValue Join(CelRun& run, const CelValue* arguments, size_t count);

// Lists (cel_lists.cc).
CelValue Includes(CelRun& run, const CelValue* arguments, size_t count);
CelValue IsSorted(CelRun& run, const CelValue* arguments, size_t count);
CelValue Sum(CelRun& run, const CelValue* arguments, size_t count);
CelValue Least(CelRun& run, const CelValue* arguments, size_t count);
CelValue Greatest(CelRun& run, const CelValue* arguments, size_t count);
CelValue ItemIndex(CelRun& run, const CelValue* arguments, bool last);

// Quantities and versions (cel_kubernetes.cc).
CelValue ToQuantity(CelRun& run, const CelValue* arguments, size_t count);
CelValue IsQuantity(CelRun& run, const CelValue* arguments, size_t count);
CelValue ToVersion(CelRun& run, const CelValue* arguments, size_t count);
CelValue IsVersion(CelRun& run, const CelValue* arguments, size_t count);
CelValue IsLessThan(CelRun& run, const CelValue* arguments, size_t count);
CelValue IsGreaterThan(CelRun& run, const CelValue* arguments, size_t count);
CelValue CompareTo(CelRun& run, const CelValue* arguments, size_t count);
CelValue Sign(CelRun& run, const CelValue* arguments, size_t count);
CelValue IsInteger(CelRun& run, const CelValue* arguments, size_t count);
CelValue AsInteger(CelRun& run, const CelValue* arguments, size_t count);
CelValue AsApproximateFloat(CelRun& run, const CelValue* arguments, size_t count);
CelValue AddQuantity(CelRun& run, const CelValue* arguments, size_t count);
CelValue SubtractQuantity(CelRun& run, const CelValue* arguments, size_t count);
CelValue Major(CelRun& run, const CelValue* arguments, size_t count);
CelValue Minor(CelRun& run, const CelValue* arguments, size_t count);
CelValue Patch(CelRun& run, const CelValue* arguments, size_t count);

// -1, 0 or 1 for two values that have an order, an error for others.
CelValue Compare(const CelValue& left, const CelValue& right);

}  // namespace schedq::cel
