// Encodes code points as UTF-8.
#pragma once

#include <cstdint>
#include <string>

namespace schedq {

// A number that is no code point becomes U+FFFD.
inline void AppendUtf8(uint32_t rune, std::string* out) {
  if (rune > 0x10ffff || (rune >= 0xd800 && rune < 0xe000)) rune = 0xfffd;
  const auto continuation = [&](int shift) {
    *out += static_cast<char>(0x80 | ((rune >> shift) & 0x3f));
  };
  if (rune < 0x80) {
    *out += static_cast<char>(rune);
  } else if (rune < 0x800) {
    *out += static_cast<char>(0xc0 | (rune >> 6));
    continuation(0);
  } else if (rune < 0x10000) {
    *out += static_cast<char>(0xe0 | (rune >> 12));
    continuation(6);
    continuation(0);
  } else {
    *out += static_cast<char>(0xf0 | (rune >> 18));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

}  // namespace schedq
