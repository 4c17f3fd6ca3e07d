// google-benchmark's own flags on the command line of `schedq bench`.
//
// Purpose: takes --benchmark_* arguments that CLI11 does not know, refuses what does not fit, and
// sorts them into those that schedq carries out itself and those that google-benchmark gets.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace schedq {

struct BenchmarkFlags {
  std::optional<std::string> filter;  // --benchmark_filter: the REGEX by another name.
  bool lists_tests = false;           // --benchmark_list_tests: --list by another name.
  std::optional<uint64_t> rounds;     // --benchmark_repetitions
  std::string out;                    // --benchmark_out: google-benchmark's JSON.
  bool has_min_time = false;
  std::vector<std::string> passed_on;  // For benchmark::Initialize, in their order.
};

bool IsBenchmarkFlag(const std::string& argument);

// All `arguments` are benchmark flags. The error goes after the command's name on one line.
Result<BenchmarkFlags> ParseBenchmarkFlags(const std::vector<std::string>& arguments);

}  // namespace schedq
