// Goal: without the key nobody can make names that are neighbours in a table.
// Method: names made to meet under one key, as an attacker that had it would make them, are
// acquired and found under that key, where they must be slow (or the test shows nothing), and under
// other keys, where they must be about as fast as random names.
#include "engine/base/names/name_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/base/names/packed_text.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"

namespace schedq {
namespace {

constexpr uint32_t kNames = 20'000;

std::string BytesOf(uint64_t word) {
  std::string bytes(sizeof(word), '\0');
  std::memcpy(bytes.data(), &word, sizeof(word));
  return bytes;
}

// Under a key whose second word is this one, all of them have one hash: the first word makes the
// product with its neighbour zero, and only the neighbours differ.
std::vector<std::string> NamesThatMeet(uint64_t second, uint32_t count) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < count; ++i) names.push_back(BytesOf(second) + BytesOf(i));
  return names;
}

std::vector<std::string> RandomNames(uint32_t count) {
  Random random(3);
  std::vector<std::string> names;
  for (uint32_t i = 0; i < count; ++i) {
    names.push_back(BytesOf(random.Next()) + BytesOf(random.Next()));
  }
  return names;
}

size_t HashesOf(const NameKey& key, const std::vector<std::string>& names) {
  std::set<uint64_t> hashes;
  for (const std::string& name : names) hashes.insert(PackedText(key, name).hash());
  return hashes.size();
}

// The time to acquire and to find all of them, the best of some trials.
Duration TimeOf(const std::vector<std::string>& names, NameKey key) {
  Duration best = Duration::max();
  for (int trial = 0; trial < 5; ++trial) {
    Interner interner(/*first_bits=*/10, key);
    const auto began = std::chrono::steady_clock::now();
    for (const std::string& name : names) interner.Acquire(name);
    for (const std::string& name : names) EXPECT_TRUE(interner.Find(name).has_value());
    best = std::min<Duration>(best, std::chrono::steady_clock::now() - began);
  }
  return best;
}

// The words that an earlier hash mixed with names, for all to read.
constexpr uint64_t kPublicWord = 0xbb67ae8584caa73b;

TEST(NameKey, NamesThatMetUnderAPublicHashAreAsFastAsOthers) {
  const NameKey key = NameKey::OfProcess();
  const std::vector<std::string> names = NamesThatMeet(kPublicWord, kNames);
  ASSERT_EQ(HashesOf({.first = 0x9e3779b97f4a7c15, .second = kPublicWord}, names), 1u);
  EXPECT_EQ(HashesOf(key, names), names.size());
  EXPECT_LE(TimeOf(names, key), 4 * TimeOf(RandomNames(kNames), key));
}

TEST(NameKey, NamesThatMeetUnderOneKeyDoNotUnderAnother) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const NameKey known = NameKey::FromSeed(seed);
    const std::vector<std::string> names = NamesThatMeet(known.second, 2'000);
    ASSERT_EQ(HashesOf(known, names), 1u);
    EXPECT_EQ(HashesOf(NameKey::FromSeed(seed + 1), names), names.size());
    EXPECT_EQ(HashesOf(NameKey::OfProcess(), names), names.size());
  }
}

TEST(NameKey, ZerosHideNoNeighbour) {
  const std::vector<std::string> names = NamesThatMeet(0, kNames);
  EXPECT_EQ(HashesOf(NameKey::OfProcess(), names), names.size());
}

TEST(NameKey, TablesOfTheProcessShareOneSecretKey) {
  EXPECT_EQ(NameKey::OfProcess(), NameKey::OfProcess());
  EXPECT_NE(NameKey::OfProcess(), NameKey());
  EXPECT_NE(NameKey::OfProcess(), NameKey::FromSeed(1));
  EXPECT_EQ(NameKey::FromSeed(7), NameKey::FromSeed(7));
  EXPECT_NE(NameKey::FromSeed(7), NameKey::FromSeed(8));
  EXPECT_NE(NameKey::FromSeed(7).first, NameKey::FromSeed(7).second);
}

TEST(NameKey, ATextHashesTheSameInOnePieceOrTwo) {
  const NameKey key = NameKey::OfProcess();
  EXPECT_EQ(PackedText(key, "a/b").hash(), PackedText(key, "a", "b").hash());
  const NameHash hash(key);
  EXPECT_EQ(hash("a/b"), PackedText(key, "a/b").hash());
}

// The numbers of names decide what simulated runs do, so they must not depend on the key.
TEST(NameKey, NumbersOfNamesDoNotDependOnTheKey) {
  Interner one(/*first_bits=*/1, NameKey::FromSeed(1));
  Interner other(/*first_bits=*/1, NameKey::FromSeed(2));
  Random random(5);
  std::vector<uint32_t> held;
  for (int step = 0; step < 20'000; ++step) {
    if (!held.empty() && random.Chance(0.4)) {
      std::swap(held[random.Below(held.size())], held.back());
      one.Release(held.back());
      other.Release(held.back());
      held.pop_back();
    } else {
      const std::string name = "default/pod-" + std::to_string(random.Below(2'000));
      held.push_back(one.Acquire(name));
      ASSERT_EQ(other.Acquire(name), held.back());
    }
  }
}

}  // namespace
}  // namespace schedq
