// Goal: threads that acquire and release the same few names at the same time always agree on their
// numbers, nothing is lost, and memory does not grow as names come and go. Method: each thread
// holds references for a while; what it holds it must be able to read back, and while it holds a
// name every other thread must get the same number for it. A table outside of the interner has for
// each name the number under which it is held.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/base/random.h"

namespace schedq {
namespace {

constexpr uint32_t kNames = 48;
constexpr int kThreads = 4;

// Short names, names that fill a slot, and names in blocks.
std::string NameOf(uint32_t number) {
  return std::string(number % 3 * 30, 'p') + std::to_string(number);
}

// One thread's part: takes and gives back names at random and holds up to 16 of each.
class Churner {
 public:
  Churner(Interner* interner, uint64_t seed) : interner_(interner), random_(seed) {}

  void Run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const auto name = static_cast<uint32_t>(random_.Below(kNames));
      std::vector<uint32_t>& ids = held_[name];
      if (ids.empty() || (ids.size() < 16 && random_.Chance(0.3))) {
        Take(name, ids);
      } else {
        GiveBack(name, ids);
      }
    }
    for (std::vector<uint32_t>& ids : held_) {
      for (const uint32_t id : ids) interner_->Release(id);
      ids.clear();
    }
  }

  int mistakes() const { return mistakes_; }

 private:
  void Take(uint32_t name, std::vector<uint32_t>& ids) {
    const std::string text = NameOf(name);
    const uint32_t id = interner_->Acquire(text);
    if (!ids.empty() && ids.front() != id) ++mistakes_;
    if (interner_->Find(text) != id) ++mistakes_;
    ids.push_back(id);
  }

  void GiveBack(uint32_t name, std::vector<uint32_t>& ids) {
    const std::string text = NameOf(name);
    const uint32_t id = ids.back();
    if (interner_->Text(id) != text) ++mistakes_;
    if (interner_->AcquireKnown(text) == id) {
      interner_->Release(id);
    } else {
      ++mistakes_;
    }
    interner_->Release(id);
    ids.pop_back();
  }

  Interner* const interner_;
  Random random_;
  std::array<std::vector<uint32_t>, kNames> held_;
  int mistakes_ = 0;
};

TEST(InternerStress, ThreadsAgreeOnTheNamesTheyHold) {
  Interner interner(/*first_bits=*/1);
  std::vector<Churner> churners;
  for (int thread = 0; thread < kThreads; ++thread) churners.emplace_back(&interner, thread + 1);
  std::vector<std::thread> threads;
  for (Churner& churner : churners) threads.emplace_back([&churner] { churner.Run(100000); });
  for (std::thread& thread : threads) thread.join();
  for (const Churner& churner : churners) EXPECT_EQ(churner.mistakes(), 0);
  EXPECT_EQ(interner.size(), 0u);
  EXPECT_LE(interner.id_limit(), kNames + 2 * kThreads) << "numbers are used again";
  for (uint32_t name = 0; name < kNames; ++name) {
    EXPECT_EQ(interner.Find(NameOf(name)), std::nullopt);
  }
}

// All threads fight for one name at a time, where most steps of the list collide.
TEST(InternerStress, OneNameLivesOnce) {
  Interner interner(/*first_bits=*/1);
  std::atomic<uint32_t> holders_of_other_numbers{0};
  std::array<std::atomic<uint32_t>, 2 * kThreads + 2> holders{};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100000; ++i) {
        const uint32_t id = interner.Acquire("the/one");
        holders.at(id).fetch_add(1);
        for (uint32_t other = 0; other < holders.size(); ++other) {
          if (other != id && holders[other].load() != 0) holders_of_other_numbers.fetch_add(1);
        }
        holders.at(id).fetch_sub(1);
        interner.Release(id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(holders_of_other_numbers.load(), 0u);
  EXPECT_EQ(interner.size(), 0u);
}

// New names all the time, while the buckets grow.
TEST(InternerStress, GrowthLosesNothing) {
  Interner interner(/*first_bits=*/1);
  constexpr uint32_t kEach = 20000;
  std::array<std::vector<uint32_t>, kThreads> ids;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint32_t i = 0; i < kEach; ++i) {
        // All threads share every second name.
        const std::string owner = i % 2 == 0 ? "all" : std::to_string(thread);
        ids[thread].push_back(interner.Acquire(owner, std::to_string(i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(interner.size(), kEach / 2 * (kThreads + 1));
  for (uint32_t i = 0; i < kEach; ++i) {
    for (int thread = 0; thread < kThreads; ++thread) {
      const std::string owner = i % 2 == 0 ? "all" : std::to_string(thread);
      ASSERT_EQ(interner.Text(ids[thread][i]), owner + "/" + std::to_string(i));
      const uint32_t expected = ids[i % 2 == 0 ? 0 : thread][i];
      ASSERT_EQ(ids[thread][i], expected);
    }
  }
  for (const std::vector<uint32_t>& of_thread : ids) {
    for (const uint32_t id : of_thread) interner.Release(id);
  }
  EXPECT_EQ(interner.size(), 0u);
}

}  // namespace
}  // namespace schedq
