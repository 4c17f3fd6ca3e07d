// A set of small numbers that finds its next member quickly.
//
// Purpose: it tells which buckets of a wheel are not empty, so that empty ticks cost nothing.
// Threads: one at a time. Memory: one bit a number, and a sixty-fourth of that for the summary.
// Invariant: a bit of the summary is set exactly where the word that it stands for is not zero.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace schedq {

class OccupancyMap {
 public:
  explicit OccupancyMap(size_t size)
      : words_((size + kWordBits - 1) / kWordBits),
        summary_((words_.size() + kWordBits - 1) / kWordBits) {}

  void Insert(size_t number) {
    const size_t word = number / kWordBits;
    words_[word] |= Bit(number);
    summary_[word / kWordBits] |= Bit(word);
  }

  void Erase(size_t number) {
    const size_t word = number / kWordBits;
    words_[word] &= ~Bit(number);
    if (words_[word] == 0) summary_[word / kWordBits] &= ~Bit(word);
  }

  // The smallest member that is not below `from`.
  std::optional<size_t> FindFrom(size_t from) const {
    size_t word = from / kWordBits;
    if (word >= words_.size()) return std::nullopt;
    const uint64_t here = words_[word] & AtOrAbove(from);
    if (here != 0) return FirstOf(word, here);
    ++word;
    size_t group = word / kWordBits;
    if (group >= summary_.size()) return std::nullopt;
    uint64_t words = summary_[group] & AtOrAbove(word);
    // At most as many rounds as the summary has words; a wheel's has a few.
    while (words == 0) {
      if (++group == summary_.size()) return std::nullopt;
      words = summary_[group];
    }
    const size_t found = FirstOf(group, words);
    return FirstOf(found, words_[found]);
  }

 private:
  static constexpr size_t kWordBits = 64;

  static uint64_t Bit(size_t number) { return uint64_t{1} << (number % kWordBits); }
  static uint64_t AtOrAbove(size_t number) { return ~uint64_t{0} << (number % kWordBits); }
  static size_t FirstOf(size_t word, uint64_t bits) {
    return word * kWordBits + static_cast<size_t>(std::countr_zero(bits));
  }

  std::vector<uint64_t> words_;
  std::vector<uint64_t> summary_;
};

}  // namespace schedq
