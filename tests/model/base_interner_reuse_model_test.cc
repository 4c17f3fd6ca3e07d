// Goal: a late lookup may read of one slot partly the old generation and partly the next. It
// neither misses a name that is held nor finds one that never was.
// Method: one thread looks up while another frees a slot and uses it again, on every schedule with
// one preemption and so many stale reads that all but one word of a slot can be old. Names are
// chosen by their place in the list: in one bucket, before or after each other, or at one place.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/names/interner-inl.h"
#include "engine/base/names/name_key.h"
#include "engine/base/names/packed_text.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using ModelInterner = BasicInterner<model::Atomic>;

// So many buckets that few names make no more of them.
constexpr uint32_t kBucketBits = 3;

// Observed where the slot came back; a stale look at the free ones may miss it.
constexpr int64_t kUsedAgain = 1;

NameKey Key() { return Seam<model::Atomic>::KeyOfNames(); }
uint64_t OrderOf(const std::string& text) {
  return internal::OrderOfName(PackedText(Key(), text).hash());
}

// The first short name in bucket 0 that comes behind `order`.
std::string NameBehind(uint64_t order) {
  for (uint32_t number = 0;; ++number) {
    const std::string name = std::to_string(number);
    const uint64_t here = OrderOf(name);
    if (here >> (64 - kBucketBits) == 0 && here > order) return name;
  }
}

void ExpectRight(const std::string& name, uint32_t stale_reads_max, const model::Body& body) {
  const model::Report report = model::Exhaust({.name = name,
                                               .preemptions_max = 1,
                                               .stale_reads_max = stale_reads_max,
                                               .weak_failures_max = 0},
                                              body);
  model::ExpectExhausted(report, 100);
  EXPECT_EQ(report.observations.count({kUsedAgain}), 1u) << report;
}

// Slot 0 leads to the name that is looked for, dies, and comes back behind that name.
TEST(InternerReuseModel, HeldNameIsFoundBehindASlotThatMoves) {
  const std::string moves = NameBehind(0);
  const std::string stays = NameBehind(OrderOf(moves));
  const std::string comes = NameBehind(OrderOf(stays));
  ExpectRight("slot moves", 3, [&](model::Trial& trial) {
    ModelInterner interner(kBucketBits);
    const uint32_t moving = interner.Acquire(moves);
    const uint32_t staying = interner.Acquire(stays);
    trial.Thread([&] { MODEL_CHECK(interner.Find(stays) == staying, "it is held all the time"); });
    uint32_t coming = 0;
    trial.Thread([&] {
      interner.Release(moving);
      coming = interner.Acquire(comes);
    });
    trial.Join();
    MODEL_CHECK(interner.Find(stays) == staying && interner.Find(comes) == coming, "both are held");
    trial.Observe({coming == moving ? kUsedAgain : 0});
  });
}

// With this as a word of a pair its neighbour does not count in the hash.
std::string HidesItsNeighbour() {
  const uint64_t word = Key().second;
  return {reinterpret_cast<const char*>(&word), sizeof(word)};
}

// Looks for a name that never is, while the slot of one at the same place becomes another's.
void ExpectNeverFound(const std::string& exploration, const std::string& dies,
                      const std::string& comes, const std::string& never) {
  ASSERT_EQ(OrderOf(dies), OrderOf(never)) << "the hash has changed: find other texts";
  ExpectRight(exploration, 1, [&](model::Trial& trial) {
    ModelInterner interner(kBucketBits);
    const uint32_t dying = interner.Acquire(dies);
    trial.Thread([&] { MODEL_CHECK(!interner.Find(never), "it never was"); });
    uint32_t coming = 0;
    trial.Thread([&] {
      interner.Release(dying);
      coming = interner.Acquire(comes);
    });
    trial.Join();
    MODEL_CHECK(!interner.Find(never) && interner.Find(comes) == coming, "one of them is there");
    trial.Observe({coming == dying ? kUsedAgain : 0});
  });
}

// What was read of the two texts would make the third.
TEST(InternerReuseModel, TwoTextsMakeNoThird) {
  ExpectNeverFound("two texts", HidesItsNeighbour() + "12345678", "abcdefghABCDEFGH",
                   HidesItsNeighbour() + "ABCDEFGH");
}

// The first text that does not fit into a slot comes while one is compared.
TEST(InternerReuseModel, LongTextComesUnderAComparison) {
  ExpectNeverFound("long text", HidesItsNeighbour() + "12345678", std::string(40, 'c'),
                   std::string(32, 'n') + HidesItsNeighbour());
}

// A thread that acquires a name by what it read before the name died must not get the slot's next
// name.
TEST(InternerReuseModel, DyingNameIsNotTakenForTheNext) {
  const std::string dies = NameBehind(0);
  const std::string comes = NameBehind(OrderOf(dies));
  ExpectRight("dying name", 3, [&](model::Trial& trial) {
    ModelInterner interner(kBucketBits);
    const uint32_t dying = interner.Acquire(dies);
    uint32_t coming = 0;
    std::optional<uint32_t> known;
    trial.Thread([&] { known = interner.AcquireKnown(dies); });
    trial.Thread([&] {
      interner.Release(dying);
      coming = interner.Acquire(comes);
    });
    trial.Join();
    MODEL_CHECK(interner.Find(dies) == known && interner.Find(comes) == coming, "each its own");
    trial.Observe({coming == dying ? kUsedAgain : 0});
  });
}

// Two threads hold a name. Whichever releases it last, both have finished with its text when the
// next one is stored.
TEST(InternerReuseModel, HeldTextIsReadBeforeItsReuse) {
  const std::string dies = NameBehind(0);
  const std::string comes = NameBehind(OrderOf(dies));
  ExpectRight("held text", 1, [&](model::Trial& trial) {
    ModelInterner interner(kBucketBits);
    const uint32_t dying = interner.Acquire(dies);
    uint32_t coming = 0;
    trial.Thread([&] { interner.Release(dying); });
    trial.Thread([&] {
      if (const auto known = interner.AcquireKnown(dies)) interner.Release(*known);
      coming = interner.Acquire(comes);
    });
    trial.Join();
    MODEL_CHECK(!interner.Find(dies) && interner.Find(comes) == coming, "one of them is there");
    trial.Observe({coming == dying ? kUsedAgain : 0});
  });
}

}  // namespace
}  // namespace schedq
