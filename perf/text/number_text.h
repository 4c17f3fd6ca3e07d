// Numbers for people: a few significant digits and a unit that fits.
//
// When not to use it: documents, which carry full precision.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace schedq {

// The decimal number that the whole text says; nullopt where it is none, infinite or not a number.
std::optional<double> ParseFiniteNumber(std::string_view text);

// "1.23", "12.3", "1,234": at least `digits` significant digits of a finite number, no exponent
// between 1e-4 and 1e15.
std::string NumberText(double value, int digits = 3);

// As Go prints a number with %g and %v: "0.1", "100000", "1e+06", "+Inf".
std::string GoFloatText(double value);

// "1,234,567"
std::string CountText(uint64_t count);

// "812 ns", "1.23 us", "4.56 ms", "7.89 s", "12.0 min", "2.50 h"
std::string DurationText(double nanoseconds);

// "512 B", "1.50 KiB", "2.25 GiB"
std::string BytesText(double bytes);

// "+4.9 %", "-0.3 %"
std::string ChangeText(double relative_change);

}  // namespace schedq
