// What the titles of columns mean, told under the tables that use them.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace schedq {

struct Word {
  std::string_view title;
  std::string_view meaning;
};

// An explanation of each title in `tables` that needs one, in lines of at most `width` columns, and
// where the glossary is. Empty: none does. A title that is among `own` means what they say.
std::string WordsOf(const std::string& tables, size_t width, std::span<const Word> own = {});

}  // namespace schedq
