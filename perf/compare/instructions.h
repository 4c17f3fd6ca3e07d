// Compares instruction counts of two builds, function by function.
//
// Purpose: the instruction tier of `schedq gate`. Counts do not depend on the machine's load, so a
// small threshold holds, and a count of each function says where a change comes from.
// When not to use it: for what a change costs in time. An instruction may take a cycle or a
// thousand.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "perf/compare/junit.h"
#include "perf/text/table.h"

namespace schedq {

// What one path or workload executed.
struct InstructionSample {
  std::string name;
  uint64_t instructions = 0;
  std::map<std::string, uint64_t> by_function;  // What each executes itself.
};

// A function's part in a change.
struct FunctionChange {
  std::string function;
  uint64_t before = 0;
  uint64_t after = 0;
  double share = 0;  // Of the change of the whole; above 1 where others go the other way.
};

struct InstructionChange {
  std::string name;
  uint64_t before = 0;
  uint64_t after = 0;
  bool is_worse = false;                  // More by more than the threshold.
  std::vector<FunctionChange> functions;  // Those that changed most in the whole's direction.

  // Relative; of nothing 0.
  double Change() const;
};

// What both have, in the order of the base.
std::vector<InstructionChange> CompareInstructions(const std::vector<InstructionSample>& base,
                                                   const std::vector<InstructionSample>& next,
                                                   double threshold);

std::string InstructionsTable(const std::vector<InstructionChange>& changes,
                              const TableLayout& layout);
std::string InstructionsMarkdown(const std::vector<InstructionChange>& changes);
JunitSuite InstructionsJunit(const std::vector<InstructionChange>& changes);

}  // namespace schedq
