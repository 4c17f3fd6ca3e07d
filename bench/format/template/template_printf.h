// Go's fmt.Sprint, Sprintln and Sprintf for Values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/format/template/value.h"
#include "engine/base/result.h"

namespace schedq {

inline constexpr int kPrintfWidthMax = 10'000;  // Also the bound of a precision.

// Adds a space between two operands when neither is a string.
std::string GoSprint(const std::vector<Value>& arguments);
// Adds a space between all operands, and a newline.
std::string GoSprintln(const std::vector<Value>& arguments);

// Knows the verbs v d s q t x X o b c U e E f F g G with flags, width and precision. A mismatch is
// printed as Go prints it (%!d(string=x), %!d(MISSING), %!(EXTRA int=1)). A width beyond the bound,
// `*` and explicit argument indexes are errors.
Result<Value> GoSprintf(std::string_view format, const std::vector<Value>& arguments);

}  // namespace schedq
