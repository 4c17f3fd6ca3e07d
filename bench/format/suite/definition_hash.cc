#include "bench/format/suite/definition_hash.h"

#include <cstddef>

namespace schedq {
namespace {

constexpr uint64_t kPrime = 1099511628211u;
constexpr int kBitsAByte = 8;
constexpr int kBitsADigit = 4;
constexpr int kDigits = 16;

}  // namespace

void DefinitionHash::AddByte(uint8_t byte) {
  value_ ^= byte;
  value_ *= kPrime;
}

void DefinitionHash::Add(std::string_view text) {
  for (size_t i = 0; i < sizeof(uint64_t); ++i) {
    AddByte(static_cast<uint8_t>(uint64_t{text.size()} >> (i * kBitsAByte)));
  }
  for (const char c : text) AddByte(static_cast<uint8_t>(c));
}

std::string DefinitionHash::Text() const {
  constexpr std::string_view kHexadecimal = "0123456789abcdef";
  std::string text(kDigits, '0');
  for (int i = 0; i < kDigits; ++i) {
    text[static_cast<size_t>(kDigits - 1 - i)] = kHexadecimal[value_ >> (i * kBitsADigit) & 0xf];
  }
  return text;
}

}  // namespace schedq
