// A path through the product that is measured.
//
// Purpose: preparation, run and check in one place, for every kind of measurement:
// google-benchmark, profiles, callgrind and tests. The constructor prepares and may take long; only
// Run is measured.
// Threads: one thread calls all functions. A path may start threads of its own inside Run.
#pragma once

#include <cstdint>
#include <memory>

namespace schedq {

struct PathOutcome {
  uint64_t operations = 0;
  uint64_t pods_judged = 0;  // How many pods plugins were asked about, in all operations together.
  const char* fault = nullptr;  // What is wrong with the answer; null: nothing.
};

class MeasuredPath {
 public:
  virtual ~MeasuredPath() = default;

  // The measured part; called once.
  virtual void Run() = 0;
  // Checks the answer of Run, and returns it. Not measured.
  virtual PathOutcome Outcome() = 0;
};

using MeasuredPathRef = std::unique_ptr<MeasuredPath>;

}  // namespace schedq
