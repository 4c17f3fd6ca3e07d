// What an operation touches that other threads touch too, for rows of `schedq bench`.
//
// Purpose: a path of `schedq scale` counted once, on eight virtual threads (bench/lab/scale), as
// counters of a contender. A row with one thread has them as well: they are the operation's, not
// the row's.
// Threads: the main thread only.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace schedq {

// The names under which a contender has them.
inline constexpr const char* kContendedCounter = "contended_updates_per_operation";
inline constexpr const char* kLinesCounter = "lines_per_operation";

using Counters = std::map<std::string, double>;
using CountOnce = std::function<Counters()>;

// Counts the product's code on this path when it is called first; a tiny one on few operations.
CountOnce CountedOn(const std::string& path, bool is_tiny);

}  // namespace schedq
