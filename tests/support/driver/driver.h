// The random differential driver: random operations on engines side by side, judged after each one.
//
// Purpose: finds where an engine breaks an invariant of StateJudge or differs from another engine,
// shrinks the sequence, and writes it as a trace that `schedq replay` plays. With one engine, only
// invariants judge. The README here says how to use and replay it.
// Threads: one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/trace/replayer.h"
#include "tests/support/driver/coverage.h"

namespace schedq {

struct DrivenEngine {
  std::string name;
  QueueMaker make;
};

// Every engine of the product, by the name that `schedq replay --engine` takes. The first is the
// judge of the others.
std::vector<DrivenEngine> ProductEngines();

struct DriverOptions {
  uint64_t seed = 1;
  int operations = 2000;
  bool pops_from_backoff = true;
  bool narrows = true;
};

// Operations that made engines fail, from a header on.
struct DriverFailure {
  std::string what;  // Which engine, after which operation, and what is wrong.
  TraceHeader header;
  std::vector<TraceOperation> operations;  // The last one shows the failure.
};

// Draws a header and operations from the seed and applies them to every engine, until one fails.
// Counts into `reached` what the operations met.
std::optional<DriverFailure> Drive(const DriverOptions& options,
                                   const std::vector<DrivenEngine>& engines, Coverage* reached);

// Plays given operations; those that make no sense (any more) are left out of the failure.
std::optional<DriverFailure> Play(const TraceHeader& header,
                                  const std::vector<TraceOperation>& operations,
                                  const std::vector<DrivenEngine>& engines);

// Leaves out operations as long as the rest still fails. Plays at most a few thousand sequences.
DriverFailure Shrink(DriverFailure failure, const std::vector<DrivenEngine>& engines);

// Writes the failure as a trace with what `judge` does as its wants. Returns what a person needs:
// what is wrong, the path, the seed, and the command that replays it.
std::string WriteFailure(const DriverFailure& failure, const DriverOptions& options,
                         const std::vector<DrivenEngine>& engines, const std::string& folder);

}  // namespace schedq
