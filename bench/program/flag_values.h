// What the value of a flag may be.
//
// Purpose: CLI11 converts values as C does: -1 and 2^64 become the largest number, 010 becomes 8,
// an empty text becomes 0, and nan passes every range. These validators accept a value only where
// it says the number that the command will use.
// Threads: pure functions.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace schedq {

inline constexpr uint64_t kAnyCount = std::numeric_limits<uint64_t>::max();

// Decimal digits without a sign and without needless zeros, from `min` to `max`.
CLI::Validator WholeNumber(uint64_t min, uint64_t max = kAnyCount);

// A finite decimal number from 0; with `is_above_zero` not 0 itself.
CLI::Validator FiniteNumber(bool is_above_zero = false);

// A text that is not empty, for the name of a file: an empty one is a script's unset variable.
CLI::Validator SomeName();

// A text that is not empty, for any other value.
CLI::Validator SomeText(const std::string& type);

// The first "--flag=" with nothing behind it, for which CLI11 would take the next argument.
std::optional<std::string> FlagWithoutValue(int argument_count, const char* const* arguments);

// --seed, the same for all commands.
void AddSeedFlag(CLI::App* app, uint64_t* seed, const std::string& about);

}  // namespace schedq
