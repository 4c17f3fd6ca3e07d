// Functions on strings, whose positions count code points.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bench/format/cel/cel_calls.h"
#include "bench/format/cel/cel_functions.h"
#include "bench/format/cel/cel_run.h"
#include "bench/format/cel/cel_value.h"

namespace schedq::cel {
namespace {

bool AreStrings(const CelValue* arguments, size_t count) {
  return std::all_of(arguments, arguments + count,
                     [](const CelValue& value) { return value.kind == CelKind::kString; });
}

// The byte at which a code point begins; nullopt beyond the end, which is a position itself.
std::optional<size_t> ByteOf(std::string_view text, int64_t position) {
  if (position < 0) return std::nullopt;
  size_t at = 0;
  for (; position > 0 && at < text.size(); --position) at += CelStepBytes(text.substr(at));
  if (position > 0) return std::nullopt;
  return at;
}

CelValue OutOfRange(CelRun& run, int64_t position) {
  return run.Fail("index out of range: ", std::to_string(position));
}

CelValue MapLetters(CelRun& run, const CelValue& value, char first, char last) {
  if (value.kind != CelKind::kString) return CelNoOverload();
  char* const place = run.NewText(value.size);
  if (place == nullptr) return run.Stopped();
  const std::string_view text = value.view();
  std::transform(text.begin(), text.end(), place, [&](char letter) {
    return letter >= first && letter <= last ? static_cast<char>(letter ^ 0x20) : letter;
  });
  return CelString({place, value.size});
}

// The size of the white space, as Unicode has it, that a text begins with.
size_t SpaceBytes(std::string_view text) {
  constexpr std::string_view kAscii = "\t\n\v\f\r ";
  if (text.empty()) return 0;
  if (kAscii.find(text[0]) != std::string_view::npos) return 1;
  constexpr std::string_view kTwo[] = {"\xc2\x85", "\xc2\xa0"};
  constexpr std::string_view kThree[] = {
      "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82", "\xe2\x80\x83",
      "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87", "\xe2\x80\x88",
      "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf",
      "\xe2\x81\x9f", "\xe3\x80\x80"};
  const auto begins = [&](std::string_view space) { return text.substr(0, space.size()) == space; };
  if (std::any_of(std::begin(kTwo), std::end(kTwo), begins)) return 2;
  return std::any_of(std::begin(kThree), std::end(kThree), begins) ? 3 : 0;
}

}  // namespace

CelValue Contains(CelRun&, const CelValue* arguments, size_t count) {
  if (!AreStrings(arguments, count)) return CelNoOverload();
  return CelBool(arguments[0].view().find(arguments[1].view()) != std::string_view::npos);
}

CelValue StartsWith(CelRun&, const CelValue* arguments, size_t count) {
  if (!AreStrings(arguments, count)) return CelNoOverload();
  const std::string_view prefix = arguments[1].view();
  return CelBool(arguments[0].view().substr(0, prefix.size()) == prefix);
}

CelValue EndsWith(CelRun&, const CelValue* arguments, size_t count) {
  if (!AreStrings(arguments, count)) return CelNoOverload();
  const std::string_view text = arguments[0].view();
  const std::string_view suffix = arguments[1].view();
  return CelBool(text.size() >= suffix.size() &&
                 text.substr(text.size() - suffix.size()) == suffix);
}

CelValue CharAt(CelRun& run, const CelValue* arguments, size_t) {
  if (arguments[0].kind != CelKind::kString || arguments[1].kind != CelKind::kInt) {
    return CelNoOverload();
  }
  const std::string_view text = arguments[0].view();
  const auto at = ByteOf(text, arguments[1].integer);
  if (!at) return OutOfRange(run, arguments[1].integer);
  const std::string_view rest = text.substr(*at);
  return CelString(rest.empty() ? rest : rest.substr(0, CelStepBytes(rest)));
}

CelValue Substring(CelRun& run, const CelValue* arguments, size_t count) {
  const bool ints =
      arguments[1].kind == CelKind::kInt && (count == 2 || arguments[2].kind == CelKind::kInt);
  if (arguments[0].kind != CelKind::kString || !ints) return CelNoOverload();
  const std::string_view text = arguments[0].view();
  const int64_t first = arguments[1].integer;
  if (count == 3 && first > arguments[2].integer) {
    return run.Fail("invalid substring range. start: ",
                    std::to_string(first) + ", end: " + std::to_string(arguments[2].integer));
  }
  const auto begin = ByteOf(text, first);
  if (!begin) return OutOfRange(run, first);
  if (count == 2) return CelString(text.substr(*begin));
  const auto end = ByteOf(text, arguments[2].integer);
  if (!end) return OutOfRange(run, arguments[2].integer);
  return CelString(text.substr(*begin, *end - *begin));
}

CelValue IndexOf(CelRun& run, const CelValue* arguments, size_t count) {
  if (arguments[0].kind == CelKind::kList && count == 2) return ItemIndex(run, arguments, false);
  const bool offset = count == 3;
  if (!AreStrings(arguments, 2) || (offset && arguments[2].kind != CelKind::kInt)) {
    return CelNoOverload();
  }
  const std::string_view text = arguments[0].view();
  const int64_t from = offset ? arguments[2].integer : 0;
  if (from < 0) return OutOfRange(run, from);
  const auto begin = ByteOf(text, from);
  if (!begin) {
    const bool empty = arguments[1].size == 0;
    return CelInt(empty ? static_cast<int64_t>(CelCodePoints(text)) : -1);
  }
  const size_t found = text.find(arguments[1].view(), *begin);
  if (found == std::string_view::npos) return CelInt(-1);
  return CelInt(static_cast<int64_t>(CelCodePoints(text.substr(0, found))));
}

CelValue LastIndexOf(CelRun& run, const CelValue* arguments, size_t count) {
  if (arguments[0].kind == CelKind::kList && count == 2) return ItemIndex(run, arguments, true);
  const bool offset = count == 3;
  if (!AreStrings(arguments, 2) || (offset && arguments[2].kind != CelKind::kInt)) {
    return CelNoOverload();
  }
  const std::string_view text = arguments[0].view();
  const std::string_view sought = arguments[1].view();
  const auto size = static_cast<int64_t>(CelCodePoints(text));
  const int64_t from = offset ? arguments[2].integer : size;
  if (from < 0) return OutOfRange(run, from);
  if (sought.empty()) return CelInt(std::min(from, size));
  // Upstream finds nothing from a position at the end or beyond it.
  if (offset && from >= size) return CelInt(-1);
  const size_t found = text.rfind(sought, *ByteOf(text, from));
  if (found == std::string_view::npos) return CelInt(-1);
  return CelInt(static_cast<int64_t>(CelCodePoints(text.substr(0, found))));
}

CelValue LowerAscii(CelRun& run, const CelValue* arguments, size_t) {
  return MapLetters(run, arguments[0], 'A', 'Z');
}

CelValue UpperAscii(CelRun& run, const CelValue* arguments, size_t) {
  return MapLetters(run, arguments[0], 'a', 'z');
}

CelValue Trim(CelRun&, const CelValue* arguments, size_t) {
  if (arguments[0].kind != CelKind::kString) return CelNoOverload();
  std::string_view text = arguments[0].view();
  while (const size_t space = SpaceBytes(text)) text.remove_prefix(space);
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (size_t bytes = 1; bytes <= 3 && bytes <= text.size() && !shorter; ++bytes) {
      shorter = SpaceBytes(text.substr(text.size() - bytes)) == bytes;
      if (shorter) text.remove_suffix(bytes);
    }
  }
  return CelString(text);
}

}  // namespace schedq::cel
