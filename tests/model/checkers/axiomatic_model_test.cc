// Goal: the checker's memory has exactly the outcomes that C++20 allows, whatever the orderings.
// Method: litmus programs with every mix of orderings on each access. Each is explored without
// bounds, and its outcomes must be those of axiomatic_judge.h. So are seeded random programs. The
// outcomes that papers name are checked by name too, so that a fault of both would show.
// Not shown, by the checker's form: that a load reads a store that executes later (LB). There the
// judge forbids it as well, and one test says what that leaves out.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/atom.h"
#include "tests/model/checkers/axiomatic_judge.h"
#include "tests/support/model/atomic.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using Kind = Access::Kind;
using Order = std::memory_order;

constexpr Order kRelaxed = std::memory_order_relaxed;
constexpr Order kAcquire = std::memory_order_acquire;
constexpr Order kRelease = std::memory_order_release;
constexpr Order kAcqRel = std::memory_order_acq_rel;
constexpr Order kSeqCst = std::memory_order_seq_cst;

constexpr uint32_t kX = 0;
constexpr uint32_t kY = 1;
constexpr uint32_t kZ = 2;

Access Load(uint32_t location, Order order = kRelaxed) { return {Kind::kLoad, location, 0, order}; }
Access Store(uint32_t location, int64_t value, Order order = kRelaxed) {
  return {Kind::kStore, location, value, order};
}
Access Exchange(uint32_t location, int64_t value, Order order) {
  return {Kind::kExchange, location, value, order};
}
Access Fence(Order order) { return {Kind::kFence, 0, 0, order}; }

std::string TextOf(const LitmusProgram& program) {
  static const char* const kinds[] = {"load", "store", "exchange", "touch", "fence"};
  static const char* const orders[] = {"relaxed", "consume", "acquire",
                                       "release", "acq_rel", "seq_cst"};
  std::string text;
  for (const auto& thread : program.threads) {
    text += "thread:";
    for (const Access& access : thread) {
      text += std::string(" ") + kinds[static_cast<size_t>(access.kind)] + " " +
              static_cast<char>('x' + access.location) + " " + std::to_string(access.value) + " " +
              orders[static_cast<size_t>(access.order)] + ";";
    }
    text += "\n";
  }
  return text;
}

int64_t RunAccess(const Access& access, model::Atomic<int64_t>& atomic) {
  switch (access.kind) {
    case Kind::kLoad:
      return atomic.load(access.order);
    case Kind::kStore:
      atomic.store(access.value, access.order);
      return 0;
    case Kind::kExchange:
      return atomic.exchange(access.value, access.order);
    case Kind::kTouch:
      return atomic.fetch_add(0, access.order);
    case Kind::kFence:
      Seam<model::Atomic>::Fence(access.order);
      return 0;
  }
  return 0;
}

LitmusOutcomes ExploredOutcomes(const LitmusProgram& program) {
  const model::Report report =
      model::Exhaust({.name = testing::UnitTest::GetInstance()->current_test_info()->name(),
                      .preemptions_max = 1000,
                      .stale_reads_max = 1000},
                     [&program](model::Trial& trial) {
                       model::Atomic<int64_t> atomics[3];
                       int64_t read[4][8] = {};
                       for (size_t i = 0; i < program.threads.size(); ++i) {
                         trial.Thread([&program, &atomics, &read, i] {
                           for (size_t at = 0; at < program.threads[i].size(); ++at) {
                             const Access& access = program.threads[i][at];
                             read[i][at] = RunAccess(access, atomics[access.location]);
                           }
                         });
                       }
                       trial.Join();
                       LitmusOutcome outcome;
                       for (size_t i = 0; i < program.threads.size(); ++i) {
                         for (size_t at = 0; at < program.threads[i].size(); ++at) {
                           if (program.threads[i][at].Reads()) outcome.push_back(read[i][at]);
                         }
                       }
                       for (uint32_t i = 0; i < program.locations; ++i)
                         outcome.push_back(atomics[i].load());
                       trial.Observe(outcome);
                     });
  EXPECT_TRUE(report.passed() && report.complete) << report;
  LitmusOutcomes outcomes;
  for (const auto& [values, schedules] : report.observations) outcomes.insert(values);
  return outcomes;
}

// Whether the checker shows what the judge allows; prints the program if not.
bool Agrees(const LitmusProgram& program) {
  const LitmusOutcomes explored = ExploredOutcomes(program);
  const LitmusOutcomes allowed = AllowedOutcomes(program);
  EXPECT_EQ(explored, allowed) << TextOf(program);
  return explored == allowed;
}

// The accesses that may stand for one of a shape: with each ordering, and if `updates` also the
// read-modify-writes.
std::vector<Access> VariantsOf(Access access, bool updates) {
  std::vector<Access> variants;
  const auto add = [&](Kind kind, std::vector<Order> orders) {
    access.kind = kind;
    for (Order order : orders) {
      access.order = order;
      variants.push_back(access);
    }
  };
  const bool loads = access.kind == Kind::kLoad;
  if (access.kind == Kind::kFence) {
    add(Kind::kFence, {kRelaxed, kAcquire, kRelease, kAcqRel, kSeqCst});
    return variants;
  }
  add(access.kind, {kRelaxed, loads ? kAcquire : kRelease, kSeqCst});
  if (updates) {
    add(loads ? Kind::kTouch : Kind::kExchange, {kRelaxed, kAcquire, kRelease, kAcqRel, kSeqCst});
  }
  return variants;
}

// A program shape whose accesses stand in one row.
class Mixes {
 public:
  explicit Mixes(LitmusProgram shape) : program_(std::move(shape)) {
    for (auto& thread : program_.threads) {
      for (Access& access : thread) places_.push_back(&access);
    }
  }
  Mixes(const Mixes&) = delete;
  Mixes& operator=(const Mixes&) = delete;

  // Every mix in which at most this many accesses are read-modify-writes.
  uint64_t Judge(uint32_t updates_max) {
    Vary(0, updates_max);
    return judged_;
  }

 private:
  void Vary(size_t place, uint32_t updates_left) {
    if (testing::Test::HasFailure()) return;
    if (place == places_.size()) {
      ++judged_;
      Agrees(program_);
      return;
    }
    const Access shape = *places_[place];
    for (const Access& variant : VariantsOf(shape, updates_left > 0)) {
      const bool is_update = variant.Reads() && variant.Writes();
      *places_[place] = variant;
      Vary(place + 1, updates_left - (is_update ? 1 : 0));
    }
    *places_[place] = shape;
  }

  LitmusProgram program_;
  std::vector<Access*> places_;
  uint64_t judged_ = 0;
};

const LitmusProgram kStoreBuffering{2, {{Store(kX, 1), Load(kY)}, {Store(kY, 1), Load(kX)}}};
const LitmusProgram kMessagePassing{2, {{Store(kX, 1), Store(kY, 1)}, {Load(kY), Load(kX)}}};
const LitmusProgram kLoadBuffering{2, {{Load(kX), Store(kY, 1)}, {Load(kY), Store(kX, 1)}}};
const LitmusProgram kTwoPlusTwoWrites{2,
                                      {{Store(kX, 1), Store(kY, 2)}, {Store(kY, 1), Store(kX, 2)}}};
const LitmusProgram kR{2, {{Store(kX, 1), Store(kY, 1)}, {Store(kY, 2), Load(kX)}}};
const LitmusProgram kS{2, {{Store(kX, 2), Store(kY, 1)}, {Load(kY), Store(kX, 1)}}};
const LitmusProgram kWriteToReadCausality{
    2, {{Store(kX, 1)}, {Load(kX), Store(kY, 1)}, {Load(kY), Load(kX)}}};
const LitmusProgram kIsa2{
    3, {{Store(kX, 1), Store(kY, 1)}, {Load(kY), Store(kZ, 1)}, {Load(kZ), Load(kX)}}};
const LitmusProgram kIndependentReads{
    2, {{Store(kX, 1)}, {Store(kY, 1)}, {Load(kX), Load(kY)}, {Load(kY), Load(kX)}}};
const LitmusProgram kCoherence{1, {{Store(kX, 1), Store(kX, 2)}, {Load(kX), Load(kX)}}};

// The same with a fence between the two accesses of a thread.
LitmusProgram WithFences(LitmusProgram program) {
  for (auto& thread : program.threads) {
    if (thread.size() == 2) thread.insert(thread.begin() + 1, Fence(kRelaxed));
  }
  return program;
}

TEST(AxiomaticModel, StoreBuffering) { EXPECT_EQ(Mixes(kStoreBuffering).Judge(4), 4096u); }
TEST(AxiomaticModel, MessagePassing) { EXPECT_EQ(Mixes(kMessagePassing).Judge(4), 4096u); }
TEST(AxiomaticModel, LoadBuffering) { EXPECT_EQ(Mixes(kLoadBuffering).Judge(4), 4096u); }
TEST(AxiomaticModel, TwoPlusTwoWrites) { EXPECT_EQ(Mixes(kTwoPlusTwoWrites).Judge(4), 4096u); }
TEST(AxiomaticModel, R) { EXPECT_EQ(Mixes(kR).Judge(4), 4096u); }
TEST(AxiomaticModel, S) { EXPECT_EQ(Mixes(kS).Judge(4), 4096u); }
TEST(AxiomaticModel, Coherence) { EXPECT_EQ(Mixes(kCoherence).Judge(4), 4096u); }
TEST(AxiomaticModel, WriteToReadCausality) {
  EXPECT_EQ(Mixes(kWriteToReadCausality).Judge(1), 2268u);
}
TEST(AxiomaticModel, Isa2) { EXPECT_EQ(Mixes(kIsa2).Judge(1), 8019u); }
TEST(AxiomaticModel, IndependentReads) { EXPECT_EQ(Mixes(kIndependentReads).Judge(0), 729u); }

TEST(AxiomaticModel, Fences) {
  for (const LitmusProgram& shape :
       {kStoreBuffering, kMessagePassing, kLoadBuffering, kTwoPlusTwoWrites, kR, kS}) {
    EXPECT_EQ(Mixes(WithFences(shape)).Judge(0), 2025u);
  }
}

// Threads 3 and 4 of IRIW, with fences.
TEST(AxiomaticModel, IndependentReadsWithFences) {
  for (Order first : {kRelaxed, kAcqRel, kSeqCst}) {
    for (Order second : {kRelaxed, kAcqRel, kSeqCst}) {
      for (Order store : {kRelaxed, kRelease, kSeqCst}) {
        for (Order load : {kRelaxed, kAcquire, kSeqCst}) {
          LitmusProgram program = kIndependentReads;
          for (auto& thread : program.threads) {
            for (Access& access : thread) access.order = access.Reads() ? load : store;
          }
          program.threads[2].insert(program.threads[2].begin() + 1, Fence(first));
          program.threads[3].insert(program.threads[3].begin() + 1, Fence(second));
          ASSERT_TRUE(Agrees(program));
        }
      }
    }
  }
}

// A slot is used again once the head has moved past it. The reader loads the head, the slot, and
// the head again.
LitmusProgram ReusedSlot(Order head_moves, Order slot_store, Order slot_load) {
  return {2,
          {{Exchange(kX, 1, head_moves), Store(kY, 100, slot_store)},
           {Load(kX, kSeqCst), Load(kY, slot_load), Load(kX, kSeqCst)}}};
}
bool ReaderSeesNewSlotAndOldHead(const LitmusProgram& program) {
  EXPECT_TRUE(Agrees(program));
  // What the exchange read, the reader's three loads, and the last values.
  return ExploredOutcomes(program).count({0, 0, 100, 0, 1, 100}) != 0;
}

TEST(AxiomaticModel, ReaderSeesSlot100AndHead0) {
  // A later seq_cst load of the head does not validate a relaxed load of the slot.
  EXPECT_TRUE(ReaderSeesNewSlotAndOldHead(ReusedSlot(kSeqCst, kRelaxed, kRelaxed)));
  // Acquire alone pairs with nothing, and neither does release.
  EXPECT_TRUE(ReaderSeesNewSlotAndOldHead(ReusedSlot(kSeqCst, kRelaxed, kAcquire)));
  EXPECT_TRUE(ReaderSeesNewSlotAndOldHead(ReusedSlot(kSeqCst, kRelease, kRelaxed)));
  EXPECT_FALSE(ReaderSeesNewSlotAndOldHead(ReusedSlot(kSeqCst, kRelease, kAcquire)));
  EXPECT_TRUE(Mixes(ReusedSlot(kRelaxed, kRelaxed, kRelaxed)).Judge(1) > 500u);
}

// The example of P0668: what a seq_cst store precedes in happens-before need not follow it in the
// order of these operations.
TEST(AxiomaticModel, HappensBeforeIsNotStrongEnough) {
  const LitmusProgram program{2,
                              {{Store(kX, 1, kSeqCst), Store(kY, 1, kRelease)},
                               {Exchange(kY, 2, kSeqCst), Load(kY)},
                               {Store(kY, 3, kSeqCst), Load(kX, kSeqCst)}}};
  EXPECT_TRUE(Agrees(program));
  EXPECT_EQ(ExploredOutcomes(program).count({1, 3, 0, 1, 3}), 1u);
}

TEST(AxiomaticModel, LoadBufferingIsLeftOut) {
  LitmusOutcomes allowed = AllowedOutcomes(kLoadBuffering, true);
  EXPECT_EQ(allowed.erase({1, 1, 1, 1}), 1u);
  EXPECT_EQ(ExploredOutcomes(kLoadBuffering), allowed);
}

// Programs of two or three threads with up to seven accesses to two locations.
LitmusProgram RandomProgram(uint32_t seed) {
  std::mt19937 random(seed);
  LitmusProgram program;
  program.threads.resize(2 + random() % 2);
  const uint32_t accesses = 4 + random() % 4;
  const Order orders[] = {kRelaxed, kRelaxed, kSeqCst, kSeqCst, kAcqRel};
  for (uint32_t i = 0; i < accesses; ++i) {
    Access access;
    access.kind = static_cast<Kind>(random() % 5);
    access.location = random() % 2;
    access.value = i + 1;
    access.order = orders[random() % 5];
    if (access.order == kAcqRel && access.kind == Kind::kLoad) access.order = kAcquire;
    if (access.order == kAcqRel && access.kind == Kind::kStore) access.order = kRelease;
    program.threads[random() % program.threads.size()].push_back(access);
  }
  return program;
}

TEST(AxiomaticModel, RandomPrograms) {
  for (uint32_t seed = 1; seed <= 10'000; ++seed) {
    ASSERT_TRUE(Agrees(RandomProgram(seed))) << "seed " << seed;
  }
}

}  // namespace
}  // namespace schedq
