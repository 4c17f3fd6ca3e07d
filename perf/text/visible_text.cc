#include "perf/text/visible_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>

namespace schedq {
namespace {

uint8_t ByteAt(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

// C0 and DEL are one byte; C1, U+0080 to U+009F, is 0xC2 and a byte below 0xA0. XML allows neither
// these nor U+FFFE and U+FFFF.
bool IsControl(std::string_view point) {
  const uint8_t first = ByteAt(point, 0);
  if (point.size() == 1) return first < 0x20 || first == 0x7f;
  if (point == "\xef\xbf\xbe" || point == "\xef\xbf\xbf") return true;
  return point.size() == 2 && first == 0xc2 && ByteAt(point, 1) < 0xa0;
}

void AppendAsNumbers(std::string_view bytes, std::string* out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (size_t i = 0; i < bytes.size(); ++i) {
    *out += "\\x";
    *out += kDigits[ByteAt(bytes, i) >> 4];
    *out += kDigits[ByteAt(bytes, i) & 0xf];
  }
}

std::string Shown(std::string_view text, std::string_view kept) {
  std::string shown;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const std::string_view point = text.substr(0, std::max<size_t>(length, 1));
    const bool is_kept = kept.find(point) != std::string_view::npos;
    if (length != 0 && (is_kept || !IsControl(point))) {
      shown += point;
    } else {
      AppendAsNumbers(point, &shown);
    }
    text.remove_prefix(point.size());
  }
  return shown;
}

// Where a second byte of the usual range would make an overlong form, a surrogate or a number
// beyond U+10FFFF, the range is smaller.
bool IsSecondByte(uint8_t first, uint8_t second) {
  switch (first) {
    case 0xe0:
      return second >= 0xa0 && second < 0xc0;
    case 0xed:
      return second >= 0x80 && second < 0xa0;
    case 0xf0:
      return second >= 0x90 && second < 0xc0;
    case 0xf4:
      return second >= 0x80 && second < 0x90;
    default:
      return second >= 0x80 && second < 0xc0;
  }
}

}  // namespace

size_t Utf8Length(std::string_view text) {
  const uint8_t first = ByteAt(text, 0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < length || !IsSecondByte(first, ByteAt(text, 1))) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((ByteAt(text, i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

size_t FindWhatIsNotUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string VisibleText(std::string_view text) { return Shown(text, ""); }

std::string VisibleLines(std::string_view text) { return Shown(text, "\n\t"); }

std::string ShellWord(std::string_view text) {
  const auto is_plain = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view("_-./:=,+@%").find(letter) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string word = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      word += "'\\''";
    } else {
      word += letter;
    }
  }
  return word + '\'';
}

std::string XmlText(std::string_view text) {
  std::string escaped;
  for (const char letter : VisibleLines(text)) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

}  // namespace schedq
