#include "bench/format/trace/replay_file.h"

#include <fstream>
#include <memory>

#include "bench/format/trace/expectation.h"
#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"

namespace schedq {
namespace {

Error At(const std::string& path, uint64_t line, const Error& error) {
  return Error(path + ":" + std::to_string(line) + ": " + error.message());
}

}  // namespace

Result<ReplayTotals> ReplayFile(const std::string& path, EngineKind engine,
                                const std::function<void(const std::string&)>& report,
                                const std::vector<PluginSource>& further_plugins) {
  std::ifstream file(path);
  std::string line;
  // Opening a folder succeeds; only reading it fails.
  if (!file || !std::getline(file, line)) {
    return Error(path + ": cannot be read, expected a trace (JSON lines)");
  }
  Result<TraceHeader> header = ParseTraceHeader(line);
  if (!header) return At(path, 1, header.error());
  Result<std::unique_ptr<Replayer>> replayer = Replayer::Create(*header, engine, further_plugins);
  if (!replayer) return At(path, 1, replayer.error());

  ReplayTotals totals;
  for (uint64_t number = 2; std::getline(file, line); ++number) {
    Result<TraceOperation> operation = ParseTraceOperation(line);
    if (!operation) return At(path, number, operation.error());
    Result<TraceOutcome> outcome = (*replayer)->Apply(*operation);
    if (!outcome) return At(path, number, outcome.error());
    ++totals.operations;
    if (!operation->want) continue;
    for (const std::string& difference : Differences(operation->op, *operation->want, *outcome)) {
      ++totals.mismatches;
      report(path + ":" + std::to_string(number) + ": " + std::string(TraceOpName(operation->op)) +
             ": " + difference);
    }
  }
  return totals;
}

}  // namespace schedq
