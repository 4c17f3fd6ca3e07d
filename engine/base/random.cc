#include "engine/base/random.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/base/result.h"

namespace schedq {
namespace {

uint64_t SplitMix(uint64_t& state) {
  uint64_t mixed = (state += 0x9e3779b97f4a7c15);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

}  // namespace

Random::Random(uint64_t seed) : seed_(seed) {
  uint64_t mixer = seed;
  for (uint64_t& word : state_) word = SplitMix(mixer);
}

uint64_t Random::Next() {
  const uint64_t drawn = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return drawn;
}

uint64_t Random::Below(uint64_t bound) {
  SCHEDQ_CHECK(bound > 0, "nothing is below zero");
  // The high half of a product is uniform once the few low halves that would give some results one
  // chance more than others are drawn again.
  unsigned __int128 product = static_cast<unsigned __int128>(Next()) * bound;
  if (static_cast<uint64_t>(product) < bound) {
    const uint64_t surplus = (0 - bound) % bound;
    while (static_cast<uint64_t>(product) < surplus) {
      product = static_cast<unsigned __int128>(Next()) * bound;
    }
  }
  return static_cast<uint64_t>(product >> 64);
}

int64_t Random::Between(int64_t low, int64_t high) {
  SCHEDQ_CHECK(low <= high, "an interval's low end is not above its high end");
  const uint64_t width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  const uint64_t offset = width == 0 ? Next() : Below(width);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

double Random::Exponential(double mean) {
  // A run of falling draws has odd length with a probability that makes its first draw the fraction
  // of an exponential number; each run of even length adds one to the whole part. Two runs suffice
  // on average, and a run of n has probability below 1/n!.
  for (double whole = 0;; whole += 1) {
    const double first = Unit();
    double last = first;
    bool is_odd = true;
    for (double next = Unit(); next < last; next = Unit()) {
      last = next;
      is_odd = !is_odd;
    }
    if (is_odd) return mean * (whole + first);
  }
}

Random Random::Fork(uint64_t stream) const {
  uint64_t mixer = seed_;
  const uint64_t mixed_seed = SplitMix(mixer);
  uint64_t stream_mixer = stream ^ mixed_seed;
  return Random(SplitMix(stream_mixer));
}

Zipf::Zipf(size_t count, double exponent) {
  SCHEDQ_CHECK(count > 0, "a distribution has at least one rank");
  std::vector<double> sums(count);
  double sum = 0;
  for (size_t rank = 0; rank < count; ++rank) {
    sum += std::pow(static_cast<double>(rank + 1), -exponent);
    sums[rank] = sum;
  }
  cumulative_.resize(count);
  for (size_t rank = 0; rank < count; ++rank) {
    cumulative_[rank] = static_cast<uint64_t>(std::llround(sums[rank] / sum * 0x1.0p40));
  }
}

size_t Zipf::Draw(Random& random) const {
  const uint64_t point = random.Next() >> 24;
  const auto above = std::upper_bound(cumulative_.begin(), cumulative_.end(), point);
  return static_cast<size_t>(above - cumulative_.begin());
}

}  // namespace schedq
