// A string as whole words, padded with zeros, and its hash: what the interner compares and stores.
//
// Purpose: one pass over a key that may come in two parts, without allocating for keys of up to
// kInlineBytes bytes. The hash is the same on every little-endian machine and run.
// When not to use it: to keep text. It is a temporary on the stack of a lookup.
// Source of the hash: folded 64x64-bit multiplication, as in Wang Yi's wyhash.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "engine/base/time/time.h"

namespace schedq {

class PackedText {
 public:
  static constexpr size_t kInlineBytes = 320;

  explicit PackedText(std::string_view text) : PackedText(text, {}, {}) {}
  // The text "first/second".
  PackedText(std::string_view first, std::string_view second)
      : PackedText(first, std::string_view("/", 1), second) {}
  PackedText(const PackedText&) = delete;
  PackedText& operator=(const PackedText&) = delete;

  size_t size() const { return size_; }  // In bytes.
  std::span<const uint64_t> words() const { return {words_, (size_ + 7) / 8}; }
  uint64_t hash() const { return hash_; }

 private:
  PackedText(std::string_view first, std::string_view separator, std::string_view second)
      : size_(first.size() + separator.size() + second.size()) {
    if (size_ > kInlineBytes) {
      long_words_ = std::make_unique<uint64_t[]>((size_ + 7) / 8);
      words_ = long_words_.get();
    } else if (size_ > 0) {
      words_[(size_ - 1) / 8] = 0;
    }
    char* const bytes = reinterpret_cast<char*>(words_);
    Copy(bytes, first);
    if (!separator.empty()) bytes[first.size()] = separator.front();
    Copy(bytes + first.size() + separator.size(), second);
    hash_ = Hash();
  }

  // Names are short: a few loads and stores that overlap cost less than the call.
  static void Copy(char* to, std::string_view from) {
    const size_t size = from.size();
    if (size > 2 * sizeof(uint64_t)) {
      std::memcpy(to, from.data(), size);
    } else if (size >= sizeof(uint64_t)) {
      CopyEnds<uint64_t>(to, from);
    } else if (size >= sizeof(uint32_t)) {
      CopyEnds<uint32_t>(to, from);
    } else {
      for (size_t i = 0; i < size; ++i) to[i] = from[i];
    }
  }
  template <typename Word>
  static void CopyEnds(char* to, std::string_view from) {
    const size_t last = from.size() - sizeof(Word);
    Word begin;
    Word end;
    std::memcpy(&begin, from.data(), sizeof(Word));
    std::memcpy(&end, from.data() + last, sizeof(Word));
    std::memcpy(to, &begin, sizeof(Word));
    std::memcpy(to + last, &end, sizeof(Word));
  }

  static uint64_t FoldedProduct(uint64_t left, uint64_t right) {
    const auto product = static_cast<unsigned __int128>(left) * right;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

  uint64_t Hash() const {
    // Odd numbers without pattern: the fractions of square roots of primes.
    constexpr uint64_t kFirst = 0x9e3779b97f4a7c15;
    constexpr uint64_t kSecond = 0xbb67ae8584caa73b;
    constexpr uint64_t kThird = 0x3c6ef372fe94f82b;
    uint64_t hash = kFirst ^ size_;
    const std::span<const uint64_t> all = words();
    size_t word = 0;
    for (; word + 1 < all.size(); word += 2) {
      hash = FoldedProduct(all[word] ^ kSecond, all[word + 1] ^ hash);
    }
    if (word < all.size()) hash = FoldedProduct(all[word] ^ kSecond, hash ^ kThird);
    return FoldedProduct(hash ^ kFirst, kThird);
  }

  std::array<uint64_t, kInlineBytes / 8> inline_words_;  // The first words() are written.
  std::unique_ptr<uint64_t[]> long_words_;
  uint64_t* words_ = inline_words_.data();
  const size_t size_;
  uint64_t hash_;
};

}  // namespace schedq
