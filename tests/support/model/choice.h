// Who decides what a model run leaves open: which thread steps next, which store a load returns,
// whom a wake-up wakes.
//
// Purpose: a run asks a Chooser at each open point; the answers are the schedule, and the list of
// answers replays it. DepthFirst goes through all of them, RandomWalk and Priorities draw them from
// a seed, Replay reads them from a list.
// When not to use it: tests call Exhaust() or Sweep() of explore.h and never meet these.
// Allowed threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/model/clock.h"

namespace schedq::model {

enum class ChoiceKind : uint8_t {
  kThread,   // who steps next; the options are threads
  kVersion,  // which store a load returns; 0 is the newest
  kWake,     // whom WakeOne wakes; the options are threads
  kWeak,     // whether a weak exchange fails without cause; 0 is no
};

struct ChoicePoint {
  ChoiceKind kind;
  bool continues;          // option 0 lets the running thread go on
  uint32_t count;          // at least 2
  const uint8_t* threads;  // one a option where the options are threads, else null
};

class Chooser {
 public:
  virtual ~Chooser() = default;
  // Called before each schedule.
  virtual void Begin() = 0;
  // The index of the option taken. kNever means that the run is not the one that was recorded.
  virtual uint32_t Choose(const ChoicePoint& point) = 0;
  // Whether the schedule that just ended asked for all the choices that it was to repeat.
  virtual bool Followed() const { return true; }
  // Moves on to the next schedule; false when there is none.
  virtual bool Next() = 0;
};

// All schedules, each once: option 0 first, the last choice varies fastest.
class DepthFirst final : public Chooser {
 public:
  void Begin() override { depth_ = 0; }
  uint32_t Choose(const ChoicePoint& point) override;
  bool Followed() const override { return depth_ == path_.size(); }
  bool Next() override;

 private:
  struct Taken {
    uint8_t index;
    uint8_t count;
  };
  std::vector<Taken> path_;
  size_t depth_ = 0;
};

// A small generator: one multiplication and a few shifts a draw (Steele's SplitMix64).
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>((Next() >> 32) * bound >> 32); }

 private:
  uint64_t state_;
};

// Seeded schedules. Odd seeds walk at random with a probability of switching that differs from seed
// to seed; even seeds give each thread a random priority and lower the running one's at a few
// random points (Burckhardt et al., A Randomized Scheduler with Probabilistic Guarantees of Finding
// Bugs).
class Seeded final : public Chooser {
 public:
  explicit Seeded(uint64_t first_seed) : seed_(first_seed), draw_(first_seed) {}
  void Begin() override;
  uint32_t Choose(const ChoicePoint& point) override;
  bool Next() override;
  uint64_t seed() const { return seed_; }

 private:
  uint32_t Walk(const ChoicePoint& point);
  uint32_t Highest(const ChoicePoint& point);

  uint64_t seed_;
  Draw draw_;
  bool walks_ = false;
  uint32_t switch_one_in_ = 2;
  uint32_t stale_one_in_ = 4;
  uint32_t points_ = 0;  // thread choices so far in this schedule
  uint32_t change_points_[3] = {};
  uint32_t lowest_ = 0;
  uint32_t priorities_[kFibersMax] = {};
};

// A recorded schedule; past its end option 0.
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
// False when the text is not such a list.
bool ParseChoices(std::string_view text, std::vector<uint8_t>& choices);

}  // namespace schedq::model
