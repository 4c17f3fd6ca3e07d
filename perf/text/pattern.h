// Regular expressions in the syntax of RE2, for choosing things by name.
//
// Purpose: the one matcher of the program. A search takes time linear in the text, and an
// expression of any content is compiled or refused within a fixed memory, so that no flag can make
// a command hang or crash. RE2 has neither references to groups nor look-around.
// Threads: immutable once made; any thread.
// Memory: at most kPatternMemoryMax bytes an expression, caches of its searches included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/result.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace schedq {

inline constexpr int64_t kPatternMemoryMax = 8 << 20;
inline constexpr size_t kPatternBytesMax = 64 << 10;

class Pattern {
 public:
  // An error quotes the expression, shortened, and says why it is none: "'(': missing ), expected
  // a regular expression of RE2".
  static Result<Pattern> Parse(std::string_view expression);

  // Whether the expression matches a part of the text. The empty expression is found everywhere.
  bool IsFoundIn(std::string_view text) const;
  // The first part of the text that the expression matches; nullopt where it matches none.
  std::optional<std::string_view> Find(std::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const re2::RE2> compiled_;
};

// The expression that is found in this text as a whole, and in no other.
std::string PatternOfExactly(std::string_view text);

}  // namespace schedq
