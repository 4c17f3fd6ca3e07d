// What the titles of columns mean, told under the tables that use them.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <string>

namespace schedq {

// An explanation of each title in `tables` that needs one, in lines of at most `width` columns, and
// where the glossary is. Empty: none does.
std::string WordsOf(const std::string& tables, size_t width);

}  // namespace schedq
