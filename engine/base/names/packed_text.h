// A string as whole words, padded with zeros, and its hash: what the interner compares and stores.
//
// Purpose: one pass over a key that may come in two parts, without allocating for keys of up to
// kInlineBytes bytes. For one key the hash is the same on every little-endian machine.
// When not to use it: to keep text. It is a temporary on the stack of a lookup.
// Source of the hash: folded 64x64-bit multiplication, as in Wang Yi's wyhash, with secret numbers
// in the place of its constants. A word that equals the number that it is mixed with makes the
// product zero, whatever its neighbour is. With a constant, anyone can write such words.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "engine/base/names/name_key.h"

namespace schedq {

class PackedText {
 public:
  static constexpr size_t kInlineBytes = 320;

  PackedText(const NameKey& key, std::string_view text) : PackedText(key, text, {}, {}) {}
  // The text "first/second".
  PackedText(const NameKey& key, std::string_view first, std::string_view second)
      : PackedText(key, first, std::string_view("/", 1), second) {}
  PackedText(const PackedText&) = delete;
  PackedText& operator=(const PackedText&) = delete;

  size_t size() const { return size_; }  // In bytes.
  std::span<const uint64_t> words() const { return {words_, (size_ + 7) / 8}; }
  uint64_t hash() const { return hash_; }

 private:
  PackedText(const NameKey& key, std::string_view first, std::string_view separator,
             std::string_view second)
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
    hash_ = Hash(key);
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

  uint64_t Hash(const NameKey& key) const {
    // An odd number without pattern: the fraction of the square root of a prime.
    constexpr uint64_t kFactor = 0x3c6ef372fe94f82b;
    uint64_t hash = key.first ^ size_;
    const std::span<const uint64_t> all = words();
    size_t word = 0;
    for (; word + 1 < all.size(); word += 2) {
      hash = FoldedProduct(all[word] ^ key.second, all[word + 1] ^ hash);
    }
    if (word < all.size()) hash = FoldedProduct(all[word] ^ key.second, hash ^ kFactor);
    return FoldedProduct(hash ^ key.first, kFactor);
  }

  std::array<uint64_t, kInlineBytes / 8> inline_words_;  // The first words() are written.
  std::unique_ptr<uint64_t[]> long_words_;
  uint64_t* words_ = inline_words_.data();
  const size_t size_;
  uint64_t hash_;
};

}  // namespace schedq
