// Goal: the interner's own code, on every schedule within bounds and on many beyond, gives one
// number to a name while a thread holds it, and different numbers to different names. Method: a few
// threads take and give back names that share a bucket; what a thread holds it must find under its
// number, and a table of holders shows a name or a number that is held twice. Texts are read only
// by way of lookups, since the model's words are not laid out as bytes.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/names/interner-inl.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using ModelInterner = BasicInterner<model::Atomic>;

// The name that each number stands for now. The model runs one thread at a time, so plain fields
// are enough and add no schedules.
class Holders {
 public:
  void Add(const std::string& name, uint32_t id) {
    Entry& entry = entries_[id];
    MODEL_CHECK(entry.count == 0 || entry.name == name, "a number stands for two names");
    for (const auto& [other_id, other] : entries_) {
      MODEL_CHECK(other_id == id || other.count == 0 || other.name != name,
                  "a name has two numbers");
    }
    entry.name = name;
    ++entry.count;
  }
  void Remove(uint32_t id) { --entries_[id].count; }

 private:
  struct Entry {
    std::string name;
    int count = 0;
  };
  std::map<uint32_t, Entry> entries_;
};

void TakeAndGiveBack(ModelInterner& interner, Holders& holders, const std::string& name) {
  const uint32_t id = interner.Acquire(name);
  holders.Add(name, id);
  MODEL_CHECK(interner.Find(name) == id, "a held name is found under its number");
  holders.Remove(id);
  interner.Release(id);
}

// Both threads acquire and release the name, so that new generations, further references, deaths
// and help all meet.
void OneNameTwice(model::Trial& trial) {
  ModelInterner interner(/*first_bits=*/1);
  Holders holders;
  for (int thread = 0; thread < 2; ++thread) {
    trial.Thread([&] { TakeAndGiveBack(interner, holders, "a"); });
  }
  trial.Join();
  MODEL_CHECK(interner.size() == 0 && interner.Find("a") == std::nullopt, "all was given back");
  MODEL_CHECK(interner.id_limit() <= 2, "at most one number for each thread");
}

// A slot that one thread frees is used again by the other for another name, while the first name's
// neighbour comes and goes.
void NeighboursChange(model::Trial& trial) {
  ModelInterner interner(/*first_bits=*/1);
  Holders holders;
  const uint32_t kept = interner.Acquire("kept");
  const uint32_t first = interner.Acquire("a");
  trial.Thread([&] {
    interner.Release(first);
    TakeAndGiveBack(interner, holders, "b");
  });
  trial.Thread([&] {
    TakeAndGiveBack(interner, holders, "a");
    MODEL_CHECK(interner.Find("kept") == kept, "a name that no thread changes stays");
  });
  trial.Join();
  MODEL_CHECK(interner.size() == 1, "all but one was given back");
}

// Two threads bring the same name, a neighbour and each other's buckets in steps: the first of a
// bucket is linked in with its bucket, and the thread that comes second finds it.
void NewcomersMeet(model::Trial& trial) {
  ModelInterner interner(/*first_bits=*/0);
  Holders holders;
  const std::array<std::string, 3> names{"a", "b", "c"};
  for (size_t thread = 0; thread < 2; ++thread) {
    trial.Thread([&, thread] {
      for (const std::string& name : {names[0], names[thread + 1]}) {
        ModelInterner::Newcomer newcomer(&interner, "n", name);
        newcomer.Prepare();
        const uint32_t id = newcomer.Acquire();
        holders.Add("n/" + name, id);
        MODEL_CHECK(interner.Find("n", name) == id, "a held name is found under its number");
      }
    });
  }
  trial.Join();
  MODEL_CHECK(interner.size() == names.size(), "each name is there once");
}

// Buckets grow and open while names come and go, some longer than a slot.
void ThreeThreadsGrow(model::Trial& trial) {
  ModelInterner interner(/*first_bits=*/0);
  Holders holders;
  const std::array<std::string, 4> names{"a", "b", std::string(40, 'c'), std::string(40, 'd')};
  for (size_t thread = 0; thread < 3; ++thread) {
    trial.Thread([&, thread] {
      const std::string& held = names[thread];
      const uint32_t id = interner.Acquire(held);
      holders.Add(held, id);
      TakeAndGiveBack(interner, holders, names[(thread + 1) % names.size()]);
      TakeAndGiveBack(interner, holders, names[3]);
      MODEL_CHECK(interner.AcquireKnown(held) == id, "a held name keeps its number");
      interner.Release(id);
      holders.Remove(id);
      interner.Release(id);
    });
  }
  trial.Join();
  MODEL_CHECK(interner.size() == 0, "all was given back");
  for (const std::string& name : names) {
    MODEL_CHECK(interner.Find(name) == std::nullopt, "a name without holders is gone");
  }
}

TEST(InternerModel, OneNameOnEverySchedule) {
  const model::Report report = model::Exhaust(
      {.name = "one name", .preemptions_max = 2, .stale_reads_max = 1, .weak_failures_max = 0},
      OneNameTwice);
  model::ExpectExhausted(report, 1000);
}

TEST(InternerModel, NewcomersOnSeededSchedules) {
  const model::Report report = model::Sweep({.name = "newcomers"}, 4000, NewcomersMeet);
  EXPECT_TRUE(report.passed()) << report;
}

TEST(InternerModel, NeighboursOnSeededSchedules) {
  const model::Report report = model::Sweep({.name = "neighbours"}, 4000, NeighboursChange);
  EXPECT_TRUE(report.passed()) << report;
}

TEST(InternerModel, GrowthOnSeededSchedules) {
  const model::Report report =
      model::Sweep({.name = "growth", .steps_max = 20000}, 1500, ThreeThreadsGrow);
  EXPECT_TRUE(report.passed()) << report;
}

// Lock-freedom: whichever thread is frozen at whichever step, the others finish.
TEST(InternerModel, NoThreadWaitsForAFrozenOne) {
  const model::Report report = model::ExhaustStalls(
      {.name = "frozen", .preemptions_max = 0, .stale_reads_max = 0, .weak_failures_max = 0},
      NeighboursChange);
  EXPECT_TRUE(report.passed()) << report;
  EXPECT_GT(report.freezes, 50u);
}

}  // namespace
}  // namespace schedq
