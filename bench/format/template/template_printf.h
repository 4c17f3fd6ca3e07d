// Go's fmt.Sprint, Sprintln and Sprintf for Values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/format/template/value.h"
#include "engine/base/result.h"

namespace schedq {

inline constexpr int kPrintfWidthMax = 10'000;  // Also of a precision.

// Spaces between operands when neither is a string.
std::string GoSprint(const std::vector<Value>& arguments);
// Always spaces, and a newline.
std::string GoSprintln(const std::vector<Value>& arguments);

// Verbs v d s q t x X o b c U e E f F g G with flags, width and precision; a mismatch prints as Go
// does it (%!d(string=x), %!d(MISSING), %!(EXTRA int=1)). An error: widths beyond the bound, `*`
// and explicit argument indexes, which are not supported.
Result<Value> GoSprintf(std::string_view format, const std::vector<Value>& arguments);

}  // namespace schedq
