// Goal: an InlineVector holds what a std::vector would, inside and outside, and destroys each
// element once. Method: examples at the border, and seeded random operations on both, with elements
// that count themselves.
#include "engine/base/inline_vector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"

namespace schedq {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

int alive = 0;

// An element that has to be destroyed as often as it was made.
class Counted {
 public:
  explicit Counted(int value) : value_(std::make_unique<int>(value)) { ++alive; }
  Counted() : Counted(0) {}
  Counted(const Counted& other) : Counted(other.value()) {}
  Counted(Counted&& other) noexcept : value_(std::move(other.value_)) { ++alive; }
  Counted& operator=(Counted&& other) noexcept = default;
  ~Counted() { --alive; }
  int value() const { return value_ != nullptr ? *value_ : -1; }

 private:
  std::unique_ptr<int> value_;
};

std::vector<int> ValuesOf(const InlineVector<Counted, 2>& vector) {
  std::vector<int> values;
  for (const Counted& each : vector) values.push_back(each.value());
  return values;
}

TEST(InlineVector, LiesInsideUpToItsRoom) {
  InlineVector<std::string, 2> vector = {"a", "b"};
  const auto* const begin = reinterpret_cast<const char*>(&vector);
  const auto* const data = reinterpret_cast<const char*>(vector.data());
  EXPECT_TRUE(data >= begin && data < begin + sizeof(vector));
  EXPECT_EQ(vector.capacity(), 2u);
  vector.push_back("c");
  EXPECT_THAT(vector, ElementsAre("a", "b", "c"));
  EXPECT_GT(vector.capacity(), 2u);
}

TEST(InlineVector, IsAsSmallAsItsRoomAndOneWord) {
  EXPECT_EQ(sizeof(InlineVector<std::string, 1>), sizeof(std::string) + 8);
  EXPECT_EQ(sizeof(InlineVector<uint64_t, 4>), 40u);
}

TEST(InlineVector, TakesAnElementOfItsOwn) {
  InlineVector<std::string, 1> vector = {"long enough to lie outside of its string"};
  for (int i = 0; i < 5; ++i) vector.push_back(vector.front());
  EXPECT_EQ(vector.size(), 6u);
  for (const std::string& each : vector) EXPECT_EQ(each, vector.front());
}

TEST(InlineVector, MovesAndCopies) {
  for (const size_t size : {0, 1, 2, 3, 9}) {
    InlineVector<std::string, 2> from;
    for (size_t i = 0; i < size; ++i) from.push_back(std::to_string(i));
    InlineVector<std::string, 2> copy = from;
    EXPECT_EQ(copy, from);
    InlineVector<std::string, 2> moved = std::move(from);
    EXPECT_EQ(moved, copy);
    from = {"again"};
    EXPECT_THAT(from, ElementsAre("again"));
    from = moved;
    EXPECT_EQ(from, moved);
    from = std::move(moved);
    EXPECT_EQ(from, copy);
  }
}

TEST(InlineVector, HoldsWhatCannotBeCopied) {
  InlineVector<std::unique_ptr<int>, 1> vector;
  for (int i = 0; i < 4; ++i) vector.push_back(std::make_unique<int>(i));
  InlineVector<std::unique_ptr<int>, 1> moved = std::move(vector);
  EXPECT_EQ(*moved[3], 3);
}

TEST(InlineVector, KeepsItsRoomWhenCleared) {
  InlineVector<int, 1> vector = {1, 2, 3};
  const size_t capacity = vector.capacity();
  vector.clear();
  EXPECT_THAT(vector, IsEmpty());
  EXPECT_EQ(vector.capacity(), capacity);
}

TEST(InlineVector, AgreesWithStdVectorAndDestroysEachElementOnce) {
  Random random(1);
  {
    InlineVector<Counted, 2> vector;
    std::vector<int> model;
    for (int i = 0; i < 20'000; ++i) {
      switch (random.Below(6)) {
        case 0:
        case 1:
          vector.emplace_back(i);
          model.push_back(i);
          break;
        case 2:
          model.resize(random.Below(6));
          vector.resize(model.size());
          break;
        case 3: {
          InlineVector<Counted, 2> copy = vector;
          vector = std::move(copy);
          break;
        }
        case 4:
          vector = InlineVector<Counted, 2>(vector);
          break;
        default:
          if (random.Below(4) != 0) break;
          vector.clear();
          model.clear();
      }
      ASSERT_THAT(ValuesOf(vector), ElementsAreArray(model));
      ASSERT_EQ(alive, static_cast<int>(model.size()));
    }
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace schedq
