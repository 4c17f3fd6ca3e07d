// The functions and operators that expressions may call, with their types and costs.
//
// Purpose: one table that the checker and the evaluator share. An overload is written as its types:
// "ii:i" takes two ints and gives an int, ".ss:b" is a method of a string that takes a string and
// gives a bool. b bool, i int, u uint, d double, s string, y bytes, q quantity, v version, * dyn,
// L list of, M map from and to, T type of, A and B any types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bench/format/cel/cel_value.h"

namespace schedq {

class CelRun;

// An error of these words is replaced by one that names the function and its operands.
inline constexpr std::string_view kCelNoOverload = "no such overload";
inline CelValue CelNoOverload() { return CelError(kCelNoOverload); }

using CelCall = CelValue (*)(CelRun& run, const CelValue* arguments, size_t count);

inline constexpr size_t kCelArgumentsMax = 4;

// What a call costs, by the rules of upstream's cost tracker.
enum class CelCost : uint8_t {
  kOne,
  kFirstSize,   // A tenth of the first operand's size.
  kFirstTwice,  // A fifth of it.
  kSecondSize,  // A tenth of the second operand's size.
  kResultSize,  // A fifth of the result's size.
  kEqual,       // A tenth of the lesser size.
  kOrder,       // The same for texts of known type, else one.
  kSum,         // A tenth of both sizes for texts of known type, else one.
  kText,        // kFirstSize where the type is known, else one.
  kSearch,      // The product of a tenth of either size.
  kPattern,     // The product of a tenth of the text and a quarter of the pattern.
  kMember,      // The list's size where its type is known, else one.
  kTraversal,   // One for each item, a tenth of the bytes for texts.
};

struct CelFunction {
  std::string_view name;
  std::string_view overloads;  // Parted by '|'.
  CelCost cost;
  CelCall call;
};

// The number of the function with this name in the table; -1 where there is none.
int FindCelFunction(std::string_view name);
const CelFunction& CelFunctionAt(size_t number);

// Whether upstream has a function of this name that is not modelled.
bool IsUnmodelledCelFunction(std::string_view name);

}  // namespace schedq
