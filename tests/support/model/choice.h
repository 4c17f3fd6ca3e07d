// Choosers decide the open points of a model run: the thread that steps next, the store that a load
// returns, the thread that a wake-up wakes.
//
// Purpose: a run asks a Chooser at each open point. The answers are the schedule, and the list of
// answers replays it. DepthFirst tries all answers, Seeded draws them from a seed, and Replay reads
// them from a list.
// When not to use it: in tests, which call Exhaust() or Sweep() of explore.h.
// Allowed threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/model/clock.h"

namespace schedq::model {

enum class ChoiceKind : uint8_t {
  kThread,   // The thread that steps next; the options are threads.
  kVersion,  // The store that a load returns; 0 is the newest.
  kWake,     // The thread that WakeOne wakes; the options are threads.
  kWeak,     // Whether a weak exchange fails without cause; 0 is no.
};

struct ChoicePoint {
  ChoiceKind kind;
  bool continues;          // Option 0 lets the running thread continue.
  uint32_t count;          // Number of options, at least 2.
  const uint8_t* threads;  // The thread of each option where options are threads, else null.
};

class Chooser {
 public:
  virtual ~Chooser() = default;
  // Called before each schedule.
  virtual void Begin() = 0;
  // Returns the index of the chosen option, or kNever where the run differs from the recorded one.
  virtual uint32_t Choose(const ChoicePoint& point) = 0;
  // Whether the schedule that just ended asked for all choices that it was to repeat.
  virtual bool UsedAllChoices() const { return true; }
  // Prepares the next schedule; returns false when there is none.
  virtual bool Next() = 0;
};

// Tries all schedules, each once: option 0 first, and the last choice varies fastest.
class DepthFirst final : public Chooser {
 public:
  void Begin() override { depth_ = 0; }
  uint32_t Choose(const ChoicePoint& point) override;
  bool UsedAllChoices() const override { return depth_ == path_.size(); }
  bool Next() override;

 private:
  struct Taken {
    uint8_t index;
    uint8_t count;
  };
  std::vector<Taken> path_;
  size_t depth_ = 0;
};

// A small generator of random numbers: two multiplications and a few shifts a draw (Steele's
// SplitMix64).
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>((Next() >> 32) * bound >> 32); }

 private:
  uint64_t state_;
};

// Draws schedules from seeds. An odd seed switches threads at random, with a probability that
// differs from seed to seed. An even seed gives each thread a random priority, and lowers that of
// the running thread at a few random points (Burckhardt et al., A Randomized Scheduler with
// Probabilistic Guarantees of Finding Bugs).
class Seeded final : public Chooser {
 public:
  // The next schedule's seed is `stride` further.
  explicit Seeded(uint64_t first_seed, uint64_t stride = 1)
      : seed_(first_seed), stride_(stride), draw_(first_seed) {}
  void Begin() override;
  uint32_t Choose(const ChoicePoint& point) override;
  bool Next() override;
  uint64_t seed() const { return seed_; }

 private:
  uint32_t Walk(const ChoicePoint& point);
  uint32_t Highest(const ChoicePoint& point);

  uint64_t seed_;
  const uint64_t stride_;
  Draw draw_;
  bool walks_ = false;
  uint32_t switch_one_in_ = 2;
  uint32_t stale_one_in_ = 4;
  uint32_t points_ = 0;  // The number of thread choices so far in this schedule.
  uint32_t change_points_[3] = {};
  uint32_t lowest_ = 0;
  uint32_t priorities_[kFibersMax] = {};
};

// Repeats a recorded schedule; behind its end it chooses option 0.
class Replay final : public Chooser {
 public:
  explicit Replay(std::vector<uint8_t> choices) : choices_(std::move(choices)) {}
  void Begin() override { depth_ = 0; }
  uint32_t Choose(const ChoicePoint& point) override;
  bool Next() override { return false; }

 private:
  std::vector<uint8_t> choices_;
  size_t depth_ = 0;
};

// "0x12,1,0x3,2": a list of choices in which 0x12 is twelve zeros.
std::string FormatChoices(const std::vector<uint8_t>& choices);
// Returns false when the text is not such a list.
bool ParseChoices(std::string_view text, std::vector<uint8_t>& choices);

}  // namespace schedq::model
