// Goal: names get dense numbers, keep them while referenced, and give them back. Method: directed
// cases, a seeded random run judged by a std::map, and threads that churn a few names and must
// agree on their numbers. Many short names on two buckets make long runs of the list.
#include "engine/base/names/interner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"

namespace schedq {
namespace {

TEST(Interner, GivesOneNumberForOneText) {
  Interner interner;
  const uint32_t first = interner.Acquire("default/web");
  EXPECT_EQ(interner.Acquire("default/web"), first);
  EXPECT_EQ(interner.Acquire("default", "web"), first);
  EXPECT_NE(interner.Acquire("default/db"), first);
  EXPECT_EQ(interner.Text(first), "default/web");
  EXPECT_EQ(interner.size(), 2u);
  EXPECT_EQ(interner.Find("default", "web"), first);
}

TEST(Interner, ForgetsANameWithItsLastReference) {
  Interner interner;
  const uint32_t id = interner.Acquire("a");
  interner.Retain(id);
  interner.Release(id);
  EXPECT_EQ(interner.Find("a"), id);
  interner.Release(id);
  EXPECT_EQ(interner.Find("a"), std::nullopt);
  EXPECT_EQ(interner.AcquireKnown("a"), std::nullopt);
  EXPECT_EQ(interner.size(), 0u);
  EXPECT_EQ(interner.Acquire("b"), id) << "a free number is used again";
  EXPECT_EQ(interner.Text(id), "b");
}

TEST(Interner, AcquireKnownAddsAReference) {
  Interner interner;
  const uint32_t id = interner.Acquire("a");
  EXPECT_EQ(interner.AcquireKnown("a"), id);
  interner.Release(id);
  EXPECT_EQ(interner.Find("a"), id);
}

// Sizes around every boundary of the storage: words, the slot, blocks, the packed text's buffer.
TEST(Interner, KeepsTextsOfEverySize) {
  Interner interner;
  std::map<uint32_t, std::string> texts;
  for (const size_t size : {0u, 1u, 7u, 8u, 9u, 31u, 32u, 33u, 63u, 64u, 65u, 127u, 128u, 129u,
                            319u, 320u, 321u, 5000u, 100000u}) {
    for (const char fill : {'x', 'y', '\0'}) {
      std::string text(size, fill);
      const uint32_t id = interner.Acquire(text);
      const auto [at, is_new] = texts.emplace(id, text);
      EXPECT_TRUE(is_new || size == 0) << size;
    }
  }
  for (const auto& [id, text] : texts) {
    EXPECT_EQ(interner.Text(id), text);
    EXPECT_EQ(interner.Find(text), id);
  }
}

TEST(Interner, AgreesWithAMapUnderRandomUse) {
  Interner interner(/*first_bits=*/1);
  struct Known {
    uint32_t id;
    int references;
  };
  std::map<std::string, Known> model;
  Random random(7);
  size_t alive_max = 0;
  for (int step = 0; step < 100000; ++step) {
    const std::string text(random.Below(3) * 20, 'n');
    const std::string name = text + std::to_string(random.Below(300));
    const auto known = model.find(name);
    if (random.Chance(0.5)) {
      const uint32_t id = interner.Acquire(name);
      if (known == model.end()) {
        for (const auto& [other, entry] : model) ASSERT_NE(entry.id, id) << other;
        model.emplace(name, Known{id, 1});
      } else {
        ASSERT_EQ(known->second.id, id);
        ++known->second.references;
      }
    } else if (known != model.end()) {
      ASSERT_EQ(interner.Text(known->second.id), name);
      interner.Release(known->second.id);
      if (--known->second.references == 0) model.erase(known);
    } else {
      ASSERT_EQ(interner.Find(name), std::nullopt);
    }
    alive_max = std::max(alive_max, model.size());
    ASSERT_EQ(interner.size(), model.size());
  }
  EXPECT_EQ(interner.id_limit(), alive_max) << "as many numbers as names alive at one time";
}

TEST(Interner, FindsEveryNameAfterGrowth) {
  Interner interner(/*first_bits=*/1);
  std::vector<uint32_t> ids;
  for (int name = 0; name < 20000; ++name) {
    ids.push_back(interner.Acquire("namespace", std::to_string(name)));
    ASSERT_EQ(ids.back(), static_cast<uint32_t>(name)) << "numbers are dense";
  }
  for (int name = 0; name < 20000; ++name) {
    ASSERT_EQ(interner.Find("namespace/" + std::to_string(name)), ids[name]);
  }
}

// In one step or in several, with other names coming in between, a name has the same number.
TEST(Interner, NewcomersAreAcquiredAsOthers) {
  Interner interner(/*first_bits=*/1);
  for (int name = 0; name < 3000; ++name) {
    const std::string text = std::to_string(name);
    Interner::Newcomer newcomer(&interner, "n", text);
    const bool is_overtaken = name % 3 == 0;
    std::optional<uint32_t> known;
    if (is_overtaken) known = interner.Acquire("n/" + text);
    if (name % 2 == 0) newcomer.Prepare();
    if (name % 5 == 0) interner.Acquire("other", text);
    const uint32_t id = newcomer.Acquire();
    ASSERT_EQ(id, known.value_or(id));
    ASSERT_EQ(interner.Find("n/" + text), id);
    ASSERT_EQ(interner.Text(id), "n/" + text);
  }
  EXPECT_EQ(interner.size(), 3000u + 600u);
}

TEST(Interner, ANewcomerThatIsThrownAwayLeavesNothing) {
  Interner interner;
  {
    Interner::Newcomer newcomer(&interner, "n", std::string(40, 'a'));
    newcomer.Prepare();
  }
  EXPECT_EQ(interner.size(), 0u);
  EXPECT_EQ(interner.Find("n/" + std::string(40, 'a')), std::nullopt);
  interner.Acquire("b");
  EXPECT_EQ(interner.id_limit(), 1u) << "its number is used again";
}

TEST(Interner, RefusesNewNamesWhileItIsFull) {
  Interner names(/*first_bits=*/1, NameKey::FromSeed(3), /*names_max=*/8);
  std::vector<uint32_t> numbers;
  for (int i = 0; i < 8; ++i) numbers.push_back(names.Acquire(std::to_string(i)));
  for (int i = 8; i < 40; ++i) {
    EXPECT_EQ(names.Acquire(std::to_string(i)), kNoName);
    Interner::Newcomer newcomer(&names, "ns", std::to_string(i));
    newcomer.Prepare();
    EXPECT_EQ(newcomer.Acquire(), kNoName);
    EXPECT_EQ(names.Find(std::to_string(i)), std::nullopt);
  }
  EXPECT_EQ(names.size(), 8u);
  EXPECT_EQ(names.id_limit(), 8u);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(names.Acquire(std::to_string(i)), numbers[static_cast<size_t>(i)]);
    names.Release(numbers[static_cast<size_t>(i)]);
  }
  names.Release(numbers[5]);
  EXPECT_EQ(names.Acquire("9"), numbers[5]);
  EXPECT_EQ(names.Acquire("10"), kNoName);
}

TEST(Interner, RefusesTextsThatAreTooLong) {
  Interner names;
  EXPECT_EQ(names.Acquire(std::string(Interner::kTextBytesMax + 1, 'a')), kNoName);
  EXPECT_EQ(names.size(), 0u);
  EXPECT_NE(names.Acquire(std::string(Interner::kTextBytesMax, 'a')), kNoName);
}

TEST(InternerDeathTest, ReleasingTooOftenIsABug) {
  Interner interner;
  const uint32_t id = interner.Acquire("a");
  interner.Release(id);
  EXPECT_DEATH(interner.Release(id), "released more often than acquired");
  EXPECT_DEATH(interner.Retain(id), "retained without a reference");
}

}  // namespace
}  // namespace schedq
