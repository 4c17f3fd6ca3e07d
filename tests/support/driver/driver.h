// The random differential driver: the same random operations on every engine, judged after each
// one.
//
// Purpose: finds an operation at which an engine breaks an invariant of StateJudge or differs from
// another engine. Shrinks the sequence, and writes it as a trace that `schedq replay` plays. With
// one engine, only the invariants judge. README.md in this folder says how to run and replay it.
// Threads: one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/trace/trace.h"
#include "schedq/assembly_options.h"
#include "tests/support/driver/coverage.h"

namespace schedq {

struct DrivenEngine {
  std::string name;
  QueueMaker make;
  // How many events that no pod needs one operation lets go at most: docs/semantics.md, "Done".
  uint64_t events_let_go_max = UINT64_MAX;
};

// Every engine of the product, by its name in `schedq replay --engine`. The others are compared
// with the first.
std::vector<DrivenEngine> ProductEngines();

struct DriverOptions {
  uint64_t seed = 1;
  int operations = 2000;
  bool pops_from_backoff = true;
  bool narrows = true;
  bool has_groups = false;
  bool has_composites = false;  // With groups only.
};

// A header and operations that made an engine fail.
struct DriverFailure {
  std::string what;  // The engine, the operation, and what is wrong.
  TraceHeader header;
  std::vector<TraceOperation> operations;  // The last one shows the failure.
};

// Draws a header and operations from the seed, and applies them to every engine until one fails.
// Adds the pods that the operations met to `reached`.
std::optional<DriverFailure> Drive(const DriverOptions& options,
                                   const std::vector<DrivenEngine>& engines, Coverage* reached);

// Plays given operations. Operations that the replayer refuses are left out of the failure.
std::optional<DriverFailure> Play(const TraceHeader& header,
                                  const std::vector<TraceOperation>& operations,
                                  const std::vector<DrivenEngine>& engines);

// Removes operations as long as the rest still fails. Plays at most a few thousand sequences.
DriverFailure Shrink(DriverFailure failure, const std::vector<DrivenEngine>& engines);

// Writes the failure as a trace whose wants are the outcomes of the first engine. Returns a text
// with what is wrong, the path, the seed, and the command that replays the trace.
std::string WriteFailure(const DriverFailure& failure, const DriverOptions& options,
                         const std::vector<DrivenEngine>& engines, const std::string& folder);

}  // namespace schedq
