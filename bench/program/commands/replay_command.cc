#include "bench/program/commands/replay_command.h"

#include <fmt/format.h>

#include "bench/format/trace/replay_file.h"
#include "bench/interrupt.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(30, [] { return std::make_unique<ReplayCommand>(); });

// A state that has gone wrong makes every later line differ; the first lines say where it began.
constexpr uint64_t kMismatchesShownMax = 20;

}  // namespace

std::string ReplayCommand::Summary() const {
  return "Replay recorded traces on an engine and check every outcome";
}

void ReplayCommand::Declare(CLI::App& app) {
  app.add_option("FILE", paths_, "Traces, JSON lines")->required()->type_name("FILE.jsonl...");
  app.add_option("--engine", engine_, "The engine: classic or lockfree")->capture_default_str();
}

Result<ExitCode> ReplayCommand::Run() {
  const Result<EngineKind> engine = ParseEngine(engine_);
  if (!engine) return engine.error();
  uint64_t traces = 0;
  ReplayTotals sum;
  for (const std::string& path : paths_) {
    if (Interrupted()) break;
    uint64_t shown = 0;
    const Result<ReplayTotals> totals = ReplayFile(path, *engine, [&](const std::string& line) {
      if (shown++ < kMismatchesShownMax) fmt::print("{}\n", line);
    });
    if (!totals) return totals.error();
    if (shown > kMismatchesShownMax) {
      fmt::print("{}: {} more mismatches\n", path, shown - kMismatchesShownMax);
    }
    ++traces;
    sum.operations += totals->operations;
    sum.mismatches += totals->mismatches;
  }
  fmt::print("{} traces, {} operations, {} mismatches\n", traces, sum.operations, sum.mismatches);
  return sum.mismatches == 0 ? ExitCode::kGood : ExitCode::kNo;
}

}  // namespace schedq
