// A path through the product that somebody measures.
//
// Purpose: prepare, run and check in one place, whoever holds the clock: google-benchmark, a
// profile, callgrind or a test. The constructor prepares and may take long; Run is what counts.
// Threads: one thread constructs, runs and asks; a path may start threads of its own inside Run.
#pragma once

#include <cstdint>
#include <memory>

namespace schedq {

struct PathOutcome {
  uint64_t operations = 0;
  uint64_t pods_judged = 0;     // By hints, in all operations together.
  const char* fault = nullptr;  // What is wrong with the answer; null: nothing.
};

class MeasuredPath {
 public:
  virtual ~MeasuredPath() = default;

  // The measured part; called once.
  virtual void Run() = 0;
  // What Run did, checked. Not measured.
  virtual PathOutcome Outcome() = 0;
};

using MeasuredPathRef = std::unique_ptr<MeasuredPath>;

}  // namespace schedq
