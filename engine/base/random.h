// Seeded random numbers that are the same on every machine, compiler and library.
//
// Purpose: all random numbers of a run. The standard library's distributions differ between
// libraries, and its logarithms between versions, so neither is used.
// When not to use it: for secrets.
// Threads: one; give each thread its own by Fork.
// Source: D. Blackman and S. Vigna, Scrambled Linear Pseudorandom Number Generators (xoshiro256++,
// seeded by SplitMix64); D. Lemire, Fast Random Integer Generation in an Interval; J. von Neumann,
// Various Techniques Used in Connection With Random Digits (exponential, by comparisons alone).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace schedq {

class Random {
 public:
  explicit Random(uint64_t seed);

  // 64 random bits.
  uint64_t Next();
  // Uniform below `bound`, which is above zero. Without bias; redraws with a probability below
  // bound / 2^64.
  uint64_t Below(uint64_t bound);
  // Uniform in [low, high].
  int64_t Between(int64_t low, int64_t high);
  // Uniform in [0, 1), a multiple of 2^-53.
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  bool Chance(double probability) { return Unit() < probability; }
  double Exponential(double mean);

  template <typename Container>
  void Shuffle(Container& container) {
    for (size_t left = container.size(); left > 1; --left) {
      std::swap(container[left - 1], container[Below(left)]);
    }
  }

  // A new generator for `stream`. It is the same each time for one seed, whatever was drawn before.
  Random Fork(uint64_t stream) const;

 private:
  uint64_t seed_;
  std::array<uint64_t, 4> state_;
};

// Ranks 0 to count - 1, rank i in proportion to (i + 1)^-exponent. Draws by a table of cumulative
// weights in units of 2^-40. The powers come from the standard library, whose versions differ; the
// rounding removes that difference for all but about one draw in 2^40. Memory: 8 bytes a rank.
class Zipf {
 public:
  Zipf(size_t count, double exponent);
  size_t Draw(Random& random) const;

 private:
  std::vector<uint64_t> cumulative_;
};

}  // namespace schedq
