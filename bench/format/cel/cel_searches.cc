// Functions on strings that search, take apart and put together.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bench/format/cel/cel_calls.h"
#include "bench/format/cel/cel_functions.h"
#include "bench/format/cel/cel_run.h"
#include "bench/format/cel/cel_value.h"
#include "perf/text/pattern.h"

namespace schedq::cel {
namespace {

// Finds where a separator occurs in a text, from left to right. An empty one occurs before each
// code point and at the end.
class Occurrences {
 public:
  Occurrences(std::string_view text, std::string_view sought) : text_(text), sought_(sought) {}

  // The byte of the next occurrence; npos where there is none.
  size_t Next() {
    if (done_) return std::string_view::npos;
    if (!sought_.empty()) {
      const size_t found = text_.find(sought_, at_);
      done_ = found == std::string_view::npos;
      at_ = done_ ? at_ : found + sought_.size();
      return found;
    }
    const size_t found = at_;
    done_ = at_ == text_.size();
    if (!done_) at_ += CelStepBytes(text_.substr(at_));
    return found;
  }

 private:
  std::string_view text_;
  std::string_view sought_;
  size_t at_ = 0;
  bool done_ = false;
};

// A limit argument: negative or missing means none.
uint64_t LimitOf(const CelValue& value, bool given) {
  const bool none = !given || value.integer < 0;
  return none ? std::numeric_limits<uint64_t>::max() : value.natural;
}

// The compiled pattern of a call; nullopt with an error in `error`.
std::optional<Pattern> CompilePattern(CelRun& run, const CelValue& pattern, CelValue* error) {
  if (!run.MayCompilePattern()) {
    *error = run.Stopped();
    return std::nullopt;
  }
  auto compiled = Pattern::Parse(pattern.view());
  if (!compiled.ok()) {
    *error = run.Fail("", compiled.error().message());
    return std::nullopt;
  }
  return std::move(*compiled);
}

template <typename Use>
CelValue WithPattern(CelRun& run, const CelValue* arguments, Use use) {
  const bool strings =
      arguments[0].kind == CelKind::kString && arguments[1].kind == CelKind::kString;
  if (!strings) return CelNoOverload();
  if (run.pattern() != nullptr) return use(*run.pattern(), arguments[0].view());
  CelValue error;
  const auto pattern = CompilePattern(run, arguments[1], &error);
  return pattern ? use(*pattern, arguments[0].view()) : error;
}

}  // namespace

CelValue Matches(CelRun& run, const CelValue* arguments, size_t) {
  return WithPattern(run, arguments, [](const Pattern& pattern, std::string_view text) {
    return CelBool(pattern.IsFoundIn(text));
  });
}

CelValue Find(CelRun& run, const CelValue* arguments, size_t) {
  return WithPattern(run, arguments, [](const Pattern& pattern, std::string_view text) {
    return CelString(pattern.Find(text).value_or(std::string_view()));
  });
}

CelValue Replace(CelRun& run, const CelValue* arguments, size_t count) {
  const bool strings = std::all_of(arguments, arguments + 3, [](const CelValue& value) {
    return value.kind == CelKind::kString;
  });
  const bool given = count == 4;
  if (!strings || (given && arguments[3].kind != CelKind::kInt)) return CelNoOverload();
  const uint64_t limit = given ? LimitOf(arguments[3], true) : LimitOf(arguments[0], false);
  const std::string_view text = arguments[0].view();
  const std::string_view old = arguments[1].view();
  const std::string_view fresh = arguments[2].view();
  size_t size = text.size();
  uint64_t replaced = 0;
  for (Occurrences found(text, old); replaced < limit; ++replaced) {
    if (found.Next() == std::string_view::npos) break;
    size += fresh.size() - old.size();  // May wrap around in between, but not at the end.
  }
  char* const place = run.NewText(size);
  if (place == nullptr) return run.Stopped();
  char* out = place;
  size_t copied = 0;
  Occurrences found(text, old);
  for (uint64_t i = 0; i < replaced; ++i) {
    const size_t at = found.Next();
    out = std::copy(text.begin() + copied, text.begin() + at, out);
    out = std::copy(fresh.begin(), fresh.end(), out);
    copied = at + old.size();
  }
  std::copy(text.begin() + copied, text.end(), out);
  return CelString({place, size});
}

CelValue Split(CelRun& run, const CelValue* arguments, size_t count) {
  const bool given = count == 3;
  const bool fits = arguments[0].kind == CelKind::kString &&
                    arguments[1].kind == CelKind::kString &&
                    (!given || arguments[2].kind == CelKind::kInt);
  if (!fits) return CelNoOverload();
  const uint64_t limit = given ? LimitOf(arguments[2], true) : LimitOf(arguments[0], false);
  const std::string_view text = arguments[0].view();
  const std::string_view separator = arguments[1].view();
  if (limit == 0) return CelList(nullptr, 0);
  // Without a separator there is a part for each code point, and none of an empty text.
  const bool letters = separator.empty();
  if (letters && text.empty()) return CelList(nullptr, 0);
  size_t parts = 1;
  Occurrences counted(text, separator);
  if (letters) counted.Next();
  while (parts < limit) {
    const size_t at = counted.Next();
    if (at == std::string_view::npos || (letters && at == text.size())) break;
    ++parts;
  }
  CelValue* const items = run.NewItems(parts);
  if (items == nullptr) return run.Stopped();
  Occurrences found(text, separator);
  if (letters) found.Next();
  size_t begin = 0;
  for (size_t i = 0; i + 1 < parts; ++i) {
    const size_t at = found.Next();
    items[i] = CelString(text.substr(begin, at - begin));
    begin = at + separator.size();
  }
  items[parts - 1] = CelString(text.substr(begin));
  return CelList(items, parts);
}

CelValue Join(CelRun& run, const CelValue* arguments, size_t count) {
  const CelValue& list = arguments[0];
  if (list.kind != CelKind::kList) return CelNoOverload();
  if (count == 2 && arguments[1].kind != CelKind::kString) return CelNoOverload();
  const std::string_view separator = count == 2 ? arguments[1].view() : std::string_view();
  size_t size = 0;
  for (uint32_t i = 0; i < list.size; ++i) {
    if (list.items[i].kind != CelKind::kString) return CelNoOverload();
    size += list.items[i].size + (i > 0 ? separator.size() : 0);
  }
  char* const place = run.NewText(size);
  if (place == nullptr) return run.Stopped();
  char* out = place;
  for (uint32_t i = 0; i < list.size; ++i) {
    const std::string_view text = list.items[i].view();
    if (i > 0) out = std::copy(separator.begin(), separator.end(), out);
    out = std::copy(text.begin(), text.end(), out);
  }
  return CelString({place, size});
}

}  // namespace schedq::cel
