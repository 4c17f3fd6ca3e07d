#include "bench/format/trace/replay_file.h"

#include <memory>

#include "bench/format/trace/expectation.h"
#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"
#include "bench/interrupt.h"
#include "perf/files/input_file.h"

namespace schedq {
namespace {

constexpr InputLimits kTraceLimits = {.bytes_max = uint64_t{4} << 30};

Error At(const std::string& path, uint64_t line, const Error& error) {
  return Error(path + ":" + std::to_string(line) + ": " + error.message());
}

}  // namespace

Result<ReplayTotals> ReplayFile(const std::string& path, EngineKind engine,
                                const std::function<void(const std::string&)>& report,
                                const std::vector<PluginSource>& further_plugins) {
  Result<InputFile> file = InputFile::Open(path, InputFrom::kFileOrStandardInput, kTraceLimits);
  if (!file) return Error(path + ": " + file.error().message());
  std::string line;
  Result<bool> has_line = file->ReadLine(&line);
  if (!has_line) return Error(path + ": " + has_line.error().message());
  if (!*has_line) return Error(path + ": is empty, expected a trace (JSON lines)");
  Result<TraceHeader> header = ParseTraceHeader(line);
  if (!header) return At(path, 1, header.error());
  Result<std::unique_ptr<Replayer>> replayer = Replayer::Create(*header, engine, further_plugins);
  if (!replayer) return At(path, 1, replayer.error());

  ReplayTotals totals;
  totals.gates_not_modelled = header->gates_not_modelled;
  bool has_end = false;
  bool wants_something = false;
  uint64_t number = 2;
  for (;; ++number) {
    has_line = file->ReadLine(&line);
    if (!has_line) return At(path, number, has_line.error());
    if (!*has_line) break;
    if (Interrupted()) return totals;
    if (has_end) return At(path, number, Error("an operation behind the end, expected nothing"));
    Result<TraceOperation> operation = ParseTraceOperation(line, header->version);
    if (!operation) return At(path, number, operation.error());
    Result<TraceOutcome> outcome = (*replayer)->Apply(*operation);
    if (!outcome) return At(path, number, outcome.error());
    ++totals.operations;
    has_end = operation->op == TraceOp::kEnd;
    if (!operation->want) continue;
    wants_something = true;
    for (const std::string& difference : Differences(operation->op, *operation->want, *outcome)) {
      ++totals.mismatches;
      report(path + ":" + std::to_string(number) + ": " + std::string(TraceOpName(operation->op)) +
             ": " + difference);
    }
  }
  // A recording that was cut would otherwise pass with what is left of it.
  if (!has_end) return At(path, number, Error("the trace ends here, expected the operation end"));
  if (!wants_something) return Error(path + ": wants nothing, expected a want at an operation");
  return totals;
}

}  // namespace schedq
