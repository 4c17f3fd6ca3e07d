// Where two recorded runs of one workload part: the first operation that differs, the first pod
// that went another way, and what became of that pod on both sides.
//
// Purpose: a counter says that something changed; this says what happened first.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace schedq {

struct TraceDifference {
  size_t line = 0;   // Of both files, from 1.
  std::string base;  // What the base did there, in words; empty: its trace had ended.
  std::string next;
  std::string pod;  // Empty: no pod went another way.
  // What became of the pod, oldest first, up to its first steps behind the difference.
  std::vector<std::string> base_history;
  std::vector<std::string> next_history;
};

// nullopt: the traces are the same. An error: one is no trace.
Result<std::optional<TraceDifference>> FindTraceDifference(std::string_view base,
                                                           std::string_view next);

// The difference as lines of text, with a line break each.
std::string TraceDifferenceText(const TraceDifference& difference);

}  // namespace schedq
